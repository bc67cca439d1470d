//! Decides which calls a caller may make. No other module allows, denies or holds calls.
//!
//! A call passes the [`GATES`] in order. Each gate is a file in this folder. The dispatcher asks the gates before a
//! method runs ([`Step::Call`]). A method asks them again before it changes a pane ([`Step::Touch`]) or types there
//! ([`Step::Type`], [`Step::Compose`]).
//!
//! A gate considers what the method reveals and changes ([`Demand`]), the capabilities that the caller got at login
//! ([`Capabilities`](crate::caller::Capabilities)), and the state of its service. No gate depends on the wire or on the
//! method's name. If a step does not concern a gate, the gate allows it without a lock or an allocation.
//!
//! `matrix.txt` in this folder lists the results for every method and every tool with every kind of caller.

mod approval;
pub(crate) mod audit;
mod demand;
mod dialog;
mod lease;
mod line;
#[cfg(test)]
mod matrix;
mod opener;
pub(crate) mod parameters;
mod pause;
mod scope;
mod secret;
mod step;
mod subjects;
mod user_typing;

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

/// A gate. It is asked about every step, and returns its decision.
type Gate = fn(&Authority, &Caller, &Step<'_>) -> Decision;

/// Every gate, in the order in which they are asked. [`audit`] logs the calls, whatever the gates decide.
const GATES: [(&str, Gate); 9] = [
    ("scope", scope::decide),
    ("dialog", dialog::decide),
    ("approval", approval::decide),
    ("opener", opener::decide),
    ("pause", pause::decide),
    ("lease", lease::decide),
    ("user typing", user_typing::decide),
    ("secret", secret::decide),
    ("line", line::decide),
];

impl Authority {
    /// Whether a method may be called. If a gate holds the call, waits for its decision.
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

    /// Whether a step is allowed, for a step that can't wait.
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

    /// Whether a caller may change a pane in a way that a lease reserves for its holder.
    pub fn touch(&self, caller: &Caller, pane: &Pane) -> Result<()> {
        self.decide(caller, &Step::Touch(pane))
    }

    /// Whether a caller may run a command in a pane, after the text already in its line.
    pub fn command(&self, caller: &Caller, pane: &Pane, command: &str) -> Result<()> {
        self.decide(caller, &Step::Type(pane, Input::Command(command)))
    }

    /// Whether a caller may let a pane's shell evaluate this line, which sets a variable.
    pub fn variable(&self, caller: &Caller, pane: &Pane, line: &str) -> Result<()> {
        self.decide(caller, &Step::Type(pane, Input::Variable(line)))
    }

    /// Whether input is short enough for the rules to be applied to it ([`MOST_JUDGED`]).
    pub fn length(&self, length: usize) -> Result<()> {
        line::check_length(&self.policy, length)
    }

    /// Whether a caller's token is still valid. If it is not, everything that runs on the caller's behalf must end.
    pub fn check_token(&self, caller: &Caller) -> Result<()> {
        scope::check_token(&self.tokens, caller)
    }
}

/// Waits until a decision is final, and returns it as a result.
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
