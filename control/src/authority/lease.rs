//! Leases: while a caller keeps a pane's input for itself, nobody else types there, or resizes, moves or closes it.

use super::step::{Authority, Decision, Step};
use crate::{caller::Caller, error::Error, services::leases::Kept};

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    let (Step::Touch(pane) | Step::Type(pane, _)) = step else { return Decision::Allow };
    let id = pane.id().0;
    match authority.leases.admit(caller, pane) {
        Ok(()) => Decision::Allow,
        Err(Kept::Leased(holder)) => Decision::Deny(Error::Leased { id, holder }),
        Err(Kept::TakenOver) => Decision::Deny(Error::TakenOver(id)),
    }
}
