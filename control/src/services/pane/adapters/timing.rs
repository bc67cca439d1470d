//! Decides when to read a screen. A screen is read only after a change, so a quiet pane costs nothing.

use std::time::Duration;

use tokio::time::Instant;

/// A screen is read once it has been unchanged for this long, so that it is not read half drawn.
const QUIET: Duration = Duration::from_millis(50);
/// A screen that keeps changing is read after this time, even if it never becomes quiet.
const LONGEST: Duration = Duration::from_millis(250);
/// A screen is read again after it has been unchanged for these times, because a plugin may wait until a screen is
/// stable.
const SETTLED: [Duration; 3] =
    [Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];
/// After each call, a plugin rests for this many times the duration of the call.
const REST: u32 = 9;

/// The times that decide when a pane's screen is read next.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The newest known `seq` of the screen.
    seq: u64,
    /// The time when that `seq` was first seen.
    changed: Instant,
    /// The time of the first change since the last read.
    unread: Option<Instant>,
    /// The number of times in [`SETTLED`] that have passed since the last change.
    settled: usize,
    /// The earliest time of the next read, after which the plugin has rested.
    rested: Instant,
}

impl Timing {
    /// The timing of a screen that should be read now.
    pub fn new(now: Instant) -> Self {
        Self { seq: 0, changed: now, unread: None, settled: 0, rested: now }
    }

    /// The time since the screen last changed.
    pub fn stable(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.changed)
    }

    /// Notes the screen's `seq`.
    pub fn see(&mut self, seq: u64, now: Instant) {
        if seq > self.seq {
            (self.seq, self.changed, self.settled) = (seq, now, 0);
            self.unread.get_or_insert(now);
        }
    }

    /// Notes that the screen with this `seq` was read between these times.
    pub fn read(&mut self, seq: u64, began: Instant, ended: Instant) {
        self.see(seq, began);
        self.unread = None;
        let stable = self.stable(began);
        self.settled = SETTLED.iter().take_while(|settled| **settled <= stable).count();
        self.rested = ended + REST * ended.saturating_duration_since(began);
    }

    /// The time of the next read. `None`: the screen is read after its next change.
    pub fn due(&self) -> Option<Instant> {
        let due = match self.unread {
            Some(first) => (self.changed + QUIET).min(first + LONGEST),
            None => self.changed + *SETTLED.get(self.settled)?,
        };
        Some(due.max(self.rested))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds from `start` to the next read.
    fn due(timing: &Timing, start: Instant) -> Option<u128> {
        timing.due().map(|due| (due - start).as_millis())
    }

    #[test]
    fn a_screen_is_read_at_a_change_and_after_it_settles() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut timing = Timing::new(start);
        timing.read(4, start, start);
        assert_eq!(due(&timing, start), Some(300));
        timing.see(5, after(100));
        timing.see(5, after(120));
        assert_eq!(due(&timing, start), Some(150));
        timing.see(6, after(130));
        assert_eq!(due(&timing, start), Some(180));
        timing.read(6, after(180), after(180));
        assert_eq!((due(&timing, start), timing.stable(after(330)).as_millis()), (Some(430), 200));
        for (at, next) in [(430, Some(1130)), (1130, Some(3130)), (3130, None)] {
            timing.read(6, after(at), after(at));
            assert_eq!(due(&timing, start), next);
        }
    }

    #[test]
    fn a_screen_that_keeps_changing_is_read_now_and_then() {
        let start = Instant::now();
        let mut timing = Timing::new(start);
        timing.read(1, start, start);
        for step in 0..100 {
            timing.see(2 + step, start + Duration::from_millis(10 * step));
        }
        assert_eq!(due(&timing, start), Some(250));
    }

    #[test]
    fn a_slow_plugin_rests() {
        let start = Instant::now();
        let mut timing = Timing::new(start);
        timing.read(1, start, start + Duration::from_millis(500));
        timing.see(2, start + Duration::from_millis(500));
        assert_eq!(due(&timing, start), Some(5000));
    }
}
