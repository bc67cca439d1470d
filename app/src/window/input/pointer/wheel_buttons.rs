//! Wheels on X11 that work as buttons: each notch is a press and a release, and winit 0.30 reports each of the two as
//! a notch.
//!
//! Pointers with scroll valuators (XInput 2.1) report each notch once. Pointers without them (XTEST, VNC, xpra) cause
//! two events per notch, so every second event in a direction is a release. Owns the state that decides which events
//! are releases.

use std::time::{Duration, Instant};

use winit::event::MouseScrollDelta;

/// The time for which an answer of the X server about the current pointer is reused.
const HOLDS: Duration = Duration::from_secs(1);

/// The wheel's buttons that are down, and whether the current pointer has scroll valuators.
#[derive(Debug, Default)]
pub(crate) struct WheelButtons {
    /// Whether each button is down: up, down, left and right.
    down: [bool; 4],
    asked: Option<(Instant, bool)>,
}

impl WheelButtons {
    /// Whether a wheel event is the release of a wheel button. `has_valuators` queries the X server whether the
    /// current pointer has scroll valuators.
    pub(crate) fn is_release(
        &mut self,
        delta: MouseScrollDelta,
        now: Instant,
        has_valuators: impl FnOnce() -> bool,
    ) -> bool {
        let MouseScrollDelta::LineDelta(x, y) = delta else { return false };
        // A wheel button turns the wheel by exactly one notch, in one direction.
        let button = match (x, y) {
            (0.0, 1.0) => 0,
            (0.0, -1.0) => 1,
            (1.0, 0.0) => 2,
            (-1.0, 0.0) => 3,
            _ => return false,
        };
        if self.down[button] {
            self.down[button] = false;
            return true;
        }
        let known = self.asked.filter(|(at, _)| now.saturating_duration_since(*at) < HOLDS);
        let (_, has_valuators) =
            *self.asked.insert(known.unwrap_or_else(|| (now, has_valuators())));
        self.down[button] = !has_valuators;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: MouseScrollDelta = MouseScrollDelta::LineDelta(0.0, 1.0);
    const DOWN: MouseScrollDelta = MouseScrollDelta::LineDelta(0.0, -1.0);
    const LEFT: MouseScrollDelta = MouseScrollDelta::LineDelta(1.0, 0.0);

    #[test]
    fn each_press_of_a_wheel_button_is_one_notch() {
        let (mut buttons, now) = (WheelButtons::default(), Instant::now());
        let mut counts = |delta| !buttons.is_release(delta, now, || false);
        assert_eq!([UP, UP, UP, UP].map(&mut counts), [true, false, true, false]);
        // Several wheel buttons are held down together.
        let mixed = [UP, LEFT, DOWN, UP, DOWN, LEFT, LEFT, LEFT].map(&mut counts);
        assert_eq!(mixed, [true, true, true, false, false, false, true, false]);
    }

    #[test]
    fn a_wheel_with_valuators_counts_every_event() {
        let (mut buttons, mut now) = (WheelButtons::default(), Instant::now());
        let half = MouseScrollDelta::LineDelta(0.0, 0.5);
        assert!([UP, UP, half, half].iter().all(|delta| !buttons.is_release(*delta, now, || true)));
        // Later, the user turns the wheel of a different pointer.
        now += HOLDS;
        let pairs = [UP, UP].map(|delta| buttons.is_release(delta, now, || false));
        assert_eq!(pairs, [false, true]);
    }
}
