//! Queries about code points, which may need the fonts of the front end.

use std::fmt::Debug;
use std::sync::Arc;

/// The fonts of a front end.
pub trait FontCoverage: Debug + Send + Sync {
    /// Whether some font draws this character. May read files.
    fn covers(&self, c: char) -> bool;
}

/// A query that the fonts have to answer.
pub(crate) struct CoverageQuery {
    fonts: Arc<dyn FontCoverage>,
    c: char,
    covers: bool,
}

impl CoverageQuery {
    pub(super) fn new(fonts: Arc<dyn FontCoverage>, c: char) -> Self {
        Self { fonts, c, covers: false }
    }

    /// Asks the fonts. Needs no lock.
    pub(crate) fn run(&mut self) {
        self.covers = self.fonts.covers(self.c);
    }

    /// The character, and whether a font draws it.
    pub(super) fn answer(&self) -> (char, bool) {
        (self.c, self.covers)
    }
}
