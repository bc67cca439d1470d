//! The proof that a call was approved.

/// Proof that a call may be made. Only [`Approvals::approve`](super::approvals::Approvals::approve) creates it.
#[derive(Clone, Copy, Debug)]
pub struct Approved(());

impl Approved {
    /// The proof for a call that [`Approvals`](super::approvals::Approvals) allow.
    pub(super) fn by_approvals() -> Self {
        Self(())
    }
}
