//! The bounds on connections: how long a message may be, and of those that have not logged in how many there may be, and how
//! long each has. Any user of this machine can open connections, so the one that has waited longest gives way to a new one:
//! its owner logs in as soon as it connects.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The longest message of a client that has logged in, in bytes.
pub const LONGEST_MESSAGE: usize = 16 << 20;
/// The longest message of one that has not.
pub const LONGEST_MESSAGE_BEFORE_LOGIN: usize = 64 << 10;

/// The bounds on connections that have not logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginLimits {
    /// How long a connection has for its login.
    pub time: Duration,
    /// How many connections may wait to log in, on each port.
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
    /// By their numbers, which grow: the oldest is the first.
    waiting: Mutex<BTreeMap<u64, Arc<Notify>>>,
}

impl PendingLogins {
    /// None yet.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most: most.max(1), waiting: Mutex::default() })
    }

    /// A connection that has not logged in. Where there are too many, the oldest has to give way.
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

/// A connection, which counts until it has logged in or ended.
pub struct PendingLogin {
    logins: Arc<PendingLogins>,
    connection: u64,
    evicted: Arc<Notify>,
}

impl PendingLogin {
    /// It has logged in, and has to give way to nobody.
    pub fn succeeded(&self) {
        self.logins.waiting.lock().remove(&self.connection);
    }

    /// Ends when the connection has to give way.
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

    /// Whether a connection has to give way now.
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
