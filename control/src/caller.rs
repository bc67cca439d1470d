//! Who makes a call, and what the caller may do.
//!
//! Every call of a method carries a [`Caller`], on every wire, so that one module decides about all calls: the
//! [`authority`](crate::authority). This module decides nothing.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::services::{approved::Approved, events::Subscription};

/// The access that a method needs, or that a token gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Read, and change nothing.
    Read,
    /// Change a pane, or what runs in it.
    Act,
    /// Change this instance, or read its secrets.
    Admin,
}

bitflags::bitflags! {
    /// The kinds of access that a token gives.
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
    /// Whether the scopes include what a method needs.
    pub fn allow(self, access: Access) -> bool {
        self.contains(match access {
            Access::Read => Self::READ,
            Access::Act => Self::ACT,
            Access::Admin => Self::ADMIN,
        })
    }
}

/// The wire of a call, for logs and for the name of a pane's driver. No decision depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Line-delimited JSON-RPC on the loopback port.
    Tcp,
    /// HTTP, of the settings page and of scripts.
    Http,
    /// The Model Context Protocol, over one of the other wires.
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

/// The kind of token that a caller logged in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// The instance's own token, from its entry in the registry. Gives full rights.
    Instance,
    /// The token of a settings page, which the page got for a login code. Gives full rights, including those of the
    /// user.
    Page,
    /// The token with this number, which a user created for an agent. Gives the rights that the user chose, until it
    /// expires or is revoked.
    Agent(u64),
}

bitflags::bitflags! {
    /// What a caller may and must do besides the scopes of its token, fixed at login. Gates and methods check these
    /// flags and never the wire.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Capabilities: u8 {
        /// The user must approve the caller before it changes anything. A token created for the agent counts as
        /// approval.
        const ASKS_FIRST = 1 << 0;
        /// The caller does not type while the user types, never answers a request for a secret, and runs commands
        /// only at a prompt.
        const GIVES_WAY = 1 << 1;
        /// Calls that change something wait while the user has paused agents.
        const WAITS = 1 << 2;
        /// The caller may receive what grants access by itself, such as tokens, and may pause and resume agents.
        const GRANTS = 1 << 3;
        /// The caller is the user: its answers count as the user's.
        const IS_PERSON = 1 << 4;
    }
}

impl Capabilities {
    /// The capabilities of a login. `for_agent`: the client uses the Model Context Protocol, or says that it acts for
    /// an agent.
    pub fn at_login(token: TokenKind, for_agent: bool) -> Self {
        let of_token = match token {
            TokenKind::Instance => Self::WAITS | Self::GRANTS,
            TokenKind::Page => Self::GRANTS | Self::IS_PERSON,
            TokenKind::Agent(_) => Self::WAITS | Self::GIVES_WAY,
        };
        let of_agent = match (for_agent, token) {
            (false, _) => Self::empty(),
            // The user approved this agent by creating its token.
            (true, TokenKind::Agent(_)) => Self::GIVES_WAY,
            (true, TokenKind::Page) => Self::GIVES_WAY,
            (true, TokenKind::Instance) => Self::GIVES_WAY | Self::ASKS_FIRST,
        };
        of_token | of_agent
    }
}

/// The most characters of a client's or a conversation's name. The name is stored with everything that the client does.
pub(crate) const LONGEST_NAME: usize = 100;

/// The caller of a method.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The wire of the call.
    pub wire: Wire,
    /// The number of the connection, unique across all wires of the process.
    pub connection: u64,
    /// The kind of token that the caller logged in with.
    pub token: TokenKind,
    /// The client's name for itself, if it sent one.
    pub client: Option<String>,
    /// The client's name for the conversation that it acts for, if it sent one.
    pub conversation: Option<String>,
    /// What the caller's token permits.
    pub scopes: Scopes,
    /// The sessions that the token reaches. `None` means all.
    pub panes: Option<Arc<[u64]>>,
    /// What the caller may and must do besides its scopes.
    pub capabilities: Capabilities,
    /// Proof that this call was approved, if it needs approval.
    pub(crate) approved: Option<Approved>,
    /// A method stores a subscription here, and the caller's wire serves it.
    pub(crate) subscription: SubscriptionSlot,
    /// What this call and its client report to each other.
    pub(crate) signals: Signals,
}

/// What a call and its client report to each other while the call lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals(Arc<SignalState>);

#[derive(Debug, Default)]
struct SignalState {
    is_canceled: AtomicBool,
    has_typed: watch::Sender<bool>,
    is_left_running: watch::Sender<bool>,
    /// The call may last after its client received news of it.
    is_job: AtomicBool,
    has_new_shell: watch::Sender<bool>,
}

impl Signals {
    /// Marks the call as canceled: the client wants everything that the call started to end. Set before the call is dropped.
    pub(crate) fn cancel(&self) {
        self.0.is_canceled.store(true, Ordering::Relaxed);
    }

    /// Whether the call is canceled.
    pub(crate) fn is_canceled(&self) -> bool {
        self.0.is_canceled.load(Ordering::Relaxed)
    }

    /// Reports that the call has typed its command, so that it is no longer refused.
    pub(crate) fn report_typed(&self) {
        self.0.has_typed.send_replace(true);
    }

    /// Signals of a call that may last after its client received news of it.
    pub(crate) fn of_job() -> Self {
        let signals = Self::default();
        signals.0.is_job.store(true, Ordering::Relaxed);
        signals
    }

    /// Reports that the call's command started a new shell, which is at its prompt. Returns whether the call lasts
    /// nevertheless.
    pub(crate) fn report_new_shell(&self) -> bool {
        let is_job = self.0.is_job.load(Ordering::Relaxed);
        self.0.has_new_shell.send_replace(is_job);
        is_job
    }

    /// Waits until there is a new shell that the client does not know. Cancel-safe.
    pub(crate) async fn new_shell(&self) {
        // This holds the sender, so the wait can't fail.
        let _ = self.0.has_new_shell.subscribe().wait_for(|has_new| *has_new).await;
    }

    /// Whether there is a new shell that the client did not know until now.
    pub(crate) fn take_new_shell(&self) -> bool {
        self.0.has_new_shell.send_replace(false)
    }

    /// Reports that the client knows that the call's command still runs, and does not wait for its end now.
    pub(crate) fn report_left_running(&self) {
        self.0.is_left_running.send_replace(true);
    }

    /// Waits until the client leaves the call's command running. Cancel-safe.
    pub(crate) async fn left_running(&self) {
        // This holds the sender, so the wait can't fail.
        let _ = self.0.is_left_running.subscribe().wait_for(|is_left| *is_left).await;
    }

    /// Whether the call has typed its command.
    pub(crate) fn has_typed(&self) -> bool {
        *self.0.has_typed.borrow()
    }

    /// Waits until the call has typed its command. Cancel-safe.
    pub(crate) async fn typed(&self) {
        // This holds the sender, so the wait can't fail.
        let _ = self.0.has_typed.subscribe().wait_for(|has_typed| *has_typed).await;
    }
}

impl Caller {
    /// Whether the caller has a capability.
    pub fn has(&self, capability: Capabilities) -> bool {
        self.capabilities.contains(capability)
    }

    /// The user who runs Unterm from the command line.
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
            signals: Signals::default(),
        }
    }

    /// The same caller, over the Model Context Protocol.
    pub(crate) fn for_agent(self) -> Self {
        let capabilities = Capabilities::at_login(self.token, true);
        Self { wire: Wire::Mcp, capabilities, ..self }
    }

    /// Whether the caller's token reaches a session.
    pub fn reaches(&self, session: u64) -> bool {
        self.panes.as_ref().is_none_or(|panes| panes.contains(&session))
    }

    /// The same caller with a subscription slot of its own.
    pub(crate) fn listener(&self) -> Self {
        Self { subscription: SubscriptionSlot::default(), ..self.clone() }
    }
}

/// Carries a new subscription, or the end of one, from a method to the wire of its caller.
#[derive(Clone, Default)]
pub(crate) struct SubscriptionSlot(Arc<Mutex<Option<Option<Subscription>>>>);

impl SubscriptionSlot {
    /// Stores a new subscription, or `None` to end the current one. Replaces what was stored before.
    pub(crate) fn put(&self, subscription: Option<Subscription>) {
        *self.0.lock() = Some(subscription);
    }

    /// Takes what a method has stored, if anything.
    pub(crate) fn take(&self) -> Option<Option<Subscription>> {
        self.0.lock().take()
    }
}

impl fmt::Debug for SubscriptionSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubscriptionSlot")
    }
}
