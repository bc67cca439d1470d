//! Slows down attempts with wrong tokens. Each further wrong token on a connection is answered later, and all
//! connections together get only a few answers per second. Correct tokens are never delayed.
//!
//! A connection's own delay is much shorter than the time for login, so that a client can try several tokens on one
//! connection. A longer delay would not stop an attacker, who can open more connections. The common limit of all
//! connections stops such an attacker.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The throttle that all connections of a server share.
#[derive(Default)]
pub struct Throttle {
    /// The time when the next wrong token may be answered. `None` before the first wrong token.
    next: Mutex<Option<Instant>>,
}

/// The delay of a connection's first wrong token. Each further wrong token doubles the delay, up to `LONGEST_OWN`.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST_OWN: Duration = Duration::from_millis(400);
/// The minimum time between the answers to any two wrong tokens.
const APART: Duration = Duration::from_millis(20);
/// The maximum delay that is caused by wrong tokens on other connections.
const LONGEST: Duration = Duration::from_secs(5);

impl Throttle {
    /// The time to wait before the `count`th wrong token of a connection is answered.
    pub fn delay(&self, count: u32) -> Duration {
        self.delay_at(Instant::now(), count)
    }

    fn delay_at(&self, now: Instant, count: u32) -> Duration {
        let own = FIRST.saturating_mul(1 << count.saturating_sub(1).min(10)).min(LONGEST_OWN);
        let mut next = self.next.lock();
        let at = next.map_or(now, |next| next.max(now));
        // The time is limited, so that a flood of wrong tokens does not move it far into the future.
        *next = Some((at + APART).min(now + LONGEST));
        own.max(at - now).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::limits::LoginLimits;

    #[test]
    fn each_wrong_token_delays_a_connection_longer() {
        let throttle = Throttle::default();
        let now = Instant::now();
        let waits: Vec<_> = (1..=6).map(|n| throttle.delay_at(now, n).as_millis()).collect();
        assert_eq!(waits, [50, 100, 200, 400, 400, 400]);
        assert_eq!(throttle.delay_at(now, u32::MAX), LONGEST_OWN);
    }

    #[test]
    fn a_connection_can_try_several_tokens_before_its_timeout() {
        let throttle = Throttle::default();
        let (mut now, mut tries) = (Instant::now(), 0);
        let end = now + LoginLimits::default().time;
        while now < end {
            tries += 1;
            now += throttle.delay_at(now, tries);
        }
        assert!(tries > 20, "{tries}");
    }

    #[test]
    fn many_connections_share_one_limited_rate() {
        let throttle = Throttle::default();
        let now = Instant::now();
        let waits: Vec<_> = (0..300).map(|_| throttle.delay_at(now, 1)).collect();
        assert_eq!(waits[0], FIRST);
        assert_eq!(waits[100], APART * 100);
        assert_eq!(waits[299], LONGEST);
        assert_eq!(throttle.delay_at(now + Duration::from_secs(10), 1), FIRST);
    }
}
