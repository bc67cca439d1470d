//! Ignores states that last only for a moment, such as those of a half-drawn screen.

use std::time::Duration;

use tokio::time::Instant;

/// A new state counts once it has been seen for this long, or once its screen has been unchanged for this long.
const CONFIRMED: Duration = Duration::from_millis(200);

/// The newest state that was seen but does not count yet.
#[derive(Default)]
pub struct Debounce(Option<Candidate>);

struct Candidate {
    state: String,
    /// The time when the state was first seen.
    seen: Instant,
    /// The time when the state was first seen, as text for replies.
    since: String,
}

impl Debounce {
    /// Notes a state. `last`: the state that counts so far. `stable`: how long the screen has been unchanged. If the
    /// state counts now, returns the time when it was first seen.
    pub fn see(
        &mut self,
        state: &str,
        last: Option<&str>,
        stable: Duration,
        seen: Instant,
        now: impl FnOnce() -> String,
    ) -> Option<String> {
        let candidate = match self.0.take().filter(|candidate| candidate.state == state) {
            Some(candidate) => candidate,
            None => Candidate { state: state.to_owned(), seen, since: now() },
        };
        let is_confirmed = stable.max(seen.saturating_duration_since(candidate.seen)) >= CONFIRMED;
        if is_confirmed || last.is_none_or(|last| last == state) {
            return Some(candidate.since);
        }
        self.0 = Some(candidate);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_counts_once_it_stays() {
        let start = Instant::now();
        let mut debounce = Debounce::default();
        let mut see = |state: &str, last: Option<&str>, stable: u64, at: u64| {
            let (stable, seen) = (Duration::from_millis(stable), start + Duration::from_millis(at));
            debounce.see(state, last, stable, seen, || at.to_string())
        };
        assert_eq!(see("a", None, 0, 0).as_deref(), Some("0"), "the first one");
        // State `b` lasts only for a moment.
        assert_eq!(see("b", Some("a"), 50, 100), None);
        assert_eq!(see("a", Some("a"), 50, 150).as_deref(), Some("150"));
        assert_eq!(see("b", Some("a"), 50, 250), None);
        assert_eq!(see("c", Some("a"), 50, 450), None);
        // State `c` counts although its screen keeps changing, because it lasts.
        assert_eq!(see("c", Some("a"), 50, 700).as_deref(), Some("450"));
        // State `d` counts because its screen stays unchanged.
        assert_eq!(see("d", Some("c"), 50, 800), None);
        assert_eq!(see("d", Some("c"), 300, 1050).as_deref(), Some("800"));
        assert_eq!(see("e", Some("d"), 1000, 2000).as_deref(), Some("2000"));
    }
}
