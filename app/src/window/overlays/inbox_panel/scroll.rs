//! The part of the shown question that is visible.

use std::cell::Cell;

/// The scroll position of the question: the number of rows below the visible ones. The end of a screen contains the
/// question, so it is visible first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scroll {
    below: Cell<usize>,
    /// The numbers of visible rows and of all rows when the panel was last laid out.
    seen: Cell<(usize, usize)>,
}

impl Scroll {
    /// Scrolls down by a number of rows, or up if it is negative.
    pub(crate) fn lines(&self, by: isize) {
        let (visible, all) = self.seen.get();
        let below = self.below.get().saturating_add_signed(-by);
        self.below.set(below.min(all.saturating_sub(visible)));
    }

    /// Whether rows of the question are not visible.
    pub(crate) fn hides_rows(&self) -> bool {
        let (visible, all) = self.seen.get();
        visible < all
    }

    /// The index after the last visible row, if this number of all rows is visible.
    pub(crate) fn end(&self, visible: usize, all: usize) -> usize {
        self.seen.set((visible, all));
        all - self.below.get().min(all - visible)
    }

    /// Scrolls by a number of pages.
    pub(crate) fn page(&self, by: isize) {
        let page = self.seen.get().0.saturating_sub(1).max(1) as isize;
        self.lines(by * page);
    }
}
