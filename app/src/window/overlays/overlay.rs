//! The interface of overlays: which input an overlay receives, how it handles the input, and how it is drawn.
//!
//! Each overlay implements this trait in its own file. `surface/stack.rs` owns the order of overlays, and
//! `app/overlays/stack.rs` offers input to the open ones.

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};

use crate::window::{
    cx::Cx,
    input::keys::Pressed,
    overlays::{canvas::Canvas, text_target::TextTarget},
    redraw::Redraw,
};

/// A pressed key.
#[derive(Clone, Copy)]
pub(crate) struct Press<'a> {
    pub(crate) pressed: Pressed,
    pub(crate) modifiers: Modifiers,
    /// Whether the press is repeated because the key is held.
    pub(crate) is_repeat: bool,
    /// The text that the key types.
    pub(crate) text: Option<&'a str>,
}

impl Press<'_> {
    /// The key of a command. With Ctrl held, the character that the key types without modifiers.
    pub(crate) fn command_key(&self) -> Key {
        match self.pressed.unshifted {
            Some(c) if self.modifiers.contains(Modifiers::CTRL) => Key::Char(c),
            _ => self.pressed.key,
        }
    }
}

/// Whether an overlay handled an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    /// The input goes to the overlays below.
    No,
    Yes,
}

/// An overlay over the panes.
pub(crate) trait Overlay {
    /// Whether the overlay receives input. An overlay that belongs to a pane receives input only while that pane is
    /// focused.
    fn has_input(&self, _focused: Option<PaneId>) -> bool {
        true
    }

    /// Whether the overlay draws anything that would become outdated in a frame in which only text changes.
    fn lies_over_text(&self) -> bool {
        true
    }

    /// Whether the overlay is drawn in a new layer, which also covers the text of the layers below.
    fn is_raised(&self) -> bool {
        true
    }

    /// Whether the overlay prevents everything below it from receiving the mouse.
    fn has_mouse(&self) -> bool {
        false
    }

    /// The receiver of text from input methods. `None` if an overlay below, or the pane, receives the text.
    fn text_target(&self) -> Option<TextTarget> {
        None
    }

    /// Handles a key.
    fn key(&mut self, _press: &Press<'_>, _cx: &mut Cx<'_>) -> Handled {
        Handled::No
    }

    /// Handles pasted or composed text.
    fn text(&mut self, _text: &str, _cx: &mut Cx<'_>) -> Handled {
        Handled::No
    }

    /// Handles a press of a mouse button.
    fn press(&mut self, _cx: &mut Cx<'_>) -> Handled {
        Handled::No
    }

    /// Handles the release of a mouse button. The release also goes to the overlays below.
    fn release(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles a move of the mouse to a pixel of the window.
    fn point(&mut self, _x: f64, _y: f64, _cx: &mut Cx<'_>) -> (Handled, Redraw) {
        (Handled::No, Redraw::No)
    }

    /// Handles one notch of the wheel.
    fn wheel(&mut self, _up: bool, _cx: &mut Cx<'_>) {}

    fn draw(&self, canvas: &mut Canvas<'_, '_>);
}
