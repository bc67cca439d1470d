//! Opens the debug overlay, and feeds it.

use std::time::Instant;

use crate::window::{
    app::{App, overlays::layer::Layer},
    overlays::{
        canvas::Canvas,
        debug::{About, Debug},
    },
    surface::plan::Drawn,
};

/// The debug overlay.
pub(crate) struct DebugLayer;

impl Layer for DebugLayer {
    fn is_open(&self, app: &App) -> bool {
        app.overlays.debug.is_some()
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        let (Some(debug), Some(of)) = (&drawn.overlays.debug, &drawn.plan.debug) else { return };
        let view = |id| canvas.views.get(&id);
        let about = About {
            hovered: of.cell.and_then(|(id, col, row)| Some((view(id)?, col, row))),
            focused: drawn.plan.panes.focused.and_then(|id| Some((view(id)?, id.0))),
            painter: &of.painter,
        };
        debug.show(&about, (canvas.geometry, canvas.colors), canvas.renderer, canvas.scene);
    }
}

impl App {
    /// Opens or closes the overlay.
    pub(crate) fn toggle_debug(&mut self) {
        self.overlays.debug = match self.overlays.debug {
            Some(_) => None,
            None => Some(Debug::default()),
        };
        self.surface.pacing.ask();
    }

    /// Starts to time a key press.
    pub(crate) fn debug_key(&mut self) {
        if let Some(debug) = &mut self.overlays.debug {
            debug.key.get_or_insert_with(Instant::now);
        }
    }

    /// Repaints after a move of the mouse: the overlay may show another cell.
    pub(crate) fn debug_moved(&mut self) {
        if self.overlays.debug.is_some() {
            self.surface.pacing.ask();
        }
    }

    /// Records a painted frame, and when its painting began.
    pub(crate) fn debug_painted(&mut self, begun: Instant) {
        if let Some(debug) = &mut self.overlays.debug {
            debug.painted(begun, self.surface.renderer.last_frame());
        }
    }
}
