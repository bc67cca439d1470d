//! Lines that the rules refused, and lines that the user released. A released line may be entered once.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use super::policy::Refusal;
use crate::caller::Caller;

/// The maximum number of remembered refused lines, and of released lines. A further line replaces the oldest.
const MOST: usize = 64;
/// The maximum length of a line that is remembered, in bytes. A longer line can't be released.
pub const LONGEST: usize = 4096;
/// A release is valid for this long. It is made when the client is about to type the line.
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
    client: Option<String>,
    line: String,
    made: Instant,
}

#[derive(Default)]
struct State {
    refused: VecDeque<RefusedLine>,
    released: VecDeque<Release>,
}

/// Input that a client is about to type.
pub struct Attempt {
    /// The line that results from the input. `None` if it is unknown.
    pub line: Option<String>,
    /// Whether the input enters the line.
    pub enters: bool,
}

/// The refused and released lines of an instance.
#[derive(Default)]
pub struct RefusedLines {
    state: Mutex<State>,
    /// Whether any line is released. Atomic, so that input needs no lock if no line is released.
    any_released: AtomicBool,
}

impl RefusedLines {
    /// Whether any line is released.
    pub fn any_released(&self) -> bool {
        self.any_released.load(Ordering::Acquire)
    }

    /// Applies releases to a decision of the rules about a client's input. While a line is released for the client in a
    /// pane, the client can enter only that line there. If the input is refused, the line is remembered.
    ///
    /// # Errors
    /// The input is refused.
    pub fn check(
        &self,
        caller: &Caller,
        pane: PaneId,
        decided: Result<(), Refusal>,
        attempt: impl FnOnce() -> Attempt,
    ) -> Result<(), Refusal> {
        if decided.is_ok() && !self.any_released() {
            return Ok(());
        }
        let Attempt { line, enters } = attempt();
        let mut state = self.state.lock();
        self.keep(&mut state, |release| release.made.elapsed() < LIFETIME);
        let is_for = |of: &&Release| of.pane == pane && of.client == caller.client;
        if let Some(release) = state.released.iter().find(is_for) {
            let is_released = line.as_ref() == Some(&release.line);
            match decided {
                _ if is_released => return Ok(()),
                Ok(()) if enters => return Err(Refusal::NotReleased),
                _ => {}
            }
        }
        let refusal = match decided {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        let (session_id, client) = (pane.0, caller.client.clone());
        // The shell would run something other than this line, so the user can't judge the line.
        let is_rewritten = matches!(refusal, Refusal::Rewritten(_) | Refusal::Unknown(_));
        match line.filter(|line| line.len() <= LONGEST && !is_rewritten) {
            Some(line) => {
                let rule = refusal.to_string();
                push(&mut state.refused, RefusedLine { session_id, line, rule, client });
            }
            // The line can't be listed, so the client's earlier lines are removed. Otherwise, the user might release an
            // earlier line by mistake.
            None => state.refused.retain(|of| of.session_id != session_id || of.client != client),
        }
        Err(refusal)
    }

    /// Releases a line: a client may enter it once in a pane, within the next 15 seconds.
    pub fn release(&self, pane: PaneId, client: Option<String>, line: String) {
        let mut state = self.state.lock();
        state.released.retain(|of| of.pane != pane || of.client != client);
        push(&mut state.released, Release { pane, client, line, made: Instant::now() });
        self.any_released.store(true, Ordering::Release);
    }

    /// Ends the release of a client's line in a pane. Returns false if there was none.
    pub fn withdraw(&self, pane: PaneId, client: Option<&str>) -> bool {
        let mut state = self.state.lock();
        let before = state.released.len();
        self.keep(&mut state, |of| of.pane != pane || of.client.as_deref() != client);
        state.released.len() < before
    }

    /// Ends the releases of a pane, because a line was entered there.
    pub fn entered(&self, pane: PaneId) {
        if !self.any_released() {
            return;
        }
        self.keep(&mut self.state.lock(), |release| release.pane != pane);
    }

    /// Keeps the releases for which `stays` returns true, and ends all others.
    fn keep(&self, state: &mut State, stays: impl Fn(&Release) -> bool) {
        state.released.retain(stays);
        self.any_released.store(!state.released.is_empty(), Ordering::Release);
    }

    /// The lines that were refused, oldest first.
    pub fn refused(&self) -> Vec<RefusedLine> {
        self.state.lock().refused.iter().cloned().collect()
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

    fn blocked() -> Result<(), Refusal> {
        Err(Refusal::Blocked("rm".to_owned()))
    }

    fn enter(line: &str) -> Attempt {
        Attempt { line: Some(line.to_owned()), enters: true }
    }

    #[test]
    fn a_client_enters_its_released_line_and_no_other() {
        let lines = RefusedLines::default();
        let [agent, other] = ["agent", "other"].map(|name| Caller::of_user(Some(name)));
        let check = |caller: &Caller, pane, decided, attempt| {
            lines.check(caller, PaneId(pane), decided, || attempt)
        };
        assert_eq!(check(&agent, 1, blocked(), enter("rm x")), blocked());
        lines.release(PaneId(1), agent.client.clone(), "rm x".to_owned());
        assert_eq!(check(&agent, 2, blocked(), enter("rm x")), blocked(), "another pane");
        assert_eq!(check(&other, 1, blocked(), enter("rm x")), blocked(), "another client");
        assert_eq!(check(&agent, 1, blocked(), enter("rm xy")), blocked(), "another line");
        // This applies even if the rules allow the other line, because the user saw only the released line.
        assert_eq!(check(&agent, 1, Ok(()), enter("make")), Err(Refusal::NotReleased));
        assert_eq!(
            check(&agent, 1, Ok(()), Attempt { line: None, enters: true }),
            Err(Refusal::NotReleased)
        );
        assert_eq!(check(&other, 1, Ok(()), enter("make")), Ok(()));
        // Text and Enter may be sent in two calls.
        let text = Attempt { line: Some("rm x".to_owned()), enters: false };
        assert_eq!(check(&agent, 1, blocked(), text), Ok(()));
        assert_eq!(check(&agent, 1, blocked(), enter("rm x")), Ok(()));
        assert!(!lines.withdraw(PaneId(2), Some("agent")) && !lines.withdraw(PaneId(1), None));
        lines.entered(PaneId(2));
        assert_eq!(check(&agent, 1, blocked(), enter("rm x")), Ok(()));
        lines.entered(PaneId(1));
        assert_eq!(check(&agent, 1, blocked(), enter("rm x")), blocked());
        lines.release(PaneId(1), agent.client.clone(), "rm x".to_owned());
        assert!(lines.withdraw(PaneId(1), Some("agent")));
        assert_eq!(check(&agent, 1, blocked(), enter("rm x")), blocked());
        assert_eq!(check(&agent, 1, Ok(()), enter("make")), Ok(()));
    }

    #[test]
    fn only_lines_that_a_user_can_judge_are_remembered() {
        let (lines, caller) = (RefusedLines::default(), Caller::of_user(Some("agent")));
        let refuse = |pane, line: Option<&str>, refusal: Refusal| {
            let attempt = Attempt { line: line.map(str::to_owned), enters: true };
            assert!(lines.check(&caller, PaneId(pane), Err(refusal), || attempt).is_err());
        };
        let rule = || Refusal::Blocked("rm".to_owned());
        let left = || lines.refused().into_iter().map(|of| of.line).collect::<Vec<_>>();
        for _ in 0..2 * MOST {
            refuse(1, Some("rm y"), rule());
        }
        assert_eq!(left().len(), MOST);
        refuse(2, Some("rm z"), rule());
        // If a line can't be listed, no earlier line is listed in its place.
        for (line, refusal) in [
            (Some("x".repeat(LONGEST + 1)), rule()),
            (Some("tar c \\".to_owned()), Refusal::Rewritten("it goes on")),
            (None, rule()),
        ] {
            refuse(1, Some("rm y"), rule());
            refuse(1, line.as_deref(), refusal);
            assert_eq!(left(), ["rm z"]);
        }
    }
}
