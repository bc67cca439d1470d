//! The fast path for output: frames in which only the panes' text is new, such as a key's echo. All else is kept from
//! the frame before, which saves most of a frame's cost.
//!
//! One rule decides: nothing lies over the panes' text, and nothing around it has changed. The stack of overlays
//! answers the first part. For the second, everything that changes the window without output asks for a whole frame
//! (`Pacing::ask`), and [`Around`] compares what output itself may change. The option `--whole-frames` turns the fast
//! path off.
//!
//! If the window is idle, the thread that read the output paints it: waking the event loop would take as long again as
//! the frame. The event loop and the panes' readers share the app through a lock; a reader never blocks on the lock or
//! the system.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use anyhow::anyhow;
use parking_lot::Mutex;
use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::PaneScene;

use crate::window::{
    app::App,
    inbox::Inbox,
    surface::around::{Around, Outline},
    workspace::view::View,
};

/// Lets panes' readers paint echoes. Only X11 and Wayland allow a window to be used on another thread.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn allow(app: &Arc<Mutex<App>>, inbox: &Inbox) {
    let app = Arc::downgrade(app);
    inbox.set_echo_painter(Box::new(move |inbox, pane| {
        // A reader never waits for the app.
        let Some(app) = app.upgrade() else { return false };
        app.try_lock().is_some_and(|mut app| show(&mut app, inbox, pane))
    }));
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn allow(_: &Arc<Mutex<App>>, _: &Inbox) {}

/// Paints a pane's output on the thread that read it. Returns false if the event loop must paint it.
fn show(app: &mut App, inbox: &Inbox, pane: PaneId) -> bool {
    // Earlier news must be handled first.
    let show = || !inbox.has_news() && app.show_echo(pane, Instant::now());
    let is_shown = catch_unwind(AssertUnwindSafe(show)).unwrap_or_else(|_| {
        // A panic ends the app, as on the event loop's thread.
        app.failure = Some(anyhow!("a picture can't be painted"));
        false
    });
    if is_shown && app.is_awaited() {
        inbox.post(|_| {});
    }
    is_shown
}

impl App {
    /// Paints a pane's output if nothing else has changed and the change is small.
    fn show_echo(&mut self, pane: PaneId, now: Instant) -> bool {
        let Some(screen) = &self.surface.screen else { return false };
        let is_at_rest = !screen.occluded && screen.painter.is_at_rest();
        if !self.input.focused || !is_at_rest || !self.surface.pacing.is_idle(now) {
            return false;
        }
        if self.surface.around.as_ref().is_some_and(|around| around.has(pane)) {
            // The last frame showed the pane, and the next one checks that; no other lookup is needed.
            self.notice_text(pane);
        } else {
            self.notice_output(&HashSet::from([pane]));
        }
        if !self.surface.pacing.is_asked() {
            // The pane is not visible.
            return true;
        }
        if self.surface.pacing.is_whole() || !self.paint_text(now, true) {
            return false;
        }
        self.surface.pacing.painted(now);
        true
    }

    /// When the event loop must wake up without an event.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        [self.surface.pacing.next(), self.surface.timer, self.names_due()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether to wake the event loop: for a failure, or for a deadline before its own.
    fn is_awaited(&self) -> bool {
        let is_sooner = |next| self.surface.waits_until.is_none_or(|until| next < until);
        self.failure.is_some() || self.next_look().is_some_and(is_sooner)
    }

    /// Stores what a whole frame showed, if the next frame can reuse it.
    pub(crate) fn note_around(&mut self, layout: Arc<Layout>, placed: Vec<(PaneId, Rect)>) {
        let is_plain = !self.prefs.args.whole_frames
            && !self.lies_something_over_text()
            && self.input.preedit.is_none()
            && self.workspace.panes.broadcast.panes(&layout).is_empty()
            && !self.shows_bars(&placed);
        let outlines =
            || placed.iter().map(|(id, _)| self.workspace.views.get(id)?.outline()).collect();
        self.surface.around =
            is_plain.then(outlines).flatten().map(|outlines| Around { layout, placed, outlines });
    }

    /// Builds a frame of the panes' text, if nothing else changed; returns what it kept from the last whole frame.
    pub(crate) fn text_frame(&mut self, now: Instant) -> Option<Around> {
        let around = self.surface.around.take()?;
        if !Arc::ptr_eq(&around.layout, &self.mux.layout()) {
            return None;
        }
        self.refresh_views(&around.placed, now);
        let views = &self.workspace.views;
        let is_same = |((id, _), before): (&(PaneId, Rect), &Outline)| {
            views.get(id).and_then(View::outline).is_some_and(|outline| outline == *before)
        };
        if !around.placed.iter().zip(&around.outlines).all(is_same) {
            return None;
        }
        let blink_on = self.blink(&around.placed, now);
        let look = self.pane_look(&around.layout, blink_on)?;
        let views = &self.workspace.views;
        let scene = |(id, area): &(PaneId, Rect)| Some(look.scene(*id, *area, views.get(id)?));
        let panes: Vec<PaneScene<'_>> = around.placed.iter().filter_map(scene).collect();
        self.surface.renderer.frame_with_panes(&panes);
        Some(around)
    }

    /// Paints the panes' text if nothing else changed. If `on_reader`, the caller is a pane's reader thread, which
    /// paints only small changes. False if nothing was painted.
    pub(crate) fn paint_text(&mut self, now: Instant, on_reader: bool) -> bool {
        let Some(around) = self.text_frame(now) else { return false };
        let Some(screen) = &mut self.surface.screen else { return false };
        let presented = screen.present_text(&mut self.surface.renderer, on_reader);
        let is_shown = presented.unwrap_or_else(|error| {
            self.failure = Some(error.into());
            true
        });
        if is_shown {
            self.tell_readers(&around.layout, &around.placed);
            self.tell_ime(&around.layout, &around.placed, None);
        }
        self.surface.around = Some(around);
        is_shown
    }
}
