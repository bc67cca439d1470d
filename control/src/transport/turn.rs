//! Limits how long one connection is served before other connections are served.

use std::time::{Duration, Instant};

/// The maximum number of requests in one turn.
const REQUESTS: usize = 128;
/// The maximum length of a turn. A turn lasts longer only if one request takes longer.
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

#[cfg(test)]
mod tests {
    use std::{pin::pin, task::Poll};

    use super::*;
    use crate::poll::poll_once;

    async fn yields(turn: &mut Turn) -> bool {
        let mut counted = pin!(turn.count_request());
        let yields = matches!(poll_once(&mut counted).await, Poll::Pending);
        if yields {
            counted.await;
        }
        yields
    }

    #[tokio::test]
    async fn a_turn_ends_after_its_requests_or_its_time() {
        let long_ago = Instant::now().checked_sub(TIME).unwrap();
        let mut turn = Turn { requests: 0, began: long_ago };
        assert!(yields(&mut turn).await);
        assert_eq!(turn.requests, 0, "the next turn has begun");
        // The start time is in the future, so the turn never ends because of its length.
        let mut turn = Turn { requests: 0, began: Instant::now() + Duration::from_secs(3600) };
        for _ in 1..REQUESTS {
            assert!(!yields(&mut turn).await);
        }
        assert!(yields(&mut turn).await);
    }
}
