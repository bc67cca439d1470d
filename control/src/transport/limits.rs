//! Limits on connections: the length of messages, the number of connections that have not logged in, and the time that
//! each has to log in. Any user of this machine can open connections. If too many have not logged in, the oldest one is
//! closed, because legitimate clients log in as soon as they connect.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The maximum length of a message from a client that has logged in, in bytes.
pub const LONGEST_MESSAGE: usize = 16 << 20;
/// The maximum length of a message from a client that has not logged in, in bytes.
pub const LONGEST_MESSAGE_BEFORE_LOGIN: usize = 64 << 10;

/// Limits on connections that have not logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginLimits {
    /// The maximum time until a connection has logged in.
    pub time: Duration,
    /// The maximum number of connections per port that have not logged in.
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
    /// The connections, by their numbers. Numbers only grow, so the first entry is the oldest connection.
    waiting: Mutex<BTreeMap<u64, Arc<Notify>>>,
}

impl PendingLogins {
    /// Creates an empty set for at most `most` connections.
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
    /// Records that the client has logged in. The connection no longer counts, and can't be evicted any longer.
    pub fn succeeded(&self) {
        self.logins.waiting.lock().remove(&self.connection);
    }

    /// Completes when the connection must be closed in favor of a newer one.
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

    /// Whether a connection must be closed now in favor of a newer one.
    fn is_evicted(login: &PendingLogin) -> bool {
        let mut evicted = std::pin::pin!(login.evicted());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        evicted.as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn only_the_oldest_pending_login_is_evicted() {
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
