//! The wheel: reported to the program, or scrolls the pane.

use unterm_mux::input::{self, MouseKind};
use unterm_term::MouseTracking;
use winit::event::MouseScrollDelta;

use super::Target;
use crate::window::{App, send};

/// Adds a turn to `rest` and takes whole notches from it, at most 20 per event. The fraction stays in `rest`.
pub(in crate::window) fn whole_notches(rest: &mut f64, turned: f64) -> i32 {
    *rest += turned;
    let notches = rest.trunc();
    *rest -= notches;
    notches.clamp(-20.0, 20.0) as i32
}

impl App {
    /// Handles the wheel or a touch pad: reports notches to the program, or scrolls the view.
    pub(in crate::window) fn wheel(&mut self, delta: MouseScrollDelta) {
        if self.tab_bar_part().is_some() && !self.has_overlay() {
            return self.tab_bar_wheel(delta);
        }
        let (_, height) = self.cell();
        let (x, y, per_notch) = match delta {
            MouseScrollDelta::LineDelta(x, y) => {
                (f64::from(x), f64::from(y), f64::from(self.config.mouse.scroll_lines))
            }
            MouseScrollDelta::PixelDelta(at) => {
                (at.x / f64::from(height), at.y / f64::from(height), 1.0)
            }
        };
        if self.overlay_wheel(y) {
            return;
        }
        let Some(target) = self.target() else { return };
        let Some(pane) = self.mux.pane(target.id) else { return };
        self.pointer.wheel.0 += x;
        self.pointer.wheel.1 += y;
        let (columns, notches) = (self.pointer.wheel.0.trunc(), self.pointer.wheel.1.trunc());
        let (tracking, modes) = {
            let term = pane.term();
            (term.mouse_tracking(), term.modes())
        };
        if tracking != MouseTracking::Off && !self.modifiers.shift_key() {
            self.pointer.wheel = (self.pointer.wheel.0 - columns, self.pointer.wheel.1 - notches);
            self.wheel_to_program(&target, columns as i32, notches as i32);
            return;
        }
        self.pointer.wheel.0 = 0.0;
        let per_notch = per_notch * f64::from(self.config.mouse.scroll_multiplier);
        let Some(view) = self.views.get_mut(&target.id) else { return };
        // Programs receive whole lines; the history scrolls by pixels.
        let unit = if view.is_alternate() { 1.0 } else { f64::from(height) };
        let turned = (self.pointer.wheel.1 * per_notch * unit).trunc();
        self.pointer.wheel.1 -= turned / (per_notch * unit);
        let turned = turned as i64;
        if turned == 0 {
            return;
        }
        if !view.is_alternate() {
            view.scroll_pixels(-turned, height);
            self.pacing.ask();
        } else if let Some(bytes) = input::encode_alternate_scroll(turned as i32, modes) {
            send(&pane, &bytes);
        }
    }

    fn wheel_to_program(&mut self, target: &Target, columns: i32, notches: i32) {
        use input::MouseButton::{WheelDown, WheelLeft, WheelRight, WheelUp};
        let turns = [
            (if notches > 0 { WheelUp } else { WheelDown }, notches),
            (if columns > 0 { WheelLeft } else { WheelRight }, columns),
        ];
        for (button, count) in turns {
            for _ in 0..count.unsigned_abs().min(20) {
                self.report_mouse(target, MouseKind::Press(button));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touch_pad_turns_a_notch_at_a_time() {
        let mut rest = 0.0;
        let turned: Vec<_> = (0..6).map(|_| whole_notches(&mut rest, 0.375)).collect();
        assert_eq!(turned, [0, 0, 1, 0, 0, 1]);
        assert_eq!(whole_notches(&mut rest, -0.5), 0, "a little back");
        assert_eq!(whole_notches(&mut rest, -3.5), -3);
        assert_eq!(rest, -0.75);
    }
}
