//! Limits on connections: the length of messages, the number of connections that have not logged in, and the time
//! each has to log in. Any user of this machine can open connections. If there are too many, the oldest one is
//! dropped, because legitimate clients log in as soon as they connect.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The longest message of a client that has logged in, in bytes.
pub const LONGEST_MESSAGE: usize = 16 << 20;
/// The longest message of a client that has not logged in, in bytes.
pub const LONGEST_MESSAGE_BEFORE_LOGIN: usize = 64 << 10;

/// Limits on connections that have not logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginLimits {
    /// How long a connection may take to log in.
    pub time: Duration,
    /// How many connections may be waiting to log in, on each port.
    pub connections: usize,
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), connections: 128 }
    }
}

/// The connections of one port that have not logged in.
pub struct PendingLogins {
    most: usize,
    /// Keyed by connection number. Numbers only grow, so the first entry is the oldest.
    waiting: Mutex<BTreeMap<u64, Arc<Notify>>>,
}

impl PendingLogins {
    /// An empty set of at most `most` connections.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), waiting: Mutex::default() })
    }

    /// Adds a connection that has not logged in. If there are too many, evicts the oldest.
    pub fn begin(self: &Arc<Self>, connection: u64) -> PendingLogin {
        let evicted = Arc::new(Notify::new());
        let mut waiting = self.waiting.lock();
        while waiting.len() >= self.most
            && let Some((_, oldest)) = waiting.pop_first()
        {
            oldest.notify_one();
        }
        waiting.insert(connection, evicted.clone());
        drop(waiting);
        PendingLogin { logins: self.clone(), connection, evicted }
    }
}

/// A connection that counts as pending until it logs in or ends.
pub struct PendingLogin {
    logins: Arc<PendingLogins>,
    connection: u64,
    evicted: Arc<Notify>,
}

impl PendingLogin {
    /// The client has logged in, so the connection no longer counts and can't be evicted.
    pub fn succeeded(&self) {
        self.logins.waiting.lock().remove(&self.connection);
    }

    /// Completes when the connection must give way to a newer one.
    pub async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for PendingLogin {
    fn drop(&mut self) {
        self.succeeded();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a connection must give way now.
    fn is_evicted(login: &PendingLogin) -> bool {
        let mut evicted = std::pin::pin!(login.evicted());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        evicted.as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn the_oldest_gives_way_and_who_logged_in_never_does() {
        let logins = PendingLogins::new(2);
        let [first, second] = [1, 2].map(|connection| logins.begin(connection));
        second.succeeded();
        let third = logins.begin(3);
        assert!(!is_evicted(&first), "there are two that wait");
        let fourth = logins.begin(4);
        assert!(is_evicted(&first));
        drop(third);
        let fifth = logins.begin(5);
        assert!(![&second, &fourth, &fifth].into_iter().any(is_evicted));
        assert_eq!(logins.waiting.lock().len(), 2);
        drop([first, second, fourth, fifth]);
        assert!(logins.waiting.lock().is_empty());
    }
}
