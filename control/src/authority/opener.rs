//! Programs that speak tmux. Such a program may change its own pane and the panes that it opened. Before it changes
//! another pane, the user must approve the call.
//!
//! The tmux dialect asks the user. The gate prevents mistakes and is no sandbox, because a program of the user can also
//! read the instance's token.

use super::{
    scope::names_only,
    step::{Authority, Decision, Step},
    subjects::Subjects,
};
use crate::{
    caller::Caller,
    error::{Denial, Error},
};

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    let (Some(opener), Step::Call { demand, params }) = (&caller.opener, step) else {
        return Decision::Allow;
    };
    let free = Subjects::OPENED.union(Subjects::LESSER);
    let is_allowed = free.contains(demand.changes)
        || caller.approved.is_some()
        || authority.approvals.lets_drive(caller)
        || names_only(demand, params, |pane| authority.openers.is_own(opener, pane));
    match is_allowed {
        true => Decision::Allow,
        false => Decision::Deny(Error::Denied(Denial::Approval(demand.name.to_owned()))),
    }
}
