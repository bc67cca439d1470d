//! Paints frames in which only the text of panes changed: see [`crate::window::surface::around`].

use std::{sync::Arc, time::Instant};

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::PaneScene;

use crate::window::{
    app::App,
    surface::around::{Around, Outline},
    workspace::view::View,
};

impl App {
    /// Stores what a whole frame showed, if the next frame can reuse it.
    pub(crate) fn note_around(&mut self, layout: Arc<Layout>, placed: Vec<(PaneId, Rect)>) {
        let is_plain = !self.lies_something_over_text()
            && self.input.preedit.is_none()
            && self.workspace.panes.broadcast.panes(&layout).is_empty()
            && !self.shows_bars(&placed);
        let outlines =
            || placed.iter().map(|(id, _)| self.workspace.views.get(id)?.outline()).collect();
        self.surface.around =
            is_plain.then(outlines).flatten().map(|outlines| Around { layout, placed, outlines });
    }

    /// Paints the panes' text if nothing else changed. If `on_reader`, the caller is a pane's reader thread, which paints
    /// only small changes. False if nothing was painted.
    pub(crate) fn paint_text(&mut self, now: Instant, on_reader: bool) -> bool {
        let Some(around) = self.surface.around.take() else { return false };
        if !Arc::ptr_eq(&around.layout, &self.mux.layout()) {
            return false;
        }
        self.refresh_views(&around.placed, now);
        let is_same = |((id, _), before): (&(PaneId, Rect), &Outline)| {
            self.workspace
                .views
                .get(id)
                .and_then(View::outline)
                .is_some_and(|outline| outline == *before)
        };
        if !around.placed.iter().zip(&around.outlines).all(is_same) {
            return false;
        }
        let blink_on = self.blink(&around.placed, now);
        let Some(look) = self.pane_look(&around.layout, blink_on) else { return false };
        let Some(screen) = &mut self.surface.screen else { return false };
        let scene = |(id, area): &(PaneId, Rect)| {
            Some(look.scene(*id, *area, self.workspace.views.get(id)?))
        };
        let panes: Vec<PaneScene<'_>> = around.placed.iter().filter_map(scene).collect();
        self.surface.renderer.frame_with_panes(&panes);
        let presented = screen.present_text(&mut self.surface.renderer, on_reader);
        let is_shown = presented.unwrap_or_else(|error| {
            self.failure = Some(error.into());
            true
        });
        if !is_shown {
            self.surface.around = Some(around);
            return false;
        }
        self.tell_readers(&around.layout, &around.placed);
        self.tell_ime(&around.layout, &around.placed, None);
        self.surface.around = Some(around);
        true
    }
}
