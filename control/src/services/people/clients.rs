//! The connected clients, and whether agents are paused.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

use crate::caller::LONGEST_NAME;

/// A connection that has logged in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Client {
    /// Number of the connection.
    pub connection: u64,
    /// The name that the client gave. Empty if it gave no name.
    pub client: String,
    /// The conversation that the client acts for. Empty if it named no conversation.
    pub conversation: String,
    /// When it logged in (RFC 3339, UTC).
    pub since: String,
}

/// The connected clients, and the pause switch.
pub struct Clients {
    rows: Mutex<BTreeMap<u64, Client>>,
    paused: watch::Sender<bool>,
    /// A copy of `paused` that every call can read without a lock.
    is_paused: AtomicBool,
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            rows: Mutex::default(),
            paused: watch::Sender::new(false),
            is_paused: AtomicBool::new(false),
        }
    }
}

impl Clients {
    /// Adds a connection that has logged in, or updates it after another login.
    pub fn add(&self, connection: u64, client: Option<&str>, conversation: Option<&str>) {
        let short = |text: Option<&str>| -> String {
            text.unwrap_or_default().chars().take(LONGEST_NAME).collect()
        };
        let row = Client {
            connection,
            client: short(client),
            conversation: short(conversation),
            since: crate::services::now(),
        };
        self.rows.lock().insert(connection, row);
    }

    /// Removes a connection that has ended. Returns whether it had logged in.
    pub fn remove(&self, connection: u64) -> bool {
        self.rows.lock().remove(&connection).is_some()
    }

    /// The connected clients, oldest first.
    pub fn list(&self) -> Vec<Client> {
        self.rows.lock().values().cloned().collect()
    }

    /// Whether agents are paused, so that their calls that change something wait.
    pub fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Acquire)
    }

    /// Pauses or resumes agents.
    pub fn pause(&self, paused: bool) {
        // Both copies are set under the channel's lock. Otherwise, they could differ after two threads switch at once.
        self.paused.send_modify(|now| {
            *now = paused;
            self.is_paused.store(paused, Ordering::Release);
        });
    }

    /// The number of waiting calls.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.paused.receiver_count()
    }

    /// Waits as long as agents are paused.
    pub async fn go(&self) {
        // Can't fail: the sender lives as long as `self`.
        let _ = self.paused.subscribe().wait_for(|paused| !*paused).await;
    }
}
