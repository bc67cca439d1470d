//! The mouse wheel: reports turns to the program, or scrolls the pane.

use unterm_mux::{PaneId, input};
use unterm_term::MouseTracking;
use winit::event::MouseScrollDelta;

use crate::action::MouseInput;
use crate::window::{
    app::App, input::send::send, redraw::Redraw, surface::x_server, workspace::mouse_report,
};

impl App {
    /// Whether a wheel event of winit is the release of a wheel button. Such an event must not scroll.
    pub(crate) fn is_wheel_release(&mut self, delta: MouseScrollDelta) -> bool {
        let screen = self.surface.screen.as_ref();
        if screen.and_then(|screen| x_server::id(&screen.window)).is_none() {
            return false;
        }
        let pointers = &mut self.surface.pointers;
        let has_valuators = || pointers.have_scroll_valuators();
        self.input.pointer.wheel_buttons.is_release(delta, self.now, has_valuators)
    }

    /// Handles the wheel or a touch pad: reports notches to the program, or scrolls the view. Returns the frame that is
    /// due.
    pub(crate) fn wheel(&mut self, delta: MouseScrollDelta) -> Redraw {
        if self.tab_bar_part().is_some() && !self.has_overlay() {
            self.with_parts(|parts, cx| parts.chrome.tabs.turn_wheel(delta, cx));
            return Redraw::Whole;
        }
        let (_, height) = self.surface.cell();
        let (x, y, per_notch) = match delta {
            MouseScrollDelta::LineDelta(x, y) => {
                (f64::from(x), f64::from(y), f64::from(self.prefs.config.mouse.scroll_lines))
            }
            MouseScrollDelta::PixelDelta(at) => {
                (at.x / f64::from(height), at.y / f64::from(height), 1.0)
            }
        };
        if self.overlay_wheel(y) {
            return Redraw::Whole;
        }
        let Some(target) = self.target() else { return Redraw::No };
        let Some(pane) = self.mux.pane(target.id) else { return Redraw::No };
        self.input.pointer.wheel.0 += x;
        self.input.pointer.wheel.1 += y;
        let (columns, notches) =
            (self.input.pointer.wheel.0.trunc(), self.input.pointer.wheel.1.trunc());
        let (tracking, modes) = {
            let term = pane.term();
            (term.mouse_tracking(), term.modes())
        };
        if tracking != MouseTracking::Off && !self.input.modifiers.shift_key() {
            self.input.pointer.wheel =
                (self.input.pointer.wheel.0 - columns, self.input.pointer.wheel.1 - notches);
            self.with_parts(|_, cx| {
                mouse_report::report_wheel(&target, columns as i32, notches as i32, cx);
            });
            return Redraw::No;
        }
        self.input.pointer.wheel.0 = 0.0;
        if self.bound_wheel(target.id, notches as i32) {
            self.input.pointer.wheel.1 -= notches;
            return Redraw::Whole;
        }
        let per_notch = per_notch * f64::from(self.prefs.config.mouse.scroll_multiplier);
        let Some(view) = self.workspace.views.get_mut(&target.id) else { return Redraw::No };
        // Programs receive whole lines. The history scrolls by pixels.
        let unit = if view.is_alternate() { 1.0 } else { f64::from(height) };
        let turned = (self.input.pointer.wheel.1 * per_notch * unit).trunc();
        self.input.pointer.wheel.1 -= turned / (per_notch * unit);
        let turned = turned as i64;
        if turned == 0 {
            return Redraw::No;
        }
        if !view.is_alternate() {
            view.scroll_pixels(-turned, height);
            return Redraw::Whole;
        }
        if let Some(bytes) = input::encode_alternate_scroll(turned as i32, modes) {
            send(&pane, &bytes);
        }
        Redraw::No
    }

    /// Runs the actions that are bound to the wheel, once for each notch. Returns false if no action is bound.
    fn bound_wheel(&mut self, pane: PaneId, notches: i32) -> bool {
        let is_up = self.input.pointer.wheel.1 > 0.0;
        let input = if is_up { MouseInput::WheelUp } else { MouseInput::WheelDown };
        if self.mouse_actions(input, pane).is_none() {
            return false;
        }
        for _ in 0..notches.unsigned_abs().min(20) {
            self.bound_mouse(input, pane);
        }
        true
    }
}
