//! Whether a pane may be seen: the window shows it, or a live view of it is open elsewhere.
//!
//! Owns both facts. Each method that changes one of them returns whether [`Visibility::is_visible`] may have changed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// Whether the window or a live view shows a pane.
pub(super) struct Visibility {
    /// Whether the window shows the pane. At first, whether there is a window.
    in_window: AtomicBool,
    /// The number of live views.
    views: AtomicUsize,
}

impl Visibility {
    pub(super) fn new(in_window: bool) -> Self {
        Self { in_window: AtomicBool::new(in_window), views: AtomicUsize::new(0) }
    }

    pub(super) fn is_visible(&self) -> bool {
        self.in_window.load(SeqCst) || self.views.load(SeqCst) > 0
    }

    pub(super) fn set_shown(&self, shown: bool) -> bool {
        self.in_window.swap(shown, SeqCst) != shown
    }

    pub(super) fn begin_view(&self) -> bool {
        self.views.fetch_add(1, SeqCst) == 0
    }

    pub(super) fn end_view(&self) -> bool {
        self.views.fetch_sub(1, SeqCst) == 1
    }
}
