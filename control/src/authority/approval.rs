//! Approval: a caller that asks first changes nothing before the person lets it. The gate decides by what they answered; how
//! they are asked is a matter of the wire, whose answer comes back as an [`Approved`](crate::services::approved::Approved).

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
        // A call that comes by another instance can't be asked about here; what the person said of its client holds.
        || approvals.is_let_in(caller);
    match is_allowed {
        true => Decision::Allow,
        false => Decision::Deny(Error::Denied(Denial::Approval(demand.name.to_owned()))),
    }
}
