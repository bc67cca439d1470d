//! Paints echoes on a pane's reader thread, with the parts of the window that the event loop has lent.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Weak,
    time::Instant,
};

use anyhow::anyhow;
use parking_lot::Mutex;
use unterm_mux::{Mux, PaneId};

use crate::window::{
    echo::{last_frame::LastFrame, text_frame::TextFrame},
    inbox::Inbox,
    redraw::Redraw,
    surface::Surface,
    workspace::{cursor::cursor_place, view::Views},
};

/// The parts of the window that the event loop lends while it waits.
pub(crate) struct LentParts {
    pub(crate) surface: Box<Surface>,
    pub(crate) views: Views,
    /// What the last whole frame showed around the text; `None` if part of that content has changed since.
    pub(crate) last_frame: Option<LastFrame>,
    /// The time when the event loop wakes up if no event arrives.
    pub(crate) waits_until: Option<Instant>,
    /// The time when the titles must be read again, if a pane prints.
    pub(crate) names_due: Instant,
    /// Whether a visible pane has printed since the loan began.
    pub(crate) has_printed: bool,
    /// An error while painting. The event loop ends the app with this error.
    pub(crate) failure: Option<anyhow::Error>,
}

/// The place of the loan, which the event loop and the panes' readers share.
pub(crate) struct Slot {
    lent: Mutex<Option<LentParts>>,
    /// A weak reference, because the mux owns its observers, and they own this slot.
    mux: Weak<Mux>,
}

impl Slot {
    pub(crate) fn new(mux: Weak<Mux>) -> Self {
        Self { lent: Mutex::new(None), mux }
    }

    pub(crate) fn put(&self, lent: LentParts) {
        *self.lent.lock() = Some(lent);
    }

    pub(crate) fn take(&self) -> Option<LentParts> {
        self.lent.lock().take()
    }

    /// Paints a pane's output on the thread that read it. Returns false if the event loop must paint it.
    pub(crate) fn show(&self, inbox: &Inbox, pane: PaneId) -> bool {
        // A reader must not wait for another reader or for the event loop.
        let Some(mut slot) = self.lent.try_lock() else { return false };
        let (Some(lent), Some(mux)) = (slot.as_mut(), self.mux.upgrade()) else { return false };
        // The event loop must handle earlier news first.
        let show = || !inbox.has_news() && lent.show(pane, &mux, Instant::now());
        let is_shown = catch_unwind(AssertUnwindSafe(show)).unwrap_or_else(|_| {
            // A panic on this thread ends the app, as a panic on the event loop's thread does.
            lent.failure = Some(anyhow!("painting a frame on a pane's reader thread panicked"));
            true
        });
        let is_awaited = is_shown && lent.is_awaited();
        drop(slot);
        if is_awaited {
            inbox.post(|_| {});
        }
        is_shown
    }
}

impl LentParts {
    /// Paints a pane's output if only text has changed and the changed area is small.
    fn show(&mut self, pane: PaneId, mux: &Mux, now: Instant) -> bool {
        let Some(last_frame) = self.last_frame.as_mut().filter(|_| self.failure.is_none()) else {
            return false;
        };
        if !last_frame.has(pane) {
            // If a hidden tab already shows a mark for new output, further output needs no frame.
            return self.views.get(&pane).is_some_and(|view| view.is_marked(now));
        }
        let is_at_rest = self.surface.screen.as_ref().is_some_and(|s| s.painter.is_at_rest());
        if !is_at_rest || !self.surface.pacing.is_idle(now) {
            return false;
        }
        self.has_printed = true;
        let (surface, views) = (&mut *self.surface, &mut self.views);
        if !(TextFrame { mux, surface, views }).build(last_frame, now) {
            self.last_frame = None;
            return false;
        }
        let Some(screen) = &mut surface.screen else { return false };
        match screen.painter.paint_small(&mut surface.renderer) {
            Ok(false) => return false,
            Ok(true) => {}
            Err(error) => self.failure = Some(error.into()),
        }
        let LastFrame { layout, placed, look, .. } = last_frame;
        if let Some(place) = cursor_place(layout, placed, views, &look.geometry) {
            screen.place_ime(place);
        }
        surface.pacing.painted(now);
        if surface.renderer.is_unfinished() {
            // The event loop paints the rest.
            surface.pacing.request(Redraw::Text);
        }
        true
    }

    /// Whether to wake the event loop: because painting failed, or because a deadline is earlier than the loop's own
    /// wake-up time.
    fn is_awaited(&self) -> bool {
        let names = self.has_printed.then_some(self.names_due);
        let times = [self.surface.pacing.next(), self.surface.timer, names];
        let is_sooner = |next| self.waits_until.is_none_or(|until| next < until);
        self.failure.is_some() || times.into_iter().flatten().any(is_sooner)
    }
}
