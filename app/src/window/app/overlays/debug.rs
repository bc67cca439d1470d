//! Opens the debug overlay, and passes measurements to it.

use std::time::Instant;

use crate::window::{app::App, overlays::debug::Debug};

impl App {
    /// Opens or closes the debug overlay.
    pub(crate) fn toggle_debug(&mut self) {
        self.overlays.debug = match self.overlays.debug {
            Some(_) => None,
            None => Some(Debug::default()),
        };
        self.surface.pacing.ask();
    }

    /// Starts to measure the time from a key press to the next frame.
    pub(crate) fn debug_key(&mut self) {
        if let Some(debug) = &mut self.overlays.debug {
            debug.key.get_or_insert_with(Instant::now);
        }
    }

    /// Requests a frame after a move of the mouse, because the overlay may have to show another cell.
    pub(crate) fn debug_moved(&mut self) {
        if self.overlays.debug.is_some() {
            self.surface.pacing.ask();
        }
    }

    /// Records a painted frame, and the time when its painting started.
    pub(crate) fn debug_painted(&mut self, begun: Instant) {
        if let Some(debug) = &mut self.overlays.debug {
            debug.painted(begun, self.surface.renderer.last_frame());
        }
    }
}
