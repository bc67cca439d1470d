//! Pause. While the user has paused agents, their calls that change something wait. The pause switch itself never
//! waits.

use super::{
    step::{Authority, Decision, Step},
    subjects::Subjects,
};
use crate::caller::{Access, Caller, Capabilities};

pub fn decide(authority: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    let Step::Call { demand, .. } = step else { return Decision::Allow };
    let waits = demand.access != Access::Read
        && !demand.changes.intersects(Subjects::PAUSE)
        && caller.has(Capabilities::WAITS)
        && authority.clients.is_paused();
    if !waits {
        return Decision::Allow;
    }
    let clients = authority.clients.clone();
    Decision::Hold(Box::pin(async move {
        clients.go().await;
        Decision::Allow
    }))
}
