//! The steps that gates decide about, their decisions, and the state that they use.

use std::{future::Future, pin::Pin, sync::Arc};

use unterm_mux::{Composed, Mux, Pane};

use super::demand::Demand;
use crate::{
    error::{Denial, Error, Result},
    services::{
        pane::{leases::Leases, openers::Openers},
        people::{approvals::Approvals, clients::Clients, tokens::Tokens},
        shell::{policy::Policy, reading::Reading, refused_lines::RefusedLines},
    },
};

/// The decision of a gate.
pub enum Decision {
    /// Continue with the next gate.
    Allow,
    /// Refuse the step. Contains the reason.
    Deny(Error),
    /// Wait for this decision. If the client gives up the call meanwhile, the future is dropped.
    Hold(Pin<Box<dyn Future<Output = Decision> + Send>>),
}

impl Decision {
    /// Denies a step with this message.
    pub fn deny(why: impl Into<String>) -> Self {
        Self::Deny(Error::Denied(Denial::Other(why.into())))
    }
}

impl From<Result<()>> for Decision {
    fn from(result: Result<()>) -> Self {
        result.map_or_else(Self::Deny, |()| Self::Allow)
    }
}

/// A step to decide about.
pub(crate) enum Step<'a> {
    /// A method is about to be called.
    Call {
        /// The subjects that the method reveals and changes.
        demand: &'a Demand,
        /// The method's parameters, as JSON.
        params: &'a str,
    },
    /// A question to the user is about to be answered.
    Answer,
    /// The question of a pane's program is about to be answered in the user's place.
    AnswerDialog {
        /// The pane.
        pane: &'a Pane,
        /// The id of this instance.
        instance: &'a str,
    },
    /// A pane is about to be resized, moved or closed. A lease reserves that for its holder.
    Touch(&'a Pane),
    /// A caller without a lease on a pane is about to take one.
    Keep(&'a Pane),
    /// Input is about to be typed in a pane.
    Type(&'a Pane, Input<'a>),
    /// The input has been combined with the text already in the pane's line. The pane's input queue is locked during
    /// this decision.
    Compose {
        /// The pane.
        pane: &'a Pane,
        /// The number of keys that the user had pressed in the pane when the input was first checked.
        touches: u64,
        /// The program that reads the input, if rules apply to it.
        reading: Option<&'a Reading>,
        /// The lines that the input enters, and the unfinished line that it leaves.
        composed: &'a Composed,
    },
}

/// Input to be typed.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// Raw bytes.
    Bytes {
        /// The bytes.
        bytes: &'a [u8],
        /// Whether the caller has looked at the screen, and states that the program does not ask for a secret.
        has_looked: bool,
    },
    /// A command, typed after the text already in the pane's line and followed by Enter.
    Command(&'a str),
    /// An assignment that the pane's shell evaluates at its next prompt. Nothing is typed, but shells run some values
    /// as commands.
    Variable(&'a str),
}

/// The services that the gates use.
pub(crate) struct Authority {
    pub(crate) mux: Arc<Mux>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) clients: Arc<Clients>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) openers: Arc<Openers>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) refused_lines: Arc<RefusedLines>,
}
