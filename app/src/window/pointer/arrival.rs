//! Presses by which a person comes to the window: they give it the keyboard and are no clicks on what happens to lie there.
//!
//! Which comes first, the keyboard or the press, is for the desktop to choose. In between the pointer stands still.

use std::time::{Duration, Instant};

use super::Pointer;

/// What came together is taken up within this time, by a window that is busy, too.
const TOGETHER: Duration = Duration::from_millis(300);

/// The window got the keyboard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    at: Instant,
    /// Where the pointer was then, once that is known.
    place: Option<(f64, f64)>,
}

impl Pointer {
    /// The window got the keyboard, or lost it.
    pub(in crate::window) fn keyboard_moved(&mut self, focused: bool, now: Instant) {
        self.arrival = focused.then_some(Arrival { at: now, place: self.position });
    }

    /// The pointer is at a point of the window. Elsewhere than it was: what is pressed from now on is aimed at.
    pub(super) fn is_at(&mut self, x: f64, y: f64) {
        let Some(arrival) = &mut self.arrival else { return };
        match arrival.place {
            None => arrival.place = Some((x, y)),
            // Not every event of X11 tells parts of a pixel.
            Some((was_x, was_y)) if (x - was_x).abs() < 1.0 && (y - was_y).abs() < 1.0 => {}
            Some(_) => self.arrival = None,
        }
    }

    /// A button goes down, in a window that has the keyboard or not: whether that brings the person to the window.
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
        // As X11 tells it anew, also where it had left the window.
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
