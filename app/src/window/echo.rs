//! Output that comes while the window is at rest, as a key's echo, is shown by the thread that read it: to wake the event
//! loop's first would take as long again as the picture.
//!
//! Owns when that may be. The event loop and the panes' readers take turns with the app; a reader never waits for it, nor
//! for the system.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use anyhow::anyhow;
use parking_lot::Mutex;
use unterm_mux::PaneId;

use super::{App, inbox::Inbox};

/// The app, for threads that take it where nobody has it.
#[cfg(all(unix, not(target_os = "macos")))]
#[derive(Default)]
pub(super) struct IdleApp(std::sync::OnceLock<std::sync::Weak<Mutex<App>>>);

#[cfg(all(unix, not(target_os = "macos")))]
impl IdleApp {
    /// From now on it may be taken.
    pub(super) fn set(&self, app: &Arc<Mutex<App>>) {
        // There is one app.
        let _ = self.0.set(Arc::downgrade(app));
    }

    fn with<T>(&self, act: impl FnOnce(&mut App) -> T) -> Option<T> {
        let app = self.0.get()?.upgrade()?;
        let mut app = app.try_lock()?;
        Some(act(&mut app))
    }
}

/// Elsewhere windows belong to the main thread.
#[cfg(not(all(unix, not(target_os = "macos"))))]
#[derive(Default)]
pub(super) struct IdleApp;

#[cfg(not(all(unix, not(target_os = "macos"))))]
impl IdleApp {
    pub(super) fn set(&self, _: &Arc<Mutex<App>>) {}

    fn with<T>(&self, _: impl FnOnce(&mut App) -> T) -> Option<T> {
        None
    }
}

impl Inbox {
    /// Shows a pane's output, on the thread that read it; false: the event loop is to do that.
    pub(super) fn show_echo(&self, pane: PaneId) -> bool {
        let shown = self.app.with(|app| {
            // News that came before go first.
            let show = || !self.has_news() && app.show_echo(pane, Instant::now());
            let is_shown = catch_unwind(AssertUnwindSafe(show)).unwrap_or_else(|_| {
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
    /// Shows what a pane printed if that is all there is to show, and little.
    fn show_echo(&mut self, pane: PaneId, now: Instant) -> bool {
        let Some(screen) = &self.screen else { return false };
        let is_at_rest = !screen.occluded && screen.painter.is_at_rest();
        if !self.focused || !is_at_rest || !self.pacing.is_idle(now) {
            return false;
        }
        if self.around.as_ref().is_some_and(|around| around.has(pane)) {
            // In sight, as the next picture makes sure: nothing else need be looked up.
            self.notice_text(pane);
        } else {
            self.notice_output(&HashSet::from([pane]));
        }
        if !self.pacing.is_asked() {
            // Nobody sees the pane.
            return true;
        }
        if self.pacing.is_whole() || !self.paint_text(now, true) {
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
        self.failure.is_some() || self.next_look().is_some_and(is_sooner)
    }
}
