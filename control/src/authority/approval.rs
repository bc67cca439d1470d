//! Approval. A caller that must ask first can't change anything before the user approves. This gate only checks the
//! answer. Each wire asks in its own way, and stores the answer as an
//! [`Approved`](crate::services::people::approved::Approved).

use super::step::{Authority, Decision, Step};
use crate::{
    caller::{Access, Caller},
    error::{Denial, Error},
};

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    let Step::Call { demand, .. } = step else { return Decision::Allow };
    let approvals = &authority.approvals;
    let is_allowed = demand.access == Access::Read
        || caller.approved.is_some()
        || approvals.is_settled(caller)
        // If another instance forwarded the call, the user can't be asked here. So an earlier answer about the call's
        // client counts.
        || approvals.is_let_in(caller);
    match is_allowed {
        true => Decision::Allow,
        false => Decision::Deny(Error::Denied(Denial::Approval(demand.name.to_owned()))),
    }
}
