//! The callers of methods, and what each caller may do.
//!
//! Every method call has a [`Caller`], on every wire. So one module can decide about all calls: the
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

use crate::services::{pane::events::Subscription, people::approved::Approved};

/// The access that a method needs, or that a token gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Read without changing anything.
    Read,
    /// Change a pane, or what runs in it.
    Act,
    /// Change this instance, or read its secrets.
    Admin,
}

bitflags::bitflags! {
    /// The kinds of access that a token includes.
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
    /// Whether the scopes include the access that a method needs.
    pub fn allow(self, access: Access) -> bool {
        self.contains(match access {
            Access::Read => Self::READ,
            Access::Act => Self::ACT,
            Access::Admin => Self::ADMIN,
        })
    }
}

/// The wire of a call. It is used for logs and for the name of a pane's driver. No decision depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Line-delimited JSON-RPC on the loopback port.
    Tcp,
    /// HTTP. The settings page and scripts use it.
    Http,
    /// The Model Context Protocol, inside one of the other wires.
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
    /// The instance's own token, from its entry in the registry. It gives full rights.
    Instance,
    /// The token of a settings page, which the page received for a login code. It gives full rights, including the
    /// rights of the user.
    Page,
    /// The token with this number, which the user created for an agent. It gives the rights that the user chose, until
    /// it expires or is revoked.
    Agent(u64),
}

bitflags::bitflags! {
    /// The permissions and duties of a caller, in addition to the scopes of its token. Set at login. Gates and methods
    /// check these flags and never the wire.
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
        /// The caller may receive data that grants access by itself, such as tokens, and may pause and resume agents.
        const GRANTS = 1 << 3;
        /// The caller is the user: its answers count as the user's.
        const IS_USER = 1 << 4;
    }
}

impl Capabilities {
    /// The capabilities of a login. `for_agent`: whether the client uses the Model Context Protocol, or reports that it
    /// acts for an agent.
    pub fn at_login(token: TokenKind, for_agent: bool) -> Self {
        let of_token = match token {
            TokenKind::Instance => Self::WAITS | Self::GRANTS,
            TokenKind::Page => Self::GRANTS | Self::IS_USER,
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

/// The program that opens panes over the tmux dialect. It may change its own pane and the panes that it opened. For
/// other panes, it needs the user's approval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Opener {
    /// The programs in the pane with this number.
    Pane(u64),
    /// The programs outside of panes that name this tmux server.
    Outside(String),
}

/// The maximum number of characters of the name of a client or a conversation. It is limited because the name is stored
/// with everything that the client does.
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
    /// The name that the client reports, if any.
    pub client: Option<String>,
    /// The client's name for the conversation that it acts for, if it sent one.
    pub conversation: Option<String>,
    /// The access that the caller's token includes.
    pub scopes: Scopes,
    /// The sessions that the token reaches. `None` stands for all.
    pub panes: Option<Arc<[u64]>>,
    /// The permissions and duties of the caller, in addition to its scopes.
    pub capabilities: Capabilities,
    /// The program on whose behalf the caller speaks, if that limits the panes that the caller may change.
    pub opener: Option<Opener>,
    /// The process at the client's end of a Unix socket. `None` for other connections.
    pub process: Option<i32>,
    /// The proof that this call was approved. `None` if no approval was needed or given.
    pub(crate) approved: Option<Approved>,
    /// The place where a method stores a new subscription, which the caller's wire then serves.
    pub(crate) subscription: SubscriptionSlot,
    /// The signals between this call and its client.
    pub(crate) signals: Signals,
}

/// The signals between a call and its client while the call is in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals(Arc<SignalState>);

#[derive(Debug, Default)]
struct SignalState {
    is_canceled: AtomicBool,
    has_typed: watch::Sender<bool>,
    is_left_running: watch::Sender<bool>,
    /// Whether the call may continue after its client received an interim reply about it.
    is_job: AtomicBool,
    has_new_shell: watch::Sender<bool>,
}

impl Signals {
    /// Marks the call as canceled: the client wants that everything that the call started ends. This must be called
    /// before the call is dropped.
    pub(crate) fn cancel(&self) {
        self.0.is_canceled.store(true, Ordering::Relaxed);
    }

    /// Whether the call is canceled.
    pub(crate) fn is_canceled(&self) -> bool {
        self.0.is_canceled.load(Ordering::Relaxed)
    }

    /// Reports that the call has typed its command. From then on, the call can't be refused any longer.
    pub(crate) fn report_typed(&self) {
        self.0.has_typed.send_replace(true);
    }

    /// Creates the signals of a call that may continue after its client received an interim reply about it.
    pub(crate) fn of_job() -> Self {
        let signals = Self::default();
        signals.0.is_job.store(true, Ordering::Relaxed);
        signals
    }

    /// Reports that the call's command started a new shell, which is at its prompt. Returns whether the call continues
    /// nevertheless.
    pub(crate) fn report_new_shell(&self) -> bool {
        let is_job = self.0.is_job.load(Ordering::Relaxed);
        self.0.has_new_shell.send_replace(is_job);
        is_job
    }

    /// Waits until there is a new shell that the client has not been notified of. Cancel-safe.
    pub(crate) async fn new_shell(&self) {
        // The wait can't fail, because `self` holds the sender.
        let _ = self.0.has_new_shell.subscribe().wait_for(|has_new| *has_new).await;
    }

    /// Whether there is a new shell that the client has not been notified of. From now on, it counts as notified.
    pub(crate) fn take_new_shell(&self) -> bool {
        self.0.has_new_shell.send_replace(false)
    }

    /// Reports that the client was informed that the call's command is still running, and no longer waits for its end.
    pub(crate) fn report_left_running(&self) {
        self.0.is_left_running.send_replace(true);
    }

    /// Waits until the client no longer waits for the end of the call's command. Cancel-safe.
    pub(crate) async fn left_running(&self) {
        // The wait can't fail, because `self` holds the sender.
        let _ = self.0.is_left_running.subscribe().wait_for(|is_left| *is_left).await;
    }

    /// Whether the call has typed its command.
    pub(crate) fn has_typed(&self) -> bool {
        *self.0.has_typed.borrow()
    }

    /// Waits until the call has typed its command. Cancel-safe.
    pub(crate) async fn typed(&self) {
        // The wait can't fail, because `self` holds the sender.
        let _ = self.0.has_typed.subscribe().wait_for(|has_typed| *has_typed).await;
    }
}

impl Caller {
    /// Whether the caller has a capability.
    pub fn has(&self, capability: Capabilities) -> bool {
        self.capabilities.contains(capability)
    }

    /// The caller that stands for the user at the command line.
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
            opener: None,
            process: None,
            approved: None,
            subscription: SubscriptionSlot::default(),
            signals: Signals::default(),
        }
    }

    /// This caller as a caller over the Model Context Protocol.
    pub(crate) fn for_agent(self) -> Self {
        let capabilities = Capabilities::at_login(self.token, true);
        Self { wire: Wire::Mcp, capabilities, ..self }
    }

    /// Whether the caller's token reaches a session.
    pub fn reaches(&self, session: u64) -> bool {
        self.panes.as_ref().is_none_or(|panes| panes.contains(&session))
    }

    /// A copy of this caller with its own subscription slot.
    pub(crate) fn listener(&self) -> Self {
        Self { subscription: SubscriptionSlot::default(), ..self.clone() }
    }
}

/// Passes a new subscription, or the end of one, from a method to the wire of the method's caller.
#[derive(Clone, Default)]
pub(crate) struct SubscriptionSlot(Arc<Mutex<Option<Option<Subscription>>>>);

impl SubscriptionSlot {
    /// Stores a new subscription. `None` ends the current one. Replaces the value that was stored before.
    pub(crate) fn put(&self, subscription: Option<Subscription>) {
        *self.0.lock() = Some(subscription);
    }

    /// Removes and returns the stored value, if any.
    pub(crate) fn take(&self) -> Option<Option<Subscription>> {
        self.0.lock().take()
    }
}

impl fmt::Debug for SubscriptionSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubscriptionSlot")
    }
}
