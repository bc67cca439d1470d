//! Who may do what: the one place that allows, denies or holds.
//!
//! A call passes [`GATES`] in order. Each gate is a file of this folder. The dispatcher walks the list before a method runs
//! ([`Step::Call`]); a method walks it again before it changes a pane ([`Step::Touch`]) or types there ([`Step::Type`],
//! [`Step::Compose`]). A gate looks at what the method reveals and changes ([`Demand`]), at the capabilities that the caller got
//! when it logged in ([`Capabilities`](crate::caller::Capabilities)), and at the state that its service keeps. No gate knows the
//! wire or the name of a method. A step that does not concern a gate passes it without a lock or an allocation.
//!
//! `matrix.txt` in this folder lists what comes of it: every method and every tool × every kind of caller.

mod approval;
pub(crate) mod audit;
mod demand;
mod lease;
mod line;
#[cfg(test)]
mod matrix;
pub(crate) mod parameters;
mod pause;
mod person;
mod scope;
mod secret;
mod step;
mod subjects;

use unterm_mux::Pane;

pub use self::{
    demand::{Demand, Reach},
    step::Decision,
    subjects::Subjects,
};
pub(crate) use self::{
    line::MOST_JUDGED,
    scope::{check_elsewhere, check_scope},
    step::{Authority, Input, Step},
};
use crate::{caller::Caller, error::Result};

/// A gate: it decides on every step.
type Gate = fn(&Authority, &Caller, &Step<'_>) -> Decision;

/// Every gate, in the order in which they decide. What is done is entered in the log by [`audit`], whatever they said.
const GATES: [(&str, Gate); 7] = [
    ("scope", scope::decide),
    ("approval", approval::decide),
    ("pause", pause::decide),
    ("lease", lease::decide),
    ("person", person::decide),
    ("secret", secret::decide),
    ("line", line::decide),
];

impl Authority {
    /// Whether a method may be called. Waits while a gate holds the call.
    pub async fn admit(&self, caller: &Caller, demand: &Demand, params: &str) -> Result<()> {
        let step = Step::Call { demand, params };
        for (name, decide) in GATES {
            match decide(self, caller, &step) {
                Decision::Allow => {}
                other => settle(name, other).await?,
            }
        }
        Ok(())
    }

    /// Whether a step that can't wait may be taken.
    pub fn decide(&self, caller: &Caller, step: &Step<'_>) -> Result<()> {
        for (name, decide) in GATES {
            match decide(self, caller, step) {
                Decision::Allow => {}
                Decision::Deny(why) => return Err(why),
                Decision::Hold(_) => unreachable!("{name} holds what is no call"),
            }
        }
        Ok(())
    }

    /// Whether a caller may do to a pane what its lease keeps to its holder.
    pub fn touch(&self, caller: &Caller, pane: &Pane) -> Result<()> {
        self.decide(caller, &Step::Touch(pane))
    }

    /// Whether a caller may run a command in a pane, behind what stands in its line.
    pub fn command(&self, caller: &Caller, pane: &Pane, command: &str) -> Result<()> {
        self.decide(caller, &Step::Type(pane, Input::Command(command)))
    }

    /// Whether a caller may have a pane's shell set a variable, by this line.
    pub fn variable(&self, caller: &Caller, pane: &Pane, line: &str) -> Result<()> {
        self.decide(caller, &Step::Type(pane, Input::Variable(line)))
    }

    /// Whether input is short enough for the rules ([`MOST_JUDGED`]).
    pub fn length(&self, length: usize) -> Result<()> {
        line::check_length(&self.policy, length)
    }

    /// Whether a caller's token is still worth something: what goes on for it ends with it.
    pub fn check_token(&self, caller: &Caller) -> Result<()> {
        scope::check_token(&self.tokens, caller)
    }
}

/// What a gate's decision comes to, once it holds the call no more.
pub(crate) async fn settle(gate: &str, mut decision: Decision) -> Result<()> {
    loop {
        match decision {
            Decision::Allow => return Ok(()),
            Decision::Deny(why) => {
                tracing::debug!(gate, "denied");
                return Err(why);
            }
            Decision::Hold(until) => decision = until.await,
        }
    }
}
