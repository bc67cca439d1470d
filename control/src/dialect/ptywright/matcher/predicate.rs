//! The schedule on which a wait calls a plugin's predicate.
//!
//! A predicate sees how long the screen has been stable, but cannot declare how long it must be stable. A wait therefore calls it
//! after each change of the session. While nothing changes, the wait calls it every 250 ms up to 2 s of stability, every second
//! up to 10 s, and then each time the stability doubles. So a quiet screen costs few calls.

use std::time::Duration;

/// After the program has ended and the screen was unchanged for this long, predicates are not asked again.
const DECIDED: Duration = Duration::from_secs(10);
/// The intervals between two calls, each with the stability up to which it applies, in milliseconds.
const STEPS: [(u64, u64); 2] = [(250, 2_000), (1_000, 10_000)];

/// The stability at which the predicate is asked next.
pub fn next_stable(stable: Duration) -> Duration {
    let now = u64::try_from(stable.as_millis()).unwrap_or(u64::MAX);
    for (distance, end) in STEPS {
        if now < end {
            return Duration::from_millis((now / distance + 1) * distance);
        }
    }
    let (_, mut next) = STEPS[STEPS.len() - 1];
    while next <= now {
        next = next.saturating_mul(2);
    }
    Duration::from_millis(next)
}

/// Whether a predicate may become true later, although the program has ended and the screen no longer changes.
pub fn may_hold_later(stable: Duration) -> bool {
    stable < DECIDED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_screen_costs_few_calls() {
        let (mut stable, mut times) = (Duration::ZERO, Vec::new());
        while stable < Duration::from_secs(24 * 3600) {
            stable = next_stable(stable);
            times.push(stable.as_millis());
        }
        assert_eq!(times[..4], [250, 500, 750, 1000]);
        assert_eq!(times[7..11], [2000, 3000, 4000, 5000]);
        assert_eq!(times[15..18], [10_000, 20_000, 40_000]);
        assert!(times.len() < 32, "{times:?}");
        assert_eq!(next_stable(Duration::from_micros(250_500)), Duration::from_millis(500));
    }

    #[test]
    fn the_longest_stability_overflows_nothing() {
        assert!(next_stable(Duration::from_millis(u64::MAX / 2)) > Duration::from_secs(1));
        assert!(may_hold_later(Duration::ZERO) && !may_hold_later(DECIDED));
    }
}
