//! The state of an instance that its clients share, and the dispatcher.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};

use super::{channels::Channels, methods, state::State};
use crate::{
    caller::Caller,
    dispatch::Dispatcher,
    error::Error,
    methods::{Method, find},
};

/// The maximum number of fired events that are kept for a waiting client.
const MOST_FIRED: usize = 256;

/// The state that all clients of an instance share.
pub struct Server {
    /// Calls methods.
    pub dispatcher: Arc<Dispatcher>,
    /// Sessions, options, buffers and so on. Must not be held while waiting.
    pub state: Mutex<State>,
    /// The wait channels.
    pub channels: Channels,
    /// The names of events that programs fire (`set-hook -E`).
    pub fired: broadcast::Sender<String>,
    /// Incremented after each command that may change something.
    pub changes: watch::Sender<u64>,
    /// The number of commands that have opened a window and have not yet placed and named it.
    unfinished: watch::Sender<usize>,
    numbers: AtomicU64,
}

impl Server {
    /// Creates the state of an instance.
    pub fn new(dispatcher: Arc<Dispatcher>) -> Self {
        Self {
            dispatcher,
            state: Mutex::default(),
            channels: Channels::default(),
            fired: broadcast::Sender::new(MOST_FIRED),
            changes: watch::Sender::new(0),
            unfinished: watch::Sender::new(0),
            numbers: AtomicU64::new(0),
        }
    }

    /// Delays hooks until the result is dropped, so that they see a new window with its session and its name.
    pub fn begin_window(&self) -> UnfinishedWindow<'_> {
        self.unfinished.send_modify(|count| *count += 1);
        UnfinishedWindow(self)
    }

    /// Whether a new window lacks its session or its name.
    pub fn has_unfinished_window(&self) -> bool {
        *self.unfinished.borrow() > 0
    }

    /// Waits until each new window has its session and its name, or until `latest`, because a command may wait for the
    /// user.
    pub async fn windows_finished(&self, latest: Instant) {
        let mut unfinished = self.unfinished.subscribe();
        let finished = unfinished.wait_for(|count| *count == 0);
        let _ = tokio::time::timeout_at(latest, finished).await;
    }

    /// The number of the next command of a client in control mode.
    pub fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Wakes the tasks that run hooks at events.
    pub fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Calls a method for a caller. `params`: the parameters as JSON.
    pub async fn call<M: Method>(&self, caller: &Caller, params: &str) -> Result<M::Reply, Error>
    where
        M::Reply: DeserializeOwned,
    {
        let common = || find(M::NAME);
        let entry = methods::own::<M>().or_else(common);
        let entry = entry.ok_or_else(|| Error::Unknown(M::NAME.to_owned()))?;
        let mut reply = Vec::new();
        self.dispatcher.call_entry(caller, entry, params, &mut reply).await?;
        serde_json::from_slice(&reply).map_err(|error| Error::Unread { method: M::NAME, error })
    }
}

/// A window that a command has opened and not yet placed and named.
pub struct UnfinishedWindow<'a>(&'a Server);

impl Drop for UnfinishedWindow<'_> {
    fn drop(&mut self) {
        self.0.unfinished.send_modify(|count| *count -= 1);
    }
}
