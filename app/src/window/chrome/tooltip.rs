//! The overlay with the tooltip of the status bar's item under the pointer.

use crate::window::{
    chrome::status_bar::StatusBar,
    overlays::{canvas::Canvas, overlay::Overlay},
};

impl Overlay for StatusBar {
    /// The tooltip appears and disappears only with whole frames.
    fn lies_over_text(&self) -> bool {
        false
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        self.draw_tooltip(canvas.colors, canvas.renderer, canvas.scene);
    }
}
