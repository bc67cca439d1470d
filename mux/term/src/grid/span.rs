//! The parts of a text that the rows of a screen show.

use crate::grid::row::{RowMeta, WRAPPED};

/// The part of a text that a row shows.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub start: usize,
    pub len: u16,
    /// Whether the row continues in the next row.
    pub wrapped: bool,
}

impl Span {
    #[inline]
    pub fn meta(self, revision: u64) -> RowMeta {
        RowMeta { revision, occ: self.len, flags: if self.wrapped { WRAPPED } else { 0 } }
    }
}
