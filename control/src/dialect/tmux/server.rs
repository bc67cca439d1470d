//! The state of an instance that its clients share, and the dispatcher.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{channels::Channels, state::State};
use crate::dispatch::Dispatcher;

/// The state that all clients of an instance share.
pub struct Server {
    /// Calls methods.
    pub dispatcher: Arc<Dispatcher>,
    /// Sessions, options, buffers and so on. Must not be held while waiting.
    pub state: Mutex<State>,
    /// The wait channels.
    pub channels: Channels,
}

impl Server {
    /// Creates the state of an instance.
    pub fn new(dispatcher: Arc<Dispatcher>) -> Self {
        Self { dispatcher, state: Mutex::default(), channels: Channels::default() }
    }
}
