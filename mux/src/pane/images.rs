//! The memory that a pane's images and unfinished data use.

use std::sync::atomic::Ordering;

use unterm_term::Term;

use super::Pane;

impl Pane {
    /// The memory that the pane's images use, in bytes.
    pub(crate) fn image_bytes(&self) -> usize {
        self.image_bytes.load(Ordering::Relaxed)
    }

    /// The part of [`Pane::image_bytes`] for images and clipboard data that have not arrived completely.
    pub(crate) fn unfinished_bytes(&self) -> usize {
        self.unfinished_bytes.load(Ordering::Relaxed)
    }

    /// Drops images and clipboard data that have not arrived completely.
    pub(crate) fn shed_unfinished(&self) {
        let replies = {
            let mut term = self.term.lock();
            term.shed_unfinished();
            self.note_change(None);
            self.note_images(&term);
            term.take_replies()
        };
        self.reply(&replies);
    }

    /// Records the memory that the images use. Returns whether it has grown. `term` is the pane's locked terminal.
    pub(super) fn note_images(&self, term: &Term) -> bool {
        self.unfinished_bytes.store(term.unfinished_bytes(), Ordering::Relaxed);
        let bytes = term.image_bytes();
        self.image_bytes.swap(bytes, Ordering::Relaxed) < bytes
    }

    /// Drops images and unfinished data until they use at most `most` bytes, and repaints the pane.
    pub(crate) fn shed_images(&self, most: usize) {
        let replies = {
            let mut term = self.term.lock();
            term.shed_images(most);
            self.note_change(None);
            self.note_images(&term);
            term.take_replies()
        };
        self.reply(&replies);
        self.observers.output(self.id);
    }
}
