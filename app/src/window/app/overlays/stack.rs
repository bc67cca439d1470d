//! The overlays over the panes, as one stack. They are painted from the lowest to the topmost. Keys, text and the
//! mouse go from the topmost overlay down, until an open overlay handles them.
//!
//! Owns the order of overlays, and the rule above. A new overlay needs a [`Layer`] and an entry in [`STACK`]; there is
//! no other list of overlays.

use crate::window::{
    app::{
        App,
        overlays::{
            confirm::QuestionsLayer,
            copy_mode::CopyModeLayer,
            debug::DebugLayer,
            hints::HintsLayer,
            layer::{Layer, Press},
            menu::MenuLayer,
            passive::{BlocksLayer, LinkLayer, SequenceLayer, TooltipLayer},
            picker::PickerLayer,
            search::SearchLayer,
            toast::ToastsLayer,
        },
    },
    input::pointer::wheel::whole_notches,
    overlays::{canvas::Canvas, taker::Taker},
    surface::plan::Drawn,
};

/// All overlays, from the lowest to the topmost.
const STACK: [&dyn Layer; 12] = [
    &CopyModeLayer,
    &BlocksLayer,
    &LinkLayer,
    &SearchLayer,
    &HintsLayer,
    &TooltipLayer,
    &ToastsLayer,
    &SequenceLayer,
    &PickerLayer,
    &MenuLayer,
    &DebugLayer,
    &QuestionsLayer,
];

pub(crate) fn draw(drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
    for layer in STACK {
        let below = (canvas.scene.quads.len(), canvas.scene.labels.len());
        layer.draw(drawn, canvas);
        let above = (canvas.scene.quads.len(), canvas.scene.labels.len());
        if layer.is_raised() && above != below {
            canvas.scene.raised.push(below);
        }
    }
}

impl App {
    /// Calls `ask` for each open overlay, from the topmost down, until `ask` returns true. Returns false if all calls
    /// return false.
    fn ask_overlays(&mut self, mut ask: impl FnMut(&dyn Layer, &mut Self) -> bool) -> bool {
        STACK.into_iter().rev().any(|layer| layer.is_open(self) && ask(layer, self))
    }

    /// The topmost open overlay that receives the mouse.
    fn overlay_with_mouse(&self) -> Option<&'static dyn Layer> {
        STACK.into_iter().rev().find(|layer| layer.has_mouse() && layer.is_open(self))
    }

    /// Whether an overlay prevents the panes from receiving the mouse.
    pub(crate) fn has_overlay(&self) -> bool {
        self.overlay_with_mouse().is_some()
    }

    /// Whether an overlay draws anything that would become outdated in a frame in which only text changes.
    pub(crate) fn lies_something_over_text(&self) -> bool {
        STACK.into_iter().any(|layer| layer.lies_over_text(self))
    }

    /// The part of the window that receives text from input methods.
    pub(crate) fn taker(&self) -> Taker {
        let mut all = STACK.into_iter().rev();
        all.find_map(|layer| layer.taker().filter(|_| layer.is_open(self))).unwrap_or(Taker::Pane)
    }

    /// Offers a key to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_key(&mut self, press: &Press<'_>) -> bool {
        self.ask_overlays(|layer, app| layer.key(app, press))
    }

    /// Offers text that was not typed by a key to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_text(&mut self, text: &str) -> bool {
        self.ask_overlays(|layer, app| layer.text(app, text))
    }

    /// Offers a button press to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_press(&mut self) -> bool {
        self.ask_overlays(|layer, app| layer.press(app))
    }

    /// Offers a move of the mouse to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_point(&mut self, x: f64, y: f64) -> bool {
        self.has_overlay() && self.ask_overlays(|layer, app| layer.point(app, x, y))
    }

    /// Passes the wheel to the topmost overlay that receives the mouse. Returns false if there is none. `y` is in
    /// notches or lines, and 0 for a horizontal turn.
    pub(crate) fn overlay_wheel(&mut self, y: f64) -> bool {
        let Some(layer) = self.overlay_with_mouse() else { return false };
        let steps = whole_notches(&mut self.input.pointer.wheel.1, y);
        for _ in 0..steps.unsigned_abs() {
            layer.wheel(self, steps > 0);
        }
        true
    }
}
