//! Frames in which only the text of panes changed, such as a key's echo: everything around and over the text is kept
//! from the frame before, which saves most of a frame's cost.
//!
//! Owns the state that must be unchanged for that.

use std::{sync::Arc, time::Instant};

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::PaneScene;
use unterm_term::{LineId, Palette, ScreenKind, Size};

use super::{App, view::View};

/// The state that a whole frame showed, except the panes' text.
pub(super) struct Around {
    layout: Arc<Layout>,
    placed: Vec<(PaneId, Rect)>,
    outlines: Vec<Outline>,
}

impl Around {
    /// Whether the frame showed a pane.
    pub(super) fn has(&self, pane: PaneId) -> bool {
        self.placed.iter().any(|(id, _)| *id == pane)
    }
}

/// What bars, marks and colours show of a pane that is not scrolled.
#[derive(Clone, Debug, PartialEq)]
struct Outline {
    screen: ScreenKind,
    size: Size,
    /// The first line of its history, and the first line of its screen.
    lines: (LineId, LineId),
    /// The change counter of the visible commands.
    blocks: u64,
    palette: Arc<Palette>,
}

impl View {
    fn outline(&self) -> Option<Outline> {
        let snapshot = &self.snapshot;
        let is_plain = self.top.is_none()
            && self.copy.is_none()
            && self.folds.is_empty()
            && self.flash.is_none();
        is_plain.then(|| Outline {
            screen: snapshot.screen,
            size: snapshot.size,
            lines: (snapshot.oldest, snapshot.live_top),
            blocks: self.blocks.changes(),
            palette: Arc::clone(&snapshot.palette),
        })
    }
}

impl App {
    /// Stores what a whole frame showed, if the next frame can reuse it.
    pub(super) fn note_around(&mut self, layout: Arc<Layout>, placed: Vec<(PaneId, Rect)>) {
        let is_plain = self.search.is_none()
            && self.hints.is_none()
            && self.picker.is_none()
            && self.menu.is_none()
            && self.debug.is_none()
            && !self.questions.is_open()
            && self.toasts.is_empty()
            && self.hovered.is_none()
            && self.preedit.is_none()
            && self.pane_hand.broadcast.panes(&layout).is_empty()
            && !self.shows_bars(&placed);
        let outlines = || placed.iter().map(|(id, _)| self.views.get(id)?.outline()).collect();
        self.around =
            is_plain.then(outlines).flatten().map(|outlines| Around { layout, placed, outlines });
    }

    /// Paints the panes' text if nothing else changed. If `on_reader`, the caller is a pane's reader thread, which paints
    /// only small changes. False if nothing was painted.
    pub(super) fn paint_text(&mut self, now: Instant, on_reader: bool) -> bool {
        let Some(around) = self.around.take() else { return false };
        if !Arc::ptr_eq(&around.layout, &self.mux.layout()) {
            return false;
        }
        self.refresh_views(&around.placed, now);
        let is_same = |((id, _), before): (&(PaneId, Rect), &Outline)| {
            self.views.get(id).and_then(View::outline).is_some_and(|outline| outline == *before)
        };
        if !around.placed.iter().zip(&around.outlines).all(is_same) {
            return false;
        }
        let blink_on = self.blink(&around.placed, now);
        let Some(look) = self.pane_look(&around.layout, blink_on) else { return false };
        let Some(screen) = &mut self.screen else { return false };
        let scene = |(id, area): &(PaneId, Rect)| Some(look.scene(*id, *area, self.views.get(id)?));
        let panes: Vec<PaneScene<'_>> = around.placed.iter().filter_map(scene).collect();
        self.renderer.frame_with_panes(&panes);
        let presented = screen.present_text(&mut self.renderer, on_reader);
        let is_shown = presented.unwrap_or_else(|error| {
            self.failure = Some(error.into());
            true
        });
        if !is_shown {
            self.around = Some(around);
            return false;
        }
        self.tell_readers(&around.layout, &around.placed);
        self.tell_ime(&around.layout, &around.placed, None);
        self.around = Some(around);
        true
    }
}
