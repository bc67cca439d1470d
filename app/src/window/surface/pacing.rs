//! Frame pacing: decides when the window paints.

use std::time::{Duration, Instant};

use crate::window::redraw::Redraw;

/// Decides when to paint after a change: at once after a pause, and at most once per screen refresh under continuous
/// output.
#[derive(Debug)]
pub(crate) struct Pacing {
    asked: bool,
    /// Whether more than the text of visible panes may have changed, so that the next frame must be a whole frame.
    is_whole: bool,
    /// The earliest time of the next frame.
    not_before: Option<Instant>,
    interval: Duration,
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            asked: false,
            is_whole: false,
            not_before: None,
            interval: Duration::from_nanos(16_666_667),
        }
    }
}

impl Pacing {
    pub(crate) fn set_refresh_rate(&mut self, millihertz: Option<u32>) {
        if let Some(rate) = millihertz.filter(|rate| (10_000..=1_000_000).contains(rate)) {
            self.interval = Duration::from_nanos(1_000_000_000_000 / u64::from(rate));
        }
    }

    /// Requests the frame that an event requires.
    pub(crate) fn request(&mut self, redraw: Redraw) {
        match redraw {
            Redraw::No => {}
            Redraw::Text => self.ask_for_text(),
            Redraw::Whole => self.ask(),
        }
    }

    /// Requests a whole frame.
    fn ask(&mut self) {
        self.asked = true;
        self.is_whole = true;
    }

    /// Requests a frame because a visible pane has new output.
    fn ask_for_text(&mut self) {
        self.asked = true;
    }

    /// Whether the pending frame must be a whole frame.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.asked && self.not_before.is_none_or(|time| now >= time)
    }

    /// Whether a frame is requested and not yet painted.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked
    }

    /// Whether no frame is pending, and a frame requested now would be painted at once.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        !self.asked && self.not_before.is_none_or(|time| now >= time)
    }

    /// The earliest time of the pending frame; `None` if it is due at once, or no frame is pending.
    pub(crate) fn next(&self) -> Option<Instant> {
        if self.asked { self.not_before } else { None }
    }

    /// Records that a frame is painted now, or that it is dropped because the window is out of sight. After a pause,
    /// one more frame may follow at once: the frame of a key's echo follows the frame of the key press. Later frames
    /// keep the interval.
    pub(crate) fn painted(&mut self, now: Instant) {
        self.asked = false;
        self.is_whole = false;
        let earliest = now - self.interval.min(Duration::from_millis(20));
        let from = self.not_before.map_or(earliest, |time| time.max(earliest));
        self.not_before = Some(from + self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_pictures_are_immediate_and_a_flood_keeps_the_interval() {
        let mut pacing = Pacing::default();
        let start = Instant::now() + Duration::from_secs(1);
        let mut painted = 0;
        for millisecond in 0..1000 {
            let now = start + Duration::from_millis(millisecond);
            pacing.ask();
            if pacing.is_due(now) {
                pacing.painted(now);
                painted += 1;
            }
            if millisecond == 1 {
                assert_eq!(painted, 2, "the echo of a key does not wait");
            }
        }
        assert!((55..=62).contains(&painted), "{painted} pictures in a second at 60 Hz");
    }

    #[test]
    fn a_picture_of_text_is_a_whole_one_once_more_is_asked_for() {
        let (mut pacing, now) = (Pacing::default(), Instant::now());
        assert!(pacing.is_idle(now));
        pacing.ask_for_text();
        assert!(pacing.is_due(now) && !pacing.is_whole() && !pacing.is_idle(now));
        pacing.ask();
        pacing.ask_for_text();
        assert!(pacing.is_whole());
        pacing.painted(now);
        pacing.ask_for_text();
        assert!(!pacing.is_whole(), "what was painted is no more asked for");
    }

    #[test]
    fn nothing_is_due_that_nobody_asked_for() {
        let pacing = Pacing::default();
        assert!(!pacing.is_due(Instant::now()));
        assert_eq!(pacing.next(), None);
    }
}
