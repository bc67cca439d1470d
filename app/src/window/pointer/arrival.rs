//! Presses that focus the window: such a press is not a click on what lies under the pointer.
//!
//! Depending on the desktop, the press comes before or after the focus event. Between them the pointer does not move.

use std::time::{Duration, Instant};

use super::Pointer;

/// A press within this time after focus counts as the press that focused the window, even if the window is busy.
const TOGETHER: Duration = Duration::from_millis(300);

/// The window gained focus.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    at: Instant,
    /// The pointer's position at that time, once it is known.
    place: Option<(f64, f64)>,
}

impl Pointer {
    /// Notes that the window gained or lost focus.
    pub(in crate::window) fn keyboard_moved(&mut self, focused: bool, now: Instant) {
        self.arrival = focused.then_some(Arrival { at: now, place: self.position });
    }

    /// Notes the pointer's position. If the pointer moved since the window gained focus, the next press is a click.
    pub(super) fn is_at(&mut self, x: f64, y: f64) {
        let Some(arrival) = &mut self.arrival else { return };
        match arrival.place {
            None => arrival.place = Some((x, y)),
            // Some X11 events round positions to whole pixels.
            Some((was_x, was_y)) if (x - was_x).abs() < 1.0 && (y - was_y).abs() < 1.0 => {}
            Some(_) => self.arrival = None,
        }
    }

    /// Handles a press, and returns whether it is the press that focuses the window.
    pub(super) fn arrives_by_press(&mut self, focused: bool, now: Instant) -> bool {
        let arrival = self.arrival.take();
        let is_fresh = |arrival: Arrival| now.saturating_duration_since(arrival.at) < TOGETHER;
        !focused || arrival.is_some_and(is_fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(5);

    #[test]
    fn the_press_that_comes_with_the_keyboard_arrives_and_the_next_one_does_not() {
        let (mut pointer, now) = (Pointer::default(), Instant::now());
        pointer.keyboard_moved(true, now);
        // X11 reports the position again, even if the pointer had left the window.
        pointer.is_at(20.0, 30.0);
        pointer.is_at(20.4, 30.4);
        assert!(pointer.arrives_by_press(true, now + MOMENT));
        assert!(!pointer.arrives_by_press(true, now + 2 * MOMENT));

        pointer.keyboard_moved(false, now);
        assert!(pointer.arrives_by_press(false, now), "the keyboard comes behind it");
    }

    #[test]
    fn a_press_that_is_aimed_at_something_is_a_click() {
        let (mut pointer, now) = (Pointer::default(), Instant::now());
        pointer.position = Some((20.0, 30.0));
        pointer.keyboard_moved(true, now);
        pointer.is_at(26.0, 30.0);
        assert!(!pointer.arrives_by_press(true, now + MOMENT), "the pointer went on");

        pointer.keyboard_moved(true, now);
        assert!(!pointer.arrives_by_press(true, now + TOGETHER), "the person looked first");
    }
}
