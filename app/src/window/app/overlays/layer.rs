//! What an overlay is: when it is open, what it takes, and how it is drawn.

use unterm_mux::input::Modifiers;

use crate::window::{
    app::App,
    input::keys::Pressed,
    overlays::{canvas::Canvas, taker::Taker},
    surface::plan::Drawn,
};

/// A pressed key.
#[derive(Clone, Copy)]
pub(crate) struct Press<'a> {
    pub(crate) pressed: Pressed,
    pub(crate) modifiers: Modifiers,
    /// The text that the key types.
    pub(crate) text: Option<&'a str>,
}

/// An overlay over the panes. It holds no state: the parts do.
pub(crate) trait Layer: Sync {
    /// Whether the overlay is open. If it belongs to a pane, that pane must have the focus.
    fn is_open(&self, app: &App) -> bool;

    /// Whether the overlay draws something that a frame in which only text changed would leave behind.
    fn lies_over_text(&self, app: &App) -> bool {
        self.is_open(app)
    }

    /// Whether the overlay starts a new layer, which also hides the text below it.
    fn is_raised(&self) -> bool {
        true
    }

    /// Whether the overlay, while open, keeps the mouse from everything below.
    fn has_mouse(&self) -> bool {
        false
    }

    /// The receiver of input-method text while the overlay is open; `None`: an overlay below, or the pane.
    fn taker(&self) -> Option<Taker> {
        None
    }

    /// Handles a key; returns false to pass it to the overlays below.
    fn key(&self, _app: &mut App, _press: &Press<'_>) -> bool {
        false
    }

    /// Handles pasted or composed text; returns false to pass it to the overlays below.
    fn text(&self, _app: &mut App, _text: &str) -> bool {
        false
    }

    /// Handles a press of a mouse button; returns false to pass it to the overlays below.
    fn press(&self, _app: &mut App) -> bool {
        false
    }

    /// Handles a move of the mouse; returns false to pass it to the overlays below.
    fn point(&self, _app: &mut App, _x: f64, _y: f64) -> bool {
        false
    }

    /// Handles one notch of the wheel.
    fn wheel(&self, _app: &mut App, _up: bool) {}

    /// Draws the overlay.
    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>);
}
