//! The proof that the person has let a call be made.

/// That a call may be made. Only [`Approvals::approve`](super::approvals::Approvals::approve) gives it.
#[derive(Clone, Copy, Debug)]
pub struct Approved(());

impl Approved {
    /// For a call that the approvals let pass.
    pub(super) fn by_approvals() -> Self {
        Self(())
    }
}
