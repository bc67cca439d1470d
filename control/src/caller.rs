//! Who calls, and what a caller may do.
//!
//! Every call of a method carries a [`Caller`], whatever the wire, so that scopes, audit and approvals are decided in one
//! place (`dispatch`). Never decides anything itself.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use crate::services::events::Subscription;

/// What a method needs of its caller, and what a token gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Looks and changes nothing.
    Read,
    /// Changes a pane, or what runs in it.
    Act,
    /// Changes this instance, or reads its secrets.
    Admin,
}

bitflags::bitflags! {
    /// The accesses a token gives.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Scopes: u8 {
        /// [`Access::Read`].
        const READ = 1 << 0;
        /// [`Access::Act`].
        const ACT = 1 << 1;
        /// [`Access::Admin`].
        const ADMIN = 1 << 2;
    }
}

impl Scopes {
    /// Whether they hold what a method needs.
    pub fn allow(self, access: Access) -> bool {
        self.contains(match access {
            Access::Read => Self::READ,
            Access::Act => Self::ACT,
            Access::Admin => Self::ADMIN,
        })
    }
}

/// The wire a call came in on. Later issues add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Line-delimited JSON-RPC on the loopback port.
    Tcp,
    /// HTTP, of the settings page and of scripts.
    Http,
    /// The Model Context Protocol, over either of the others.
    Mcp,
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Http => "http",
            Self::Mcp => "mcp",
        })
    }
}

/// The kind of token a caller logged in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// The instance's own, from its entry in the registry: full rights.
    Instance,
    /// A settings page's, that it was given for a single-use code: full rights, and those of the person.
    Page,
    /// One of this number that a person made for an agent: what it says, until it ends or is taken back.
    Agent(u64),
}

/// Characters of a name that a client gives itself, or its conversation: it is kept with all that the client does.
pub(crate) const LONGEST_NAME: usize = 100;

/// Who calls.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The wire.
    pub wire: Wire,
    /// Number of the connection, counted over all wires of the process.
    pub connection: u64,
    /// What it logged in with.
    pub token: TokenKind,
    /// The client's name for itself, if it gave one.
    pub client: Option<String>,
    /// The client's name for the conversation it acts for, if it gave one.
    pub conversation: Option<String>,
    /// What it may do.
    pub scopes: Scopes,
    /// The sessions it reaches; `None`: all.
    pub panes: Option<Arc<[u64]>>,
    /// The person has let this call act, where they are asked.
    pub is_approved: bool,
    /// Where a method leaves a subscription for the caller's wire to serve.
    pub(crate) subscription: SubscriptionSlot,
    /// Whether this call is being taken back.
    pub(crate) cancel: Cancel,
}

/// Whether whoever made a call takes it back, and wants what it began to end with it. Set before the call is dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Takes the call back.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Caller {
    /// Whether an agent calls: over the protocol for such, or by a token that a person made for one. Agents give way to the
    /// person's keys, answer no question for a secret, and run commands at a prompt alone. Scripts that have the instance's
    /// own token do as they are documented to.
    pub fn is_agent(&self) -> bool {
        self.wire == Wire::Mcp || matches!(self.token, TokenKind::Agent(_))
    }

    /// Whether a session is one that its token reaches.
    pub fn reaches(&self, session: u64) -> bool {
        self.panes.as_ref().is_none_or(|panes| panes.contains(&session))
    }

    /// The same caller, whose subscription is nobody else's.
    pub(crate) fn listener(&self) -> Self {
        Self { subscription: SubscriptionSlot::default(), ..self.clone() }
    }
}

/// A subscription, or that there is to be none, on its way from a method to the wire of its caller.
#[derive(Clone, Default)]
pub(crate) struct SubscriptionSlot(Arc<Mutex<Option<Option<Subscription>>>>);

impl SubscriptionSlot {
    /// Leaves one, or none, in the place of any there was.
    pub(crate) fn put(&self, subscription: Option<Subscription>) {
        *self.0.lock() = Some(subscription);
    }

    /// Takes what was left, if anything was.
    pub(crate) fn take(&self) -> Option<Option<Subscription>> {
        self.0.lock().take()
    }
}

impl fmt::Debug for SubscriptionSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubscriptionSlot")
    }
}
