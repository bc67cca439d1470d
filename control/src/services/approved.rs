//! The proof that a call was approved.

/// Proof that a call may be made. Only [`Approvals::approve`](super::approvals::Approvals::approve) creates it.
#[derive(Clone, Copy, Debug)]
pub struct Approved(());

impl Approved {
    /// For a call that the approvals allow.
    pub(super) fn by_approvals() -> Self {
        Self(())
    }
}
