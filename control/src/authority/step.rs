//! What the gates decide on, what they say, and what they decide by.

use std::{future::Future, pin::Pin, sync::Arc};

use unterm_mux::{Composed, Mux, Pane};

use super::demand::Demand;
use crate::{
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

/// What the gates decide by.
pub(crate) struct Authority {
    pub(crate) mux: Arc<Mux>,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) clients: Arc<Clients>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) policy: Arc<Policy>,
}
