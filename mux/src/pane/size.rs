//! The size of a pane's grid: who may set it, and how a new size reaches the terminal and the program.
//!
//! Owns the order of a resize (terminal before pty), and whether the size is pinned. Never depends on how a tab or a
//! window divides its space.

use std::sync::atomic::Ordering;

use unterm_term::{Event, Point, Size, WindowRequest};

use super::Pane;
use crate::TermChange;

impl Pane {
    /// Applies a resize that the program requested from the terminal (XTWINOPS, DECCOLM). The pty is resized before any
    /// reply is sent, and the size is pinned.
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

    /// Like [`Pane::resize`], but also moves `points` on the shown screen together with their text. A point becomes
    /// `None` if its text is no longer stored. Returns the terminal's `seq` after the resize.
    pub fn resize_following(&self, size: Size, points: &mut [Option<Point>]) -> u64 {
        let size = Size { cols: size.cols.max(1), rows: size.rows.max(1), ..size };
        let mut term = self.term.lock();
        if term.size() == size {
            return term.seq();
        }
        term.resize_following(size, points);
        self.note_change(Some(TermChange::Size(term.size())));
        let (seq, replies, events) = (term.seq(), term.take_replies(), term.take_events());
        term.unlock_fair();
        self.resize_pty(size);
        self.reply(&replies);
        self.announce(seq, events);
        seq
    }

    /// Resizes the pty to the terminal's size. Checks the terminal's size again afterward, so that two threads that
    /// resize at once both end with the last size.
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

    /// Whether the size of the grid is fixed, so that windows do not change it. A caller fixes it with an explicit size
    /// in session.create, and a program by requesting a resize.
    pub fn is_pinned(&self) -> bool {
        self.is_pinned.load(Ordering::Acquire)
    }

    /// Pins or unpins the size of the grid. The size of a pane of tmux stays pinned, because tmux sets it. If no window sizes the panes, an unpinned pane immediately gets its share
    /// of its tab's cells.
    pub fn set_pinned(&self, pinned: bool) {
        let pinned = pinned || self.is_in_tmux();
        let was_pinned = self.is_pinned.swap(pinned, Ordering::AcqRel);
        if was_pinned
            && !pinned
            && let Some(owner) = self.owner.upgrade()
        {
            owner.unpinned();
        }
    }
}
