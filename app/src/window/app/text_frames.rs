//! The app's side of the fast path for output. Records the content of whole frames, paints frames of text, and lends
//! the panes' readers everything that they need to paint an echo.

use std::{sync::Arc, time::Instant};

use unterm_mux::{Layout, PaneId, Rect};

use crate::window::{
    app::App,
    echo::{
        last_frame::LastFrame, reader::LentParts, text_frame::TextFrame, text_style::TextStyle,
    },
    prefs::default_cursor,
};

impl App {
    /// The style in which the panes' text is shown.
    pub(crate) fn text_style(&self) -> TextStyle {
        TextStyle {
            cursor: default_cursor(&self.prefs.config.cursor),
            options: self.prefs.config.text.options(),
            has_motion: !self.stands_still(),
            has_focus: self.input.focused,
        }
    }

    /// Borrows the parts of the window that a frame of text changes.
    pub(crate) fn text_frame(&mut self) -> TextFrame<'_> {
        let (surface, views) = (&mut *self.surface, &mut self.workspace.views);
        TextFrame { mux: &self.mux, surface, views }
    }

    /// Records the content of a whole frame, if the next frame can reuse it.
    pub(crate) fn note_around(&mut self, layout: Arc<Layout>, placed: Vec<(PaneId, Rect)>) {
        let is_covered = self.has_overlay();
        let is_plain = !self.prefs.args.whole_frames
            && !self.lies_something_over_text()
            && self.input.preedit.is_none()
            && self.workspace.broadcast.panes(&layout).is_empty()
            && !self
                .with_parts(|parts, cx| parts.chrome.scrollbars.are_shown(&placed, is_covered, cx));
        let look = self.pane_look(&layout, true).filter(|_| is_plain);
        let outline = |(id, _): &(PaneId, Rect)| self.workspace.views.get(id)?.outline();
        let outlines = || placed.iter().map(outline).collect::<Option<Vec<_>>>();
        let noted = look.and_then(|look| Some((look, outlines()?)));
        let style = self.text_style();
        self.echo.last_frame =
            noted.map(|(look, outlines)| LastFrame { layout, placed, outlines, look, style });
    }

    /// Builds a frame of the panes' text. Returns false if anything else has changed since the last whole frame, or if
    /// that frame can't be reused.
    pub(crate) fn build_text(&mut self, now: Instant) -> bool {
        let Some(mut last_frame) = self.echo.last_frame.take() else { return false };
        let is_built = self.text_frame().build(&mut last_frame, now);
        self.echo.last_frame = is_built.then_some(last_frame);
        is_built
    }

    /// Paints the panes' text if nothing else has changed. Returns false if no frame was painted.
    pub(crate) fn paint_text(&mut self, now: Instant) -> bool {
        if !self.build_text(now) || self.surface.screen.is_none() {
            return false;
        }
        self.ask_to_finish();
        self.present();
        if let Some(last_frame) = self.echo.last_frame.take() {
            self.update_readers(&last_frame.layout, &last_frame.placed);
            self.place_ime(&last_frame.layout, &last_frame.placed, None);
            self.echo.last_frame = Some(last_frame);
        }
        true
    }

    /// The time at which the event loop must wake up if no event arrives.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        let names_due = self.workspace.names.are_due().then(|| self.names_due());
        [self.surface.pacing.next(), self.surface.timer, names_due].into_iter().flatten().min()
    }

    /// Lends the panes' readers everything that they need to paint an echo, until the event loop wakes at `waits_until`
    /// or receives an event. Lends nothing if painting an echo does not suffice, because a whole frame is due or a
    /// screen reader is connected.
    pub(crate) fn lend(&mut self, waits_until: Option<Instant>) {
        let is_in_sight = self.surface.screen.as_ref().is_some_and(|screen| !screen.is_covered());
        let is_still = is_in_sight && self.input.focused && !self.surface.pacing.is_asked();
        if !is_still || self.failure.is_some() || self.system.access.has_listener() {
            return;
        }
        let Some(last_frame) = self.echo.last_frame.take() else { return };
        let names_due = self.names_due();
        let Some(surface) = self.surface.lend() else { return };
        self.echo.lend(LentParts {
            surface,
            views: std::mem::take(&mut self.workspace.views),
            last_frame: Some(last_frame),
            waits_until,
            names_due,
            has_printed: false,
            failure: None,
        });
    }

    /// Ends the loan, before the event loop does anything else.
    pub(crate) fn take_back(&mut self) {
        let Some(lent) = self.echo.take_back() else { return };
        self.surface.receive(lent.surface);
        self.workspace.views = lent.views;
        self.echo.last_frame = lent.last_frame;
        self.workspace.names.stale |= lent.has_printed;
        self.failure = self.failure.take().or(lent.failure);
    }
}
