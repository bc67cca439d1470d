//! Leases. While a caller holds a lease on a pane, no other caller may type there, or resize, move or close the pane.

use super::step::{Authority, Decision, Step};
use crate::{caller::Caller, error::Error, services::pane::leases::LeaseRefusal};

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    let (Step::Touch(pane) | Step::Type(pane, _)) = step else { return Decision::Allow };
    let id = pane.id().0;
    match authority.leases.admit(caller, pane) {
        Ok(()) => Decision::Allow,
        Err(LeaseRefusal::Leased(holder)) => Decision::Deny(Error::Leased { id, holder }),
        Err(LeaseRefusal::TakenOver) => Decision::Deny(Error::TakenOver(id)),
    }
}
