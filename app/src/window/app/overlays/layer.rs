//! The interface of overlays: whether an overlay is open, which input it receives, and how it is drawn.

use crate::window::{
    app::App,
    overlays::{canvas::Canvas, overlay::Press, taker::Taker},
    surface::plan::Drawn,
};

/// An overlay over the panes. The implementing types contain no state, since the parts of the window own it.
pub(crate) trait Layer: Sync {
    /// Whether the overlay is open. An overlay that belongs to a pane is open only if that pane has the focus.
    fn is_open(&self, app: &App) -> bool;

    /// Whether the overlay draws anything that would become outdated in a frame in which only text changes.
    fn lies_over_text(&self, app: &App) -> bool {
        self.is_open(app)
    }

    /// Whether the overlay is drawn in a new layer, which also covers the text of the layers below.
    fn is_raised(&self) -> bool {
        true
    }

    /// Whether the open overlay prevents everything below it from receiving the mouse.
    fn has_mouse(&self) -> bool {
        false
    }

    /// The receiver of text from input methods while the overlay is open. `None` if an overlay below, or the pane,
    /// receives the text.
    fn taker(&self) -> Option<Taker> {
        None
    }

    /// Handles a key. Returns false to pass the key to the overlays below.
    fn key(&self, _app: &mut App, _press: &Press<'_>) -> bool {
        false
    }

    /// Handles pasted or composed text. Returns false to pass the text to the overlays below.
    fn text(&self, _app: &mut App, _text: &str) -> bool {
        false
    }

    /// Handles a press of a mouse button. Returns false to pass the press to the overlays below.
    fn press(&self, _app: &mut App) -> bool {
        false
    }

    /// Handles a move of the mouse. Returns false to pass the move to the overlays below.
    fn point(&self, _app: &mut App, _x: f64, _y: f64) -> bool {
        false
    }

    /// Handles one notch of the wheel.
    fn wheel(&self, _app: &mut App, _up: bool) {}

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>);
}
