//! Paints output that arrives while the window is idle, such as a key's echo, on the thread that read it: waking the
//! event loop would take as long again as the frame.
//!
//! Owns the conditions for that. The event loop and the panes' readers share the app through a lock; a reader never
//! blocks on the lock or the system.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use anyhow::anyhow;
use parking_lot::Mutex;
use unterm_mux::PaneId;

use crate::window::{app::App, inbox::Inbox};

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
}
