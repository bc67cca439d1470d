//! The size of a pane's grid: who may set it, and how terminal and program get it.
//!
//! Owns the order of the two, the terminal first, and whether the size is pinned. Never knows how a tab or a window divides its
//! space.

use std::sync::atomic::Ordering;

use unterm_term::{Event, Point, Size, WindowRequest};

use super::Pane;

impl Pane {
    /// Makes real what the terminal let its program do to the grid (XTWINOPS, DECCOLM): the pty follows before any reply
    /// goes out, and the window keeps off that grid from now on.
    pub(super) fn follow_requests(&self, events: &[Event], size: Size) {
        let is_resize = |event: &Event| matches!(event, Event::Window(WindowRequest::Resize(_)));
        if events.iter().any(is_resize) {
            self.is_pinned.store(true, Ordering::Release);
            self.resize_pty(size);
        }
    }

    /// Resizes the terminal, then the pty.
    pub fn resize(&self, size: Size) {
        self.resize_following(size, &mut []);
    }

    /// As [`Pane::resize`]; `points` of the screen that is shown become those where the same text is then, `None` where it
    /// is no longer kept. Returns the terminal's `seq` after it.
    pub fn resize_following(&self, size: Size, points: &mut [Option<Point>]) -> u64 {
        let size = Size { cols: size.cols.max(1), rows: size.rows.max(1), ..size };
        let mut term = self.term.lock();
        if term.size() == size {
            return term.seq();
        }
        term.resize_following(size, points);
        let (seq, replies, events) = (term.seq(), term.take_replies(), term.take_events());
        term.unlock_fair();
        self.resize_pty(size);
        self.reply(&replies);
        self.announce(seq, events);
        seq
    }

    /// Gives the pty the terminal's size. Of two resizes at once the last one wins, in the pty as in the terminal: each
    /// looks again after its own.
    fn resize_pty(&self, mut size: Size) {
        loop {
            if let Err(error) = self.process.resize(size) {
                tracing::debug!(pane = self.id.0, %error, "cannot resize the pty");
                break;
            }
            let now = self.term.lock().size();
            if now == size {
                break;
            }
            size = now;
        }
    }

    /// Whether a caller fixed the grid's size (an explicit size in session.create), so that the window keeps off.
    pub fn is_pinned(&self) -> bool {
        self.is_pinned.load(Ordering::Acquire)
    }

    /// Fixes the grid's size, or gives it back to the window (without one: to its tab's share of cells, at once).
    pub fn set_pinned(&self, pinned: bool) {
        let was_pinned = self.is_pinned.swap(pinned, Ordering::AcqRel);
        if was_pinned
            && !pinned
            && let Some(owner) = self.owner.upgrade()
        {
            owner.unpinned();
        }
    }
}
