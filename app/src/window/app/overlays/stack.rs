//! Offers input to the overlays.

use crate::window::{
    app::App,
    cx::Cx,
    input::pointer::wheel::whole_notches,
    overlays::{
        overlay::{Handled, Overlay, Press},
        text_target::TextTarget,
    },
    redraw::Redraw,
    surface::stack::{OverlayParts, OverlayPlace, STACK, close, overlay_mut},
};

impl App {
    fn parts(&self) -> OverlayParts<'_> {
        OverlayParts {
            views: &self.workspace.views,
            input: &self.input,
            overlays: &self.overlays,
            chrome: &self.chrome,
            focused: self.mux.layout().active_tab().map(|tab| tab.focused),
        }
    }

    /// The overlay at a place in the stack, if it is open and receives input.
    fn overlay_with_input(&self, place: OverlayPlace) -> Option<&dyn Overlay> {
        let parts = self.parts();
        parts.overlay(place).filter(|overlay| overlay.has_input(parts.focused))
    }

    /// Lends an overlay what it needs to handle an event. Then closes the overlay if it asked for that, and carries out
    /// its requests. Returns `None` if the overlay handles no input.
    fn lend_to<R>(
        &mut self,
        place: OverlayPlace,
        handle: impl FnOnce(&mut dyn Overlay, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        self.with_parts(|parts, cx| {
            let result = match place {
                OverlayPlace::CopyMode => {
                    let focused = cx.focused()?;
                    let mut view = cx.views.remove(&focused)?;
                    let result = handle(&mut view, cx);
                    cx.views.insert(focused, view);
                    result
                }
                place => handle(overlay_mut(parts.overlays, parts.chrome, place)?, cx),
            };
            if std::mem::take(&mut cx.closes) {
                close(parts.overlays, place);
            }
            Some(result)
        })
    }

    /// Offers an input to the open overlays, from the topmost down, until one handles it. Returns whether an overlay
    /// handled it.
    fn ask_overlays(
        &mut self,
        mut ask: impl FnMut(&mut dyn Overlay, &mut Cx<'_>) -> Handled,
    ) -> bool {
        STACK.into_iter().rev().any(|place| {
            self.overlay_with_input(place).is_some()
                && self.lend_to(place, &mut ask) == Some(Handled::Yes)
        })
    }

    /// The place of the topmost open overlay that receives the mouse.
    fn overlay_with_mouse(&self) -> Option<OverlayPlace> {
        let mut all = STACK.into_iter().rev();
        all.find(|place| self.overlay_with_input(*place).is_some_and(|it| it.has_mouse()))
    }

    /// Whether an overlay prevents the panes from receiving the mouse.
    pub(crate) fn has_overlay(&self) -> bool {
        self.overlay_with_mouse().is_some()
    }

    /// Whether an overlay draws anything that would become outdated in a frame in which only text changes.
    pub(crate) fn lies_something_over_text(&self) -> bool {
        let parts = self.parts();
        STACK.into_iter().filter_map(|place| parts.overlay(place)).any(|it| it.lies_over_text())
    }

    /// The part of the window that receives text from input methods.
    pub(crate) fn text_target(&self) -> TextTarget {
        let mut all = STACK.into_iter().rev();
        all.find_map(|place| self.overlay_with_input(place)?.text_target())
            .unwrap_or(TextTarget::Pane)
    }

    /// Offers a key to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_key(&mut self, press: &Press<'_>) -> bool {
        self.ask_overlays(|overlay, cx| overlay.key(press, cx))
    }

    /// Offers text that was not typed by a key to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_text(&mut self, text: &str) -> bool {
        self.ask_overlays(|overlay, cx| overlay.text(text, cx))
    }

    /// Offers a button press to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_press(&mut self) -> bool {
        self.ask_overlays(|overlay, cx| overlay.press(cx))
    }

    /// Reports the release of a button to the open overlays.
    pub(crate) fn overlay_release(&mut self) {
        self.ask_overlays(|overlay, cx| {
            overlay.release(cx);
            Handled::No
        });
    }

    /// Offers a move of the mouse to the open overlays. Returns whether an overlay handled it, and the frame that is due.
    pub(crate) fn overlay_point(&mut self, x: f64, y: f64) -> (bool, Redraw) {
        if !self.has_overlay() {
            return (false, Redraw::No);
        }
        let mut due = Redraw::No;
        let is_handled = self.ask_overlays(|overlay, cx| {
            let (handled, redraw) = overlay.point(x, y, cx);
            due = due.max(redraw);
            handled
        });
        (is_handled, due)
    }

    /// Passes the wheel to the topmost overlay that receives the mouse. Returns false if there is none. `y` is in
    /// notches or lines, and 0 for a horizontal turn.
    pub(crate) fn overlay_wheel(&mut self, y: f64) -> bool {
        let Some(place) = self.overlay_with_mouse() else { return false };
        let steps = whole_notches(&mut self.input.pointer.wheel.1, y);
        for _ in 0..steps.unsigned_abs() {
            self.lend_to(place, |overlay, cx| overlay.wheel(steps > 0, cx));
        }
        true
    }
}
