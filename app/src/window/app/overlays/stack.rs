//! The overlays over the panes, as one stack. They are painted from the lowest to the topmost. Keys, text and the
//! mouse go from the topmost overlay down, until an open overlay handles them.
//!
//! Owns the order of overlays, and the rule above. A new overlay needs an [`Overlay`] and an entry in [`STACK`]; there
//! is no other list of overlays.

use std::time::Instant;

use unterm_mux::PaneId;

use crate::window::{
    app::{
        App,
        overlays::{
            copy_mode::CopyModeLayer,
            debug::DebugLayer,
            layer::Layer,
            passive::{BlocksLayer, LinkLayer, SequenceLayer, TooltipLayer},
            toast::ToastsLayer,
        },
    },
    cx::Cx,
    input::pointer::wheel::whole_notches,
    overlays::{
        Overlays,
        canvas::Canvas,
        overlay::{Handled, Overlay, Press},
        taker::Taker,
    },
    redraw::Redraw,
    surface::{Surface, plan::Drawn},
};

/// A place in the stack.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Layer(&'static dyn Layer),
    Questions,
    Hints,
    Search,
    Picker,
    Menu,
}

/// All overlays, from the lowest to the topmost.
const STACK: [Place; 12] = [
    Place::Layer(&CopyModeLayer),
    Place::Layer(&BlocksLayer),
    Place::Layer(&LinkLayer),
    Place::Search,
    Place::Hints,
    Place::Layer(&TooltipLayer),
    Place::Layer(&ToastsLayer),
    Place::Layer(&SequenceLayer),
    Place::Picker,
    Place::Menu,
    Place::Layer(&DebugLayer),
    Place::Questions,
];

/// The overlay at a place. `None` if it is not open.
fn overlay(overlays: &Overlays, place: Place) -> Option<&dyn Overlay> {
    match place {
        Place::Layer(_) => None,
        Place::Questions => overlays.open_questions().map(|it| it as &dyn Overlay),
        Place::Hints => overlays.hints.as_ref().map(|it| it as &dyn Overlay),
        Place::Search => overlays.search.as_ref().map(|search| search as &dyn Overlay),
        Place::Picker => overlays.picker.as_ref().map(|picker| picker as &dyn Overlay),
        Place::Menu => overlays.menu.as_ref().map(|menu| menu as &dyn Overlay),
    }
}

fn overlay_mut(overlays: &mut Overlays, place: Place) -> Option<&mut dyn Overlay> {
    Some(match place {
        Place::Layer(_) => return None,
        Place::Questions => {
            overlays.open_questions()?;
            &mut overlays.questions
        }
        Place::Hints => overlays.hints.as_mut()?,
        Place::Search => overlays.search.as_mut()?,
        Place::Picker => overlays.picker.as_mut()?,
        Place::Menu => overlays.menu.as_mut()?,
    })
}

pub(crate) fn draw(drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
    for place in STACK {
        let below = (canvas.scene.quads.len(), canvas.scene.labels.len());
        let mut is_raised = false;
        if let Place::Layer(layer) = place {
            layer.draw(drawn, canvas);
            is_raised = layer.is_raised();
        } else if let Some(overlay) = overlay(drawn.overlays, place) {
            overlay.draw(canvas);
            is_raised = overlay.is_raised();
        }
        let above = (canvas.scene.quads.len(), canvas.scene.labels.len());
        if is_raised && above != below {
            canvas.scene.raised.push(below);
        }
    }
}

impl App {
    /// Whether the overlay at a place is open and receives input.
    fn has_input(&self, place: Place, focused: Option<PaneId>) -> bool {
        match place {
            Place::Layer(layer) => layer.is_open(self),
            place => {
                overlay(&self.overlays, place).is_some_and(|overlay| overlay.has_input(focused))
            }
        }
    }

    /// The places of the overlays that receive input, from the topmost down.
    fn with_input(&self) -> impl Iterator<Item = Place> + '_ {
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        STACK.into_iter().rev().filter(move |place| self.has_input(*place, focused))
    }

    /// Lends an overlay what it needs to handle an event. Then carries out its requests. Returns `None` if the overlay
    /// is not open.
    fn lend_to<R>(
        &mut self,
        place: Place,
        handle: impl FnOnce(&mut dyn Overlay, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        self.lend_parts(place, |overlays, cx| Some(handle(overlay_mut(overlays, place)?, cx)))
    }

    /// Lends the overlays what they need. Then closes the overlay at `place` if it asked for that, and carries out its
    /// requests.
    pub(crate) fn lend_parts<R>(
        &mut self,
        place: Place,
        run: impl FnOnce(&mut Overlays, &mut Cx<'_>) -> R,
    ) -> R {
        let now = Instant::now();
        let clock = self.clock(now);
        let Self { mux, inbox, prefs, workspace, input, overlays, effects, surface, .. } = self;
        let Surface { geometry, renderer, .. } = &mut **surface;
        let mut cx = Cx {
            now,
            clock,
            mux,
            inbox,
            prefs,
            geometry: *geometry,
            renderer,
            views: &mut workspace.views,
            pointer: &mut input.pointer,
            effects,
            wishes: Vec::new(),
            closes: false,
        };
        let result = run(overlays, &mut cx);
        let Cx { wishes, closes, .. } = cx;
        if closes {
            self.close_overlay(place);
        }
        wishes.into_iter().for_each(|wish| self.grant(wish));
        result
    }

    fn close_overlay(&mut self, place: Place) {
        match place {
            Place::Layer(_) => {}
            Place::Questions => {}
            Place::Hints => self.overlays.hints = None,
            Place::Search => self.close_search(),
            Place::Picker => self.overlays.picker = None,
            Place::Menu => self.overlays.menu = None,
        }
    }

    /// Offers an input to the open overlays, from the topmost down, until one handles it. Returns whether an overlay
    /// handled it.
    fn ask_overlays(
        &mut self,
        mut old: impl FnMut(&dyn Layer, &mut Self) -> bool,
        mut ask: impl FnMut(&mut dyn Overlay, &mut Cx<'_>) -> Handled,
    ) -> bool {
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        STACK.into_iter().rev().any(|place| {
            if !self.has_input(place, focused) {
                return false;
            }
            if let Place::Layer(layer) = place {
                return old(layer, self);
            }
            self.surface.pacing.ask();
            self.lend_to(place, &mut ask) == Some(Handled::Yes)
        })
    }

    /// The place of the topmost open overlay that receives the mouse.
    fn overlay_with_mouse(&self) -> Option<Place> {
        self.with_input().find(|place| match place {
            Place::Layer(layer) => layer.has_mouse(),
            place => overlay(&self.overlays, *place).is_some_and(|overlay| overlay.has_mouse()),
        })
    }

    /// Whether an overlay prevents the panes from receiving the mouse.
    pub(crate) fn has_overlay(&self) -> bool {
        self.overlay_with_mouse().is_some()
    }

    /// Whether an overlay draws anything that would become outdated in a frame in which only text changes.
    pub(crate) fn lies_something_over_text(&self) -> bool {
        STACK.into_iter().any(|place| match place {
            Place::Layer(layer) => layer.lies_over_text(self),
            place => overlay(&self.overlays, place).is_some_and(|overlay| overlay.lies_over_text()),
        })
    }

    /// The part of the window that receives text from input methods.
    pub(crate) fn taker(&self) -> Taker {
        let taker = |place| match place {
            Place::Layer(layer) => layer.taker(),
            place => overlay(&self.overlays, place)?.taker(),
        };
        self.with_input().find_map(taker).unwrap_or(Taker::Pane)
    }

    /// Offers a key to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_key(&mut self, press: &Press<'_>) -> bool {
        self.ask_overlays(|layer, app| layer.key(app, press), |overlay, cx| overlay.key(press, cx))
    }

    /// Offers text that was not typed by a key to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_text(&mut self, text: &str) -> bool {
        self.ask_overlays(|layer, app| layer.text(app, text), |overlay, cx| overlay.text(text, cx))
    }

    /// Offers a button press to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_press(&mut self) -> bool {
        self.ask_overlays(|layer, app| layer.press(app), |overlay, cx| overlay.press(cx))
    }

    /// Reports the release of a button to the open overlays.
    pub(crate) fn overlay_release(&mut self) {
        self.ask_overlays(
            |_, _| false,
            |overlay, cx| {
                overlay.release(cx);
                Handled::No
            },
        );
    }

    /// Offers a move of the mouse to the open overlays. Returns whether an overlay handled it.
    pub(crate) fn overlay_point(&mut self, x: f64, y: f64) -> bool {
        if !self.has_overlay() {
            return false;
        }
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        STACK.into_iter().rev().any(|place| {
            if !self.has_input(place, focused) {
                return false;
            }
            if let Place::Layer(layer) = place {
                return layer.point(self, x, y);
            }
            let Some((handled, redraw)) =
                self.lend_to(place, |overlay, cx| overlay.point(x, y, cx))
            else {
                return false;
            };
            if redraw == Redraw::Whole {
                self.surface.pacing.ask();
            }
            handled == Handled::Yes
        })
    }

    /// Passes the wheel to the topmost overlay that receives the mouse. Returns false if there is none. `y` is in
    /// notches or lines, and 0 for a horizontal turn.
    pub(crate) fn overlay_wheel(&mut self, y: f64) -> bool {
        let Some(place) = self.overlay_with_mouse() else { return false };
        let steps = whole_notches(&mut self.input.pointer.wheel.1, y);
        for _ in 0..steps.unsigned_abs() {
            match place {
                Place::Layer(layer) => layer.wheel(self, steps > 0),
                place => {
                    self.surface.pacing.ask();
                    self.lend_to(place, |overlay, cx| overlay.wheel(steps > 0, cx));
                }
            }
        }
        true
    }
}
