//! What the calls of agents use.

use std::sync::Arc;

use super::{
    action::Executor, conversations::Conversations, held::Held, host::Host, machines::Machines,
    places::CallPlaces, store::Store, tokens::Tokens,
};
use crate::signature::Signer;

/// The parts of a hub that calls use.
pub struct Services {
    /// The fleet's state.
    pub store: Store,
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
    /// Bounds the calls that run at a time.
    pub places: CallPlaces,
}

impl Services {
    /// On a store.
    pub fn new(store: Store, signer: Signer, host: Host) -> Self {
        let machines = Machines::new(store.clone(), signer);
        let tokens = Tokens::new(store.clone());
        let conversations = Conversations::new(store.clone());
        let executor =
            Executor { machines: machines.clone(), host: host.clone(), store: store.clone() };
        let held = Held {
            store: store.clone(),
            conversations: conversations.clone(),
            tokens: tokens.clone(),
            executor: executor.clone(),
            replaying: Arc::default(),
        };
        let places = CallPlaces::default();
        Self { store, tokens, machines, conversations, host, executor, held, places }
    }
}
