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
mod subjects;

use std::{future::Future, pin::Pin, sync::Arc};

use unterm_mux::{Composed, Mux, Pane};

pub use self::{
    demand::{Demand, Reach},
    subjects::Subjects,
};
pub(crate) use self::{
    line::MOST_JUDGED,
    scope::{check_elsewhere, check_scope},
};
use crate::{
    caller::Caller,
    error::{Denial, Error, Result},
    services::{
        approvals::Approvals, clients::Clients, leases::Leases, policy::Policy, reading::Reading,
        tokens::Tokens,
    },
};

/// What a gate says.
pub enum Decision {
    /// Go on to the next gate.
    Allow,
    /// Refuse, for this reason.
    Deny(Error),
    /// Wait for this, then do as it says. A call that is given up while it is held is dropped.
    Hold(Pin<Box<dyn Future<Output = Decision> + Send>>),
}

impl Decision {
    /// Refuses in these words.
    pub fn deny(why: impl Into<String>) -> Self {
        Self::Deny(Error::Denied(Denial::Other(why.into())))
    }
}

impl From<Result<()>> for Decision {
    fn from(result: Result<()>) -> Self {
        result.map_or_else(Self::Deny, |()| Self::Allow)
    }
}

/// What is decided on.
pub(crate) enum Step<'a> {
    /// A method is about to be called.
    Call {
        /// What it reveals and changes.
        demand: &'a Demand,
        /// Its parameters, as JSON.
        params: &'a str,
    },
    /// A question that was put to the person is about to be answered.
    Answer,
    /// A pane is about to be changed in a way that a lease keeps to its holder: resized, moved, closed.
    Touch(&'a Pane),
    /// A caller that does not keep a pane's input for itself is about to.
    Keep(&'a Pane),
    /// Something is about to be typed in a pane.
    Type(&'a Pane, Input<'a>),
    /// What is typed has been put behind what stands in the pane's line. Decided while the pane's queue of input is locked.
    Compose {
        /// The pane.
        pane: &'a Pane,
        /// How often a person had pressed a key there when the input was looked at first.
        touches: u64,
        /// Who reads it, where rules bind it.
        reading: Option<&'a Reading>,
        /// The lines that the input enters, and what it leaves.
        composed: &'a Composed,
    },
}

/// What is typed.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// Bytes.
    Bytes {
        /// The bytes.
        bytes: &'a [u8],
        /// The caller says that no secret is asked for, where that is in doubt.
        has_looked: bool,
    },
    /// A command, behind what stands in the pane's line; Enter follows.
    Command(&'a str),
    /// A line by which the pane's shell sets a variable at its next prompt: nothing is typed, but shells run some values.
    Variable(&'a str),
}

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

/// What the gates decide by.
pub(crate) struct Authority {
    pub(crate) mux: Arc<Mux>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) clients: Arc<Clients>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) policy: Arc<Policy>,
}

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
