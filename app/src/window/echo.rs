//! Output that comes while the window is at rest, as a key's echo, is shown by the thread that read it: to wake the event
//! loop's first would take as long again as the picture.
//!
//! Owns when that may be. The event loop and the panes' readers take turns with the app; a reader never waits for it.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use anyhow::anyhow;
use unterm_mux::PaneId;

use super::{App, inbox::Inbox};

impl Inbox {
    /// Shows a pane's output, on the thread that read it; false: the event loop is to do that.
    pub(super) fn show_echo(&self, pane: PaneId) -> bool {
        let shown = self.with_idle_app(|app| {
            let shown = catch_unwind(AssertUnwindSafe(|| app.show_echo(pane, Instant::now())));
            let is_shown = shown.unwrap_or_else(|_| {
                // As it would end the event loop's thread.
                app.failure = Some(anyhow!("a picture can't be painted"));
                false
            });
            (is_shown, app.is_awaited())
        });
        let (is_shown, is_awaited) = shown.unwrap_or_default();
        if is_shown && is_awaited {
            self.post(|_| {});
        }
        is_shown
    }
}

impl App {
    /// Shows what a pane printed if that is all there is to show, and no call waits for the system.
    fn show_echo(&mut self, pane: PaneId, now: Instant) -> bool {
        let Some(screen) = &self.screen else { return false };
        let may_wait = screen.occluded || screen.painter.may_wait();
        if !self.focused || may_wait || !self.pacing.is_idle(now) {
            return false;
        }
        self.notice_output(&HashSet::from([pane]));
        if self.pacing.is_whole() || !self.paint_text(now) {
            return false;
        }
        self.pacing.painted(now);
        true
    }

    /// When the event loop is to look again, though nothing happens.
    pub(super) fn next_look(&self) -> Option<Instant> {
        [self.pacing.next(), self.timer, self.names_due()].into_iter().flatten().min()
    }

    /// Whether there is something that the event loop does not know of while it waits.
    fn is_awaited(&self) -> bool {
        let is_sooner = |next| self.waits_until.is_none_or(|until| next < until);
        self.failure.is_some()
            || self.next_look().is_some_and(is_sooner)
            || self.screen.as_ref().is_some_and(|screen| screen.painter.may_wait())
    }
}
