//! Who calls, and what a caller may do.
//!
//! Every call of a method carries a [`Caller`], whatever the wire, so that one place decides on all of them
//! ([`authority`](crate::authority)). Never decides anything itself.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use crate::services::{approved::Approved, events::Subscription};

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

/// The wire a call came in on, for logs and for who is named as the driver of a pane. Nothing is decided by it.
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

bitflags::bitflags! {
    /// What a caller may do and has to do beside the scopes of its token, as it was given at login. Gates and methods go by
    /// these and never by the wire.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Capabilities: u8 {
        /// The person is asked before it changes something. Without this, its token is the person's answer.
        const ASKS_FIRST = 1 << 0;
        /// It gives way to the person's keys, answers no question for a secret, and runs commands at a prompt alone.
        const GIVES_WAY = 1 << 1;
        /// Its calls that change something wait while the person has paused agents.
        const WAITS = 1 << 2;
        /// It decides for the person: it may be given what gives access by itself, and may pause agents and let them go on.
        const GRANTS = 1 << 3;
        /// It is the person's own hand: what it answers, the person has answered.
        const IS_PERSON = 1 << 4;
    }
}

impl Capabilities {
    /// Those of a login. `for_agent`: it came over the protocol for agents, or says that it calls for one.
    pub fn at_login(token: TokenKind, for_agent: bool) -> Self {
        let of_token = match token {
            TokenKind::Instance => Self::WAITS | Self::GRANTS,
            TokenKind::Page => Self::GRANTS | Self::IS_PERSON,
            TokenKind::Agent(_) => Self::WAITS | Self::GIVES_WAY,
        };
        let of_agent = match (for_agent, token) {
            (false, _) => Self::empty(),
            // A token that was made for an agent is an answer already.
            (true, TokenKind::Agent(_)) => Self::GIVES_WAY,
            (true, TokenKind::Page) => Self::GIVES_WAY,
            (true, TokenKind::Instance) => Self::GIVES_WAY | Self::ASKS_FIRST,
        };
        of_token | of_agent
    }
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
    /// What else it may do, and has to.
    pub capabilities: Capabilities,
    /// That the person has let this call act, where they are asked.
    pub(crate) approved: Option<Approved>,
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
    /// Whether it has a capability.
    pub fn has(&self, capability: Capabilities) -> bool {
        self.capabilities.contains(capability)
    }

    /// The user who runs Unterm, at the command line.
    pub fn of_user(client: Option<&str>) -> Self {
        let token = TokenKind::Instance;
        Self {
            wire: Wire::Tcp,
            connection: 0,
            token,
            client: client.map(str::to_owned),
            conversation: None,
            scopes: Scopes::all(),
            panes: None,
            capabilities: Capabilities::at_login(token, false),
            approved: None,
            subscription: SubscriptionSlot::default(),
            cancel: Cancel::default(),
        }
    }

    /// The same caller over the protocol for agents.
    pub(crate) fn for_agent(self) -> Self {
        let capabilities = Capabilities::at_login(self.token, true);
        Self { wire: Wire::Mcp, capabilities, ..self }
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
