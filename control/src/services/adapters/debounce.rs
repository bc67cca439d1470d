//! Ignores states that pass at once, such as those of a screen that is half drawn.

use std::time::Duration;

use tokio::time::Instant;

/// How long a new state has to be seen, or its screen has to be unchanged, until the state counts.
const CONFIRMED: Duration = Duration::from_millis(200);

/// A state that was seen and does not count yet.
#[derive(Default)]
pub struct Debounce(Option<Candidate>);

struct Candidate {
    state: String,
    /// When it was first seen.
    seen: Instant,
    /// The same for people.
    since: String,
}

impl Debounce {
    /// Notes a state. `last`: the state that counts so far. `stable`: how long the screen has been unchanged. Returns when the
    /// state was first seen, if it counts.
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
        // Another state that passes at once.
        assert_eq!(see("b", Some("a"), 50, 100), None);
        assert_eq!(see("a", Some("a"), 50, 150).as_deref(), Some("150"));
        assert_eq!(see("b", Some("a"), 50, 250), None);
        assert_eq!(see("c", Some("a"), 50, 450), None);
        // A screen that goes on changing.
        assert_eq!(see("c", Some("a"), 50, 700).as_deref(), Some("450"));
        // A screen that does not.
        assert_eq!(see("d", Some("c"), 50, 800), None);
        assert_eq!(see("d", Some("c"), 300, 1050).as_deref(), Some("800"));
        assert_eq!(see("e", Some("d"), 1000, 2000).as_deref(), Some("2000"));
    }
}
