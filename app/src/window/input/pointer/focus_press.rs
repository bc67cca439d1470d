//! Detects presses that focus the window. Such a press is not a click on what lies under the pointer.
//!
//! The press comes before or after the focus event, depending on the desktop. The pointer does not move between the
//! two.

use std::time::{Duration, Instant};

/// If a press follows the focus event within this time, the press counts as the cause of the focus. The time is long
/// enough for a busy window.
const TOGETHER: Duration = Duration::from_millis(300);

/// The last focus event; `None` after the next press, or after the pointer moved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FocusPress(Option<Focused>);

/// A gain of the keyboard focus.
#[derive(Clone, Copy, Debug)]
struct Focused {
    at: Instant,
    /// The pointer's position when the window gained the focus; `None` until a position is reported.
    place: Option<(f64, f64)>,
}

impl FocusPress {
    /// Records that the window gained or lost the focus while the pointer was at `place`.
    pub(crate) fn keyboard_moved(
        &mut self,
        focused: bool,
        place: Option<(f64, f64)>,
        now: Instant,
    ) {
        self.0 = focused.then_some(Focused { at: now, place });
    }

    /// Records the pointer's position. If the pointer has moved since the window gained the focus, the next press is a
    /// click.
    pub(crate) fn is_at(&mut self, x: f64, y: f64) {
        let Some(focus) = &mut self.0 else { return };
        match focus.place {
            None => focus.place = Some((x, y)),
            // Some X11 events round positions to whole pixels, so a smaller difference is no movement.
            Some((was_x, was_y)) if (x - was_x).abs() < 1.0 && (y - was_y).abs() < 1.0 => {}
            Some(_) => self.0 = None,
        }
    }

    /// Handles a press. Returns whether this press focuses the window.
    pub(crate) fn arrives_by_press(&mut self, focused: bool, now: Instant) -> bool {
        let is_fresh = |focus: Focused| now.saturating_duration_since(focus.at) < TOGETHER;
        let arrived = self.0.take();
        !focused || arrived.is_some_and(is_fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(5);

    #[test]
    fn the_press_that_focuses_is_ignored_and_the_next_is_not() {
        let (mut focus_press, now) = (FocusPress::default(), Instant::now());
        focus_press.keyboard_moved(true, None, now);
        // X11 may report the pointer's position again, even if the pointer had left the window.
        focus_press.is_at(20.0, 30.0);
        focus_press.is_at(20.4, 30.4);
        assert!(focus_press.arrives_by_press(true, now + MOMENT));
        assert!(!focus_press.arrives_by_press(true, now + 2 * MOMENT));

        focus_press.keyboard_moved(false, Some((20.4, 30.4)), now);
        assert!(focus_press.arrives_by_press(false, now), "the keyboard focus follows");
    }

    #[test]
    fn a_press_that_is_aimed_at_something_is_a_click() {
        let (mut focus_press, now) = (FocusPress::default(), Instant::now());
        focus_press.keyboard_moved(true, Some((20.0, 30.0)), now);
        focus_press.is_at(26.0, 30.0);
        assert!(!focus_press.arrives_by_press(true, now + MOMENT), "the pointer went on");

        focus_press.keyboard_moved(true, Some((26.0, 30.0)), now);
        assert!(!focus_press.arrives_by_press(true, now + TOGETHER), "the user looked first");
    }
}
