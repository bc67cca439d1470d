//! Waits until a session's state matches a condition. Changes of the session wake the wait, which then checks the state
//! again.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use unterm_plugin::{CellPosition, Matcher};

use super::{Session, Sessions, millis};
use crate::{
    dialect::ptywright::{
        error::{Error, Result},
        matcher::{Compiled, MatchOutcome, SessionView, check},
        redaction::Redaction,
        snapshot::Snapshot,
    },
    offload::blocking,
    services::{
        limits::search_limiter::{Budget, too_long},
        pane::wait::deadline,
    },
};

/// The maximum number of bytes of text that expressions are matched against after one change.
const MOST_BYTES: u64 = 64 << 20;
/// The maximum time of the first check, regardless of the timeout.
const LOOK: Duration = Duration::from_secs(1);

/// A wait for a session.
pub struct Wait {
    /// The condition to wait for.
    pub matcher: Matcher,
    /// When the wait ends if there is no match.
    pub deadline: Instant,
    /// The client's timeout, for the error.
    pub timeout_ms: u64,
    /// The method that waits, for the error.
    pub method: &'static str,
}

impl Wait {
    /// A wait of `timeout_ms` milliseconds from now.
    pub fn new(matcher: Matcher, timeout_ms: u64, method: &'static str) -> Self {
        let deadline = deadline(Instant::now(), Duration::from_millis(timeout_ms));
        Self { matcher, deadline, timeout_ms, method }
    }
}

/// A match.
pub struct Matched {
    /// The screen that matched.
    snapshot: Snapshot,
    /// The way in which the screen matched.
    pub outcome: MatchOutcome,
    /// The time until the match.
    elapsed: Duration,
}

/// The state that matched.
#[derive(Debug, Serialize)]
pub struct Evidence {
    /// Always true.
    pub matched: bool,
    /// The sequence of the screen that matched.
    pub sequence: u64,
    /// The duration of the wait.
    pub elapsed_ms: u64,
    /// The screen that matched.
    pub snapshot: Snapshot,
    /// The end of the output.
    pub transcript_tail: String,
    /// The way in which the state matched.
    #[serde(skip)]
    pub outcome: MatchOutcome,
}

/// The result of trying a matcher.
struct Tried {
    outcome: Option<MatchOutcome>,
    may_match_later: bool,
}

impl Sessions {
    /// Waits like [`Self::matched`], and returns the evidence for a client.
    ///
    /// # Errors
    /// The errors of [`Self::matched`], or a search for secrets takes too long.
    pub async fn wait(&self, session: &Session, wait: Wait) -> Result<Evidence> {
        let matched = self.matched(session, wait).await?;
        self.evidence(session, matched).await
    }

    /// Waits until a session's state matches and the transcript has caught up with it. Dropping the future ends the
    /// wait.
    ///
    /// # Errors
    /// The matcher is invalid, the time is over, or the session ends, so that the matcher can't match any longer.
    pub async fn matched(&self, session: &Session, wait: Wait) -> Result<Matched> {
        let Wait { matcher, deadline, timeout_ms, method } = wait;
        check(&matcher).map_err(Error::invalid_params)?;
        let compiled = blocking(move || Compiled::new(matcher)).await?;
        let matcher = Arc::new(compiled.map_err(Error::invalid_params)?);
        let start = Instant::now();
        let mut progress = session.progress.subscribe();
        loop {
            let now = *progress.borrow_and_update();
            if now.is_closed {
                return Err(Error::closed(format!("session {} was closed", session.id())));
            }
            let snapshot = self.screen(session).await?;
            let is_newest = snapshot.sequence <= now.sequence;
            let stable = now.stable_at(snapshot.sequence);
            let mut seen = SessionView {
                screen: snapshot.plain_text.clone(),
                transcript: match matcher.needs_transcript() {
                    true => session.transcript(),
                    false => String::new(),
                },
                cursor: CellPosition { row: snapshot.cursor.row, col: snapshot.cursor.col },
                stable,
                has_exited: now.has_ended,
                predicates: Vec::new(),
            };
            // Predicates and expressions may take longer than the timeout. Even a wait with a timeout of 0 tries its
            // matcher once.
            let until = deadline.max(start + LOOK);
            let asked = self.ask_predicates(session, &matcher, &seen, &snapshot, method);
            let asked = timeout_at(until, asked).await;
            seen.predicates = asked.map_err(|_| Error::timeout(timeout_ms))??;
            let tried = timeout_at(until, self.try_on(&matcher, seen));
            let tried = tried.await.map_err(|_| Error::timeout(timeout_ms))??;
            if let Some(outcome) = tried.outcome {
                // The screen may be newer than the transcript, so wait for the transcript.
                let sequence = snapshot.sequence;
                let caught_up = progress.wait_for(|progress| {
                    progress.sequence >= sequence || progress.has_ended || progress.is_closed
                });
                let _ = timeout(LOOK, caught_up).await;
                return Ok(Matched { snapshot, outcome, elapsed: start.elapsed() });
            }
            if now.has_ended && !tried.may_match_later {
                return Err(session.ended());
            }
            if Instant::now() >= deadline {
                return Err(Error::timeout(timeout_ms));
            }
            let next = matcher.next_stable(stable).filter(|_| is_newest);
            let due = next.and_then(|next| now.changed.checked_add(next));
            let due = due.map_or(deadline, |due| due.min(deadline));
            tokio::select! {
                changed = progress.changed() => {
                    if changed.is_err() {
                        return Err(Error::closed(format!("session {} was closed", session.id())));
                    }
                }
                () = sleep_until(due) => {}
            }
        }
    }

    /// Tries a matcher. If the matcher contains expressions, it is tried on a blocking thread.
    async fn try_on(&self, matcher: &Arc<Compiled>, seen: SessionView) -> Result<Tried> {
        let tried = matcher.clone();
        let work = move |budget: &mut Budget| {
            let outcome = tried.try_on(&seen, budget);
            let may_match_later =
                outcome.is_none() && seen.has_exited && tried.may_match_later(&seen, budget);
            (Tried { outcome, may_match_later }, budget.is_spent())
        };
        if !matcher.has_regex() {
            return Ok(work(&mut Budget::of_bytes(MOST_BYTES)).0);
        }
        let (tried, is_spent) = self.searches().run(MOST_BYTES, work).await?;
        if is_spent {
            return Err(Error::invalid_params(format!("matcher: {}", too_long())));
        }
        Ok(tried)
    }

    async fn evidence(&self, session: &Session, matched: Matched) -> Result<Evidence> {
        let Matched { snapshot, outcome, elapsed } = matched;
        let redaction = Redaction::default();
        let snapshot = snapshot.redacted(&redaction, self.searches()).await?;
        let mut tail = redaction.texts(self.searches(), vec![session.tail()]).await?;
        Ok(Evidence {
            matched: true,
            sequence: snapshot.sequence,
            elapsed_ms: millis(elapsed),
            snapshot,
            transcript_tail: tail.pop().unwrap_or_default(),
            outcome,
        })
    }
}
