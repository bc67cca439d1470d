//! What the calls of agents use.

use std::sync::Arc;

use super::{
    action::Executor, blocked_lines::BlockedLines, conversations::Conversations,
    decisions::Decisions, held::Held, host::Host, machines::Machines, notices::Notices,
    passkeys::Passkeys, places::Places, sign_ins::SignIns, stop::Stop, store::Store,
    tokens::Tokens, typing::Typing, views::Views,
};

/// The most calls at a time, and the most of one token.
const MOST_CALLS: usize = 256;
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
    /// Carries out calls that change something.
    pub executor: Executor,
    /// Holds such calls.
    pub held: Held,
    /// Keeps calls whose lines the rules of a machine refuse.
    pub blocked_lines: BlockedLines,
    /// The emergency stop.
    pub stop: Stop,
    /// The sign-ins of the dashboard.
    pub sign_ins: SignIns,
    /// The passkeys that people sign in with there.
    pub passkeys: Passkeys,
    /// Notices of changes, for the dashboard.
    pub notices: Notices,
    /// Who types in the dashboard, for the log.
    pub typing: Typing,
    /// The live views of sessions in the dashboard.
    pub views: Views,
    /// Bounds the calls that run at a time.
    pub places: Places,
}

impl Services {
    /// On a store.
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
        let stop = Stop::new(store.clone());
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
        let held = Held {
            store: store.clone(),
            decisions,
            executor: executor.clone(),
            blocked_lines: blocked_lines.clone(),
            replaying: Arc::default(),
        };
        let (sign_ins, places) =
            (SignIns::new(store.clone()), Places::new(MOST_CALLS, MOST_CALLS_OF_TOKEN));
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
            places,
        }
    }
}
