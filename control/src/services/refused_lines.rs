//! Lines that the rules refused, and lines that a person has released: those may be entered once, although the rules refuse them.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use super::policy::Refusal;
use crate::caller::Caller;

/// The most refused lines, and the most released ones, that are remembered. One more replaces the oldest.
const MOST: usize = 64;
/// The longest line that is remembered, in bytes. Longer ones can't be released.
pub const LONGEST: usize = 4096;
/// How long a release lasts. It is made when the caller is about to type.
const LIFETIME: Duration = Duration::from_secs(15);

/// A line that the rules refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct RefusedLine {
    /// The session.
    pub session_id: u64,
    /// The whole line, as it would have been entered. Several lines are separated by line ends.
    pub line: String,
    /// The rule: a pattern, or a reason in words.
    pub rule: String,
    /// The client that sent the last part of the line. `null` if it gave no name.
    pub client: Option<String>,
}

struct Release {
    pane: PaneId,
    line: String,
    made: Instant,
}

#[derive(Default)]
struct State {
    refused: VecDeque<RefusedLine>,
    released: VecDeque<Release>,
}

/// The lines of an instance.
#[derive(Default)]
pub struct RefusedLines(Mutex<State>);

impl RefusedLines {
    /// Allows a line that the rules refuse, if it was released. Remembers it otherwise. `line` is `None` if the line is unknown.
    ///
    /// # Errors
    /// The refusal.
    pub fn check(
        &self,
        caller: &Caller,
        pane: PaneId,
        line: Option<String>,
        refusal: Refusal,
    ) -> Result<(), Refusal> {
        let Some(line) = line.filter(|line| line.len() <= LONGEST) else { return Err(refusal) };
        let mut state = self.0.lock();
        state.released.retain(|release| release.made.elapsed() < LIFETIME);
        if state.released.iter().any(|release| release.pane == pane && release.line == line) {
            return Ok(());
        }
        let (session_id, rule) = (pane.0, refusal.to_string());
        let client = caller.client.as_deref().map(str::to_owned);
        push(&mut state.refused, RefusedLine { session_id, line, rule, client });
        Err(refusal)
    }

    /// Lets a line be entered in a pane once, in the next 15 seconds.
    pub fn release(&self, pane: PaneId, line: String) {
        let mut state = self.0.lock();
        push(&mut state.released, Release { pane, line, made: Instant::now() });
    }

    /// Ends the releases of a pane, because a line was entered there.
    pub fn entered(&self, pane: PaneId) {
        self.0.lock().released.retain(|release| release.pane != pane);
    }

    /// The lines that were refused, oldest first.
    pub fn refused(&self) -> Vec<RefusedLine> {
        self.0.lock().refused.iter().cloned().collect()
    }
}

fn push<T>(queue: &mut VecDeque<T>, value: T) {
    if queue.len() == MOST {
        queue.pop_front();
    }
    queue.push_back(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_line_is_allowed_in_its_pane_until_a_line_is_entered() {
        let (lines, caller) = (RefusedLines::default(), Caller::of_user(None));
        let check = |pane, line: &str| {
            let refusal = Refusal::Blocked("rm".to_owned());
            lines.check(&caller, PaneId(pane), Some(line.to_owned()), refusal).is_ok()
        };
        assert!(!check(1, "rm x"));
        lines.release(PaneId(1), "rm x".to_owned());
        assert!(!check(2, "rm x") && !check(1, "rm xy"), "another pane, another line");
        assert!(check(1, "rm x") && check(1, "rm x"), "text and Enter may come in two calls");
        lines.entered(PaneId(2));
        assert!(check(1, "rm x"));
        lines.entered(PaneId(1));
        assert!(!check(1, "rm x"));
        let refused: Vec<_> =
            lines.refused().into_iter().map(|it| (it.session_id, it.line)).collect();
        let line = |pane, line: &str| (pane, line.to_owned());
        assert_eq!(refused, [line(1, "rm x"), line(2, "rm x"), line(1, "rm xy"), line(1, "rm x")]);
        for _ in 0..2 * MOST {
            assert!(!check(1, "rm y"));
        }
        assert_eq!(lines.refused().len(), MOST);
        assert!(!check(1, &"x".repeat(LONGEST + 1)));
        assert_eq!(lines.refused().last().unwrap().line, "rm y", "the long one is left out");
    }
}
