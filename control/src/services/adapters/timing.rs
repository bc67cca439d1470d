//! When to read a screen. Only changes cause reads, so a quiet pane costs nothing.

use std::time::Duration;

use tokio::time::Instant;

/// How long a screen has to be unchanged before it is read, so that it is not read half drawn.
const QUIET: Duration = Duration::from_millis(50);
/// How long a screen that keeps changing is not read.
const LONGEST: Duration = Duration::from_millis(250);
/// How long the screen has been unchanged when it is read again, since plugins may wait for that.
const SETTLED: [Duration; 3] =
    [Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];
/// A plugin rests this many times as long as its last call took.
const REST: u32 = 9;

/// When a pane's screen is read next.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The newest known `seq` of the screen.
    seq: u64,
    /// When that was seen.
    changed: Instant,
    /// When the first change came that was not read yet.
    unread: Option<Instant>,
    /// How many of the times in [`SETTLED`] are over.
    settled: usize,
    /// The earliest time of the next read.
    rested: Instant,
}

impl Timing {
    /// For a screen that is to be read now.
    pub fn new(now: Instant) -> Self {
        Self { seq: 0, changed: now, unread: None, settled: 0, rested: now }
    }

    /// For how long the screen has not changed.
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

    /// Notes that the screen of this `seq` was read between these times.
    pub fn read(&mut self, seq: u64, began: Instant, ended: Instant) {
        self.see(seq, began);
        self.unread = None;
        let stable = self.stable(began);
        self.settled = SETTLED.iter().take_while(|settled| **settled <= stable).count();
        self.rested = ended + REST * ended.saturating_duration_since(began);
    }

    /// When to read the screen. `None`: after its next change.
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
    fn a_change_is_read_when_it_is_drawn_and_again_when_it_has_settled() {
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
