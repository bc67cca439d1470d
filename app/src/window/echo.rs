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

use super::{App, inbox::Inbox};

/// The app, for threads that lock it only if it is free.
#[cfg(all(unix, not(target_os = "macos")))]
#[derive(Default)]
pub(super) struct IdleApp(std::sync::OnceLock<std::sync::Weak<Mutex<App>>>);

#[cfg(all(unix, not(target_os = "macos")))]
impl IdleApp {
    /// Makes the app available.
    pub(super) fn set(&self, app: &Arc<Mutex<App>>) {
        // Fails only for a second app.
        let _ = self.0.set(Arc::downgrade(app));
    }

    fn with<T>(&self, act: impl FnOnce(&mut App) -> T) -> Option<T> {
        let app = self.0.get()?.upgrade()?;
        let mut app = app.try_lock()?;
        Some(act(&mut app))
    }
}

/// Elsewhere, only the main thread may use windows.
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
    /// Paints a pane's output on the thread that read it. Returns false if the event loop must paint it.
    pub(super) fn show_echo(&self, pane: PaneId) -> bool {
        let shown = self.app.with(|app| {
            // Earlier news must be handled first.
            let show = || !self.has_news() && app.show_echo(pane, Instant::now());
            let is_shown = catch_unwind(AssertUnwindSafe(show)).unwrap_or_else(|_| {
                // A panic ends the app, as on the event loop's thread.
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
    /// Paints a pane's output if nothing else has changed and the change is small.
    fn show_echo(&mut self, pane: PaneId, now: Instant) -> bool {
        let Some(screen) = &self.screen else { return false };
        let is_at_rest = !screen.occluded && screen.painter.is_at_rest();
        if !self.focused || !is_at_rest || !self.pacing.is_idle(now) {
            return false;
        }
        if self.around.as_ref().is_some_and(|around| around.has(pane)) {
            // The last frame showed the pane, and the next one checks that; no other lookup is needed.
            self.notice_text(pane);
        } else {
            self.notice_output(&HashSet::from([pane]));
        }
        if !self.pacing.is_asked() {
            // The pane is not visible.
            return true;
        }
        if self.pacing.is_whole() || !self.paint_text(now, true) {
            return false;
        }
        self.pacing.painted(now);
        true
    }

    /// When the event loop must wake up without an event.
    pub(super) fn next_look(&self) -> Option<Instant> {
        [self.pacing.next(), self.timer, self.names_due()].into_iter().flatten().min()
    }

    /// Whether to wake the event loop: for a failure, or for a deadline before its own.
    fn is_awaited(&self) -> bool {
        let is_sooner = |next| self.waits_until.is_none_or(|until| next < until);
        self.failure.is_some() || self.next_look().is_some_and(is_sooner)
    }
}
