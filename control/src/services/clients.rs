//! Who is connected, and whether those who act have to wait.

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
    /// Its name for itself; empty: it gave none.
    pub client: String,
    /// The conversation it acts for; empty: it named none.
    pub conversation: String,
    /// When it logged in (RFC 3339, UTC).
    pub since: String,
}

/// The connections, and the switch that makes them wait.
pub struct Clients {
    rows: Mutex<BTreeMap<u64, Client>>,
    paused: watch::Sender<bool>,
    /// What `paused` says, for every call to look at without a lock.
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
    /// A connection has logged in, or has done so again.
    pub fn add(&self, connection: u64, client: Option<&str>, conversation: Option<&str>) {
        let short = |text: Option<&str>| -> String {
            text.unwrap_or_default().chars().take(LONGEST_NAME).collect()
        };
        let row = Client {
            connection,
            client: short(client),
            conversation: short(conversation),
            since: super::now(),
        };
        self.rows.lock().insert(connection, row);
    }

    /// A connection has ended; whether it had logged in.
    pub fn remove(&self, connection: u64) -> bool {
        self.rows.lock().remove(&connection).is_some()
    }

    /// Those that are connected, oldest first.
    pub fn list(&self) -> Vec<Client> {
        self.rows.lock().values().cloned().collect()
    }

    /// Whether calls that change something wait.
    pub fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Acquire)
    }

    /// Makes calls that change something wait, or go on.
    pub fn pause(&self, paused: bool) {
        // Within the lock of the channel, so that both agree on who came last.
        self.paused.send_modify(|now| {
            *now = paused;
            self.is_paused.store(paused, Ordering::Release);
        });
    }

    /// How many calls wait.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.paused.receiver_count()
    }

    /// Waits until nobody has to wait.
    pub async fn go(&self) {
        // The sender lives as long as this does.
        let _ = self.paused.subscribe().wait_for(|paused| !*paused).await;
    }
}
