//! Programs' questions and the inbox: only the user answers there, in the window, on the settings page or at the command
//! line. An agent could otherwise answer its own question, or hide it from the user.
//!
//! A process in a pane does not answer a question of that pane, or hide it, if it connects by the instance's socket: then
//! the system reports the process. Over TCP and HTTP, the process is unknown. The gate prevents mistakes and is no sandbox:
//! who has the instance's token can also type in the pane.

use super::{
    step::{Authority, Decision, Step},
    subjects::Subjects,
};
use crate::{
    caller::{Caller, Capabilities},
    registry::is_live,
    services::pane::dialogs,
};

pub fn decide(_: &Authority, caller: &Caller, step: &Step<'_>) -> Decision {
    match step {
        Step::Call { demand, .. }
            if demand.changes.intersects(Subjects::DIALOGS)
                && caller.has(Capabilities::GIVES_WAY) =>
        {
            Decision::deny("only the user answers the questions of programs and clears the inbox")
        }
        Step::AnswerDialog { pane, instance } => {
            // A process that has ended cannot be assigned to a pane. Another one has its connection now.
            let has_ended = |pid: i32| !is_live(pid.unsigned_abs(), None);
            let is_refused = |pid| has_ended(pid) || dialogs::is_process_of(pid, pane, instance);
            match caller.process.is_some_and(is_refused) {
                true => Decision::deny("a program does not answer a question of its own pane"),
                false => Decision::Allow,
            }
        }
        _ => Decision::Allow,
    }
}
