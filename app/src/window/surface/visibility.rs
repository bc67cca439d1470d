//! Whether the user can see the window and its panes.

use std::time::Instant;

use unterm_mux::Mux;

use crate::window::surface::Surface;

impl Surface {
    /// Sets for every pane whether the window shows it.
    pub(crate) fn report_shown(&self, mux: &Mux) {
        let is_in_sight = self.screen.as_ref().is_some_and(|screen| !screen.is_hidden());
        let placed = if is_in_sight { self.placed(&mux.layout()) } else { Vec::new() };
        for pane in mux.panes() {
            pane.set_shown(placed.iter().any(|(id, _)| *id == pane.id()));
        }
    }

    /// Whether the window is out of sight. X11 reports when a window is covered, but not when it is minimized.
    /// Therefore an unfocused window that has to draw queries its state once a second.
    pub(crate) fn is_out_of_sight(&mut self, has_focus: bool, mux: &Mux, now: Instant) -> bool {
        let Some(screen) = &mut self.screen else { return true };
        if screen.is_covered() || has_focus {
            return screen.is_covered();
        }
        let (is_minimized, is_new) = screen.query_minimized(now);
        if is_new {
            self.report_shown(mux);
        }
        is_minimized
    }

    /// Makes the next frame query whether the window is minimized.
    pub(crate) fn ask_whether_minimized(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.forget_minimized();
        }
    }

    /// Sets whether the window is hidden from the user. A hidden window is not drawn.
    pub(crate) fn occlude(&mut self, occluded: bool) {
        if let Some(screen) = &mut self.screen {
            screen.set_covered(occluded);
        }
        if !occluded {
            self.redraw_whole();
        }
    }
}
