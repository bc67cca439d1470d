//! How long one connection is served before others are.

use std::time::{Duration, Instant};

/// The most requests of one turn.
const REQUESTS: usize = 128;
/// The longest turn, unless one request takes longer.
const TIME: Duration = Duration::from_millis(1);

/// The turn of a connection whose requests follow one another without a pause.
pub struct Turn {
    requests: usize,
    began: Instant,
}

impl Default for Turn {
    fn default() -> Self {
        Self { requests: 0, began: Instant::now() }
    }
}

impl Turn {
    /// Counts a request that was served. At the end of the turn, yields to other connections.
    pub async fn count_request(&mut self) {
        self.requests += 1;
        if self.requests >= REQUESTS || self.began.elapsed() >= TIME {
            tokio::task::yield_now().await;
            *self = Self::default();
        }
    }
}
