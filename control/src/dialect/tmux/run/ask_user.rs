//! Asks the user to approve a client's commands.

use std::time::Duration;

use super::{CommandResult, Failure, Run};
use crate::{
    caller::{Caller, Capabilities},
    dialect::tmux::server::Server,
    services::people::approvals::Standing,
};

/// How long a command waits for the user's approval.
const PATIENCE: Duration = Duration::from_secs(600);

impl Run<'_> {
    /// Asks the user whether the client's commands may change panes that the client's program did not open.
    pub(super) async fn ask_user(&mut self) -> CommandResult {
        let context = self.server.dispatcher.context();
        let asking = Caller {
            capabilities: self.caller.capabilities | Capabilities::ASKS_FIRST,
            ..self.caller.clone()
        };
        let call = self.text.clone();
        let would = format!("tmux {call}");
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            match context.people.approvals.approve(&asking, &call) {
                Ok(approved) => {
                    self.caller.approved = Some(approved);
                    return Ok(());
                }
                Err(Standing::Denied) => {
                    return Err("not allowed: the user does not let this program change panes that it did not open".into());
                }
                Err(Standing::Unknown | Standing::Allowed) => {}
            }
            let asked = context.people.approvals.ask(
                &context.people.questions,
                &asking,
                &call,
                &would,
                None,
            );
            let (number, mut answer, is_new) = asked?;
            if is_new {
                context.questions_changed();
            }
            let withdrawn = Withdrawn { run: self.server, number };
            tokio::select! {
                biased;
                _ = answer.wait_for(Option::is_some) => {}
                () = tokio::time::sleep_until(deadline) => {
                    return Err("not allowed: the user has not answered".into());
                }
                () = self.conversation.gone() => return Err(Failure::Disconnected),
            }
            drop(withdrawn);
        }
    }
}

/// A question that a client waits for. Dropping it withdraws the question, if it has not been answered.
struct Withdrawn<'a> {
    run: &'a Server,
    number: u64,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        let context = self.run.dispatcher.context();
        if context.people.questions.withdraw(self.number) {
            context.questions_changed();
        }
    }
}
