//! The parts of a hub that the calls of agents use.

use std::sync::Arc;

use super::{
    action::Executor, blocked_lines::BlockedLines, concurrency_limit::ConcurrencyLimit,
    conversations::Conversations, decisions::Decisions, emergency_stop::EmergencyStop,
    held_calls::HeldCalls, host::Host, live_views::Views, machines::Machines, notices::Notices,
    passkeys::Passkeys, sign_ins::SignIns, store::Store, tokens::Tokens, typing::Typing,
};

/// The maximum number of concurrent calls.
const MOST_CALLS: usize = 256;
/// The maximum number of concurrent calls of one token.
const MOST_CALLS_OF_TOKEN: usize = 32;

/// The parts of a hub that calls use.
pub struct Services {
    /// The hub's name.
    pub name: String,
    /// The fleet's state.
    pub store: Arc<Store>,
    /// The tokens of agents.
    pub tokens: Tokens,
    /// The machines.
    pub machines: Machines,
    /// The conversations.
    pub conversations: Conversations,
    /// The hub's own host.
    pub host: Host,
    /// Executes calls that change something.
    pub executor: Executor,
    /// Holds the calls of paused conversations.
    pub held: HeldCalls,
    /// Keeps calls with lines that the rules of a machine refuse.
    pub blocked_lines: BlockedLines,
    /// The emergency stop.
    pub stop: EmergencyStop,
    /// The sign-ins of the dashboard.
    pub sign_ins: SignIns,
    /// The passkeys for sign-ins to the dashboard.
    pub passkeys: Passkeys,
    /// Notices of changes, for the dashboard.
    pub notices: Notices,
    /// Records who types in the dashboard, for the audit log.
    pub typing: Typing,
    /// The live views of sessions in the dashboard.
    pub views: Views,
    /// Limits the number of calls that run at the same time.
    pub call_limit: ConcurrencyLimit,
}

impl Services {
    /// Creates the services of a hub with a store.
    pub fn new(
        name: String,
        store: Arc<Store>,
        machines: Machines,
        host: Host,
        views: Views,
        passkeys: Passkeys,
    ) -> Self {
        let notices = Notices::new(store.clone(), machines.clone());
        let tokens = Tokens::new(store.clone());
        let conversations = Conversations::new(store.clone());
        let executor =
            Executor { machines: machines.clone(), host: host.clone(), store: store.clone() };
        let stop = EmergencyStop::new(store.clone());
        let decisions = Decisions {
            stop: stop.clone(),
            conversations: conversations.clone(),
            tokens: tokens.clone(),
            machines: machines.clone(),
        };
        let blocked_lines = BlockedLines {
            store: store.clone(),
            decisions: decisions.clone(),
            executor: executor.clone(),
        };
        let held = HeldCalls {
            store: store.clone(),
            decisions,
            executor: executor.clone(),
            blocked_lines: blocked_lines.clone(),
            replaying: Arc::default(),
        };
        let (sign_ins, call_limit) =
            (SignIns::new(store.clone()), ConcurrencyLimit::new(MOST_CALLS, MOST_CALLS_OF_TOKEN));
        Self {
            name,
            stop,
            sign_ins,
            passkeys,
            notices,
            typing: Typing::default(),
            views,
            store,
            tokens,
            machines,
            conversations,
            host,
            executor,
            held,
            blocked_lines,
            call_limit,
        }
    }
}
