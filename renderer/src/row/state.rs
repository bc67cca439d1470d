//! What a row shows besides its content: selection, highlights and cursors.

use std::ops::Range;
use std::sync::Arc;

use unterm_term::{CursorShape, Link, Rgb};

use crate::bidi::ColumnOrder;
use crate::preedit::PreeditCells;

/// How the cursor is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorLook {
    Block,
    Hollow,
    Bar,
    Underline,
}

impl CursorLook {
    pub(crate) fn new(shape: CursorShape, focused: bool) -> Self {
        match shape {
            _ if !focused => Self::Hollow,
            CursorShape::Default | CursorShape::Block => Self::Block,
            CursorShape::Bar => Self::Bar,
            CursorShape::Underline => Self::Underline,
        }
    }
}

/// The part of a cursor that a row shows. A cursor covers all rows of a multicell character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CursorPart {
    /// A column under the cursor.
    pub(crate) col: u16,
    pub(crate) look: CursorLook,
    /// Index of this row among the cursor's `rows`.
    pub(crate) row: u16,
    pub(crate) rows: u16,
    pub(crate) colors: CursorColors,
}

/// The colors of a cursor, before dimming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CursorColors {
    /// The color of the cursor. `None`: the foreground of its cell.
    pub(crate) cursor: Option<Rgb>,
    /// The color of text under a block. `None`: the background of its cell.
    pub(crate) text: Option<Rgb>,
}

/// What a row shows besides its content: selection, highlights, cursors and composed text. A drawn row is reused while
/// its content and this state stay the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowState {
    /// Selected columns. Multicell characters are selected whole if the selection touches any of their rows.
    pub(crate) selected: Vec<Range<u16>>,
    /// Columns of search matches, and whether each is the current match.
    pub(crate) highlights: Vec<(Range<u16>, bool)>,
    /// The cursors in this row, or this row's parts of them: extra cursors, then the main cursor. If several cursors
    /// are in one cell, the last one is drawn.
    pub(crate) cursors: Vec<CursorPart>,
    /// Column whose ligature is drawn as single characters. This is the cursor's column, even while the cursor blinks.
    pub(crate) apart: Option<u16>,
    /// The link under the pointer, if this row contains cells of the link.
    pub(crate) hovered: Option<Link>,
    /// Text being composed over this row's cells.
    pub(crate) preedit: Option<Arc<PreeditCells>>,
}

impl RowState {
    /// This state, with each column replaced by the column in which `order` shows it.
    pub(crate) fn reordered(&self, order: &ColumnOrder) -> Self {
        let ranges = |columns: &Range<u16>| order.shown_ranges(columns.clone());
        let highlights = self.highlights.iter().flat_map(|(columns, current)| {
            ranges(columns).into_iter().map(|columns| (columns, *current))
        });
        let shown = |part: &CursorPart| CursorPart { col: order.shown(part.col), ..*part };
        Self {
            selected: self.selected.iter().flat_map(ranges).collect(),
            highlights: highlights.collect(),
            cursors: self.cursors.iter().map(shown).collect(),
            apart: self.apart.map(|column| order.shown(column)),
            ..self.clone()
        }
    }
}
