//! Runs the searches of clients on a few threads and within limits. The time of a search is proportional to the lengths
//! of its text and of its pattern, and clients choose both. Tokens take turns ([`turns`]).

mod turns;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::timeout;

use self::turns::Turns;
use crate::{
    caller::TokenKind,
    error::{Error, Result},
};

/// The maximum time of a search. The search is then stopped, and returns the results so far.
const LONGEST: Duration = Duration::from_secs(10);
/// A stopped search must return within this time. It can't return at once, because matching one line is never
/// interrupted.
const GRACE: Duration = Duration::from_secs(5);

/// The slots for searches.
pub struct SearchLimiter {
    turns: Arc<Turns>,
    longest: Duration,
}

impl Default for SearchLimiter {
    fn default() -> Self {
        Self { turns: Arc::default(), longest: LONGEST }
    }
}

/// The budget of a search.
pub struct Budget {
    is_stopped: Arc<AtomicBool>,
    bytes: u64,
    is_spent: bool,
}

impl Budget {
    /// Creates a budget without a time limit, for work that matches no pattern.
    pub fn of_bytes(bytes: u64) -> Self {
        Self { is_stopped: Arc::default(), bytes, is_spent: false }
    }

    /// Spends the bytes that are searched next. Returns false if the search must end, and at every later call.
    pub fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes as u64);
        self.is_spent |= left.is_none() || self.is_stopped.load(Ordering::Relaxed);
        self.bytes = left.unwrap_or(0);
        !self.is_spent
    }

    /// Whether the search had to skip some text.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Whether the search had to skip some text because it was stopped.
    pub fn is_late(&self) -> bool {
        self.is_spent && self.is_stopped.load(Ordering::Relaxed)
    }
}

/// The error for a pattern that takes too long.
pub fn too_long() -> Error {
    Error::Failed(
        "The search took too long. Use a simpler pattern, with fewer or smaller repetitions"
            .to_owned(),
    )
}

/// Stops a search whose caller no longer waits for it.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The searches of one token.
#[derive(Clone, Copy)]
pub struct Searches<'a> {
    limiter: &'a SearchLimiter,
    token: TokenKind,
}

impl SearchLimiter {
    /// The searches of a token.
    pub fn of(&self, token: TokenKind) -> Searches<'_> {
        Searches { limiter: self, token }
    }
}

impl Searches<'_> {
    /// Runs a search over at most `bytes` bytes once it is the token's turn. The search is stopped when its time is
    /// over, or when this future is dropped.
    ///
    /// # Errors
    /// The search did not stop in time, or too many searches of this token are already waiting.
    pub async fn run<T: Send + 'static>(
        &self,
        bytes: u64,
        work: impl FnOnce(&mut Budget) -> T + Send + 'static,
    ) -> Result<T> {
        let stop = StopOnDrop(Arc::default());
        let mut budget = Budget { is_stopped: stop.0.clone(), bytes, is_spent: false };
        let turn = self.limiter.turns.next(self.token).await?;
        let mut job = tokio::task::spawn_blocking(move || {
            // The slot is held as long as the search runs, even if its caller no longer waits.
            let _turn = turn;
            work(&mut budget)
        });
        let done = match timeout(self.limiter.longest, &mut job).await {
            Ok(done) => done,
            Err(_) => {
                stop.0.store(true, Ordering::Relaxed);
                timeout(GRACE, job).await.map_err(|_| too_long())?
            }
        };
        done.map_err(|error| Error::Panicked(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::{turns::MOST_OF_TOKEN, *};

    const TOKEN: TokenKind = TokenKind::Instance;

    #[tokio::test]
    async fn bytes_are_spent() {
        let matching = SearchLimiter::default();
        let takes = |budget: &mut Budget| [60, 40, 1, 0].map(|bytes| budget.take(bytes));
        assert_eq!(matching.of(TOKEN).run(100, takes).await.unwrap(), [true, true, false, false]);
        let all = |budget: &mut Budget| (budget.take(100), budget.is_spent());
        assert_eq!(matching.of(TOKEN).run(100, all).await.unwrap(), (true, false));
        let more = |budget: &mut Budget| (budget.take(101), budget.is_spent(), budget.is_late());
        assert_eq!(matching.of(TOKEN).run(100, more).await.unwrap(), (false, true, false));
    }

    #[tokio::test]
    async fn a_search_past_its_time_limit_returns_what_it_found() {
        let matching =
            SearchLimiter { longest: Duration::from_millis(1), ..SearchLimiter::default() };
        let endless = |budget: &mut Budget| {
            while budget.take(0) {
                std::thread::yield_now();
            }
            (budget.is_late(), "found so far")
        };
        assert_eq!(matching.of(TOKEN).run(100, endless).await.unwrap(), (true, "found so far"));
    }

    #[tokio::test]
    async fn a_match_that_is_given_up_stops_and_leaves_its_turn_to_others() {
        let matching = SearchLimiter::default();
        let searches = matching.of(TOKEN);
        let mut ends = Vec::new();
        for _ in 0..MOST_OF_TOKEN {
            let (begun, has_begun) = oneshot::channel();
            let (ended, has_ended) = oneshot::channel();
            let endless = move |budget: &mut Budget| {
                begun.send(()).unwrap();
                while budget.take(0) {
                    std::thread::yield_now();
                }
                ended.send(()).unwrap();
            };
            tokio::select! {
                biased;
                _ = searches.run(100, endless) => panic!("it never ends"),
                begun = has_begun => begun.unwrap(),
            }
            ends.push(has_ended);
        }
        for ended in ends {
            ended.await.unwrap();
        }
        assert_eq!(matching.of(TOKEN).run(100, |_| 7).await.unwrap(), 7);
    }
}
