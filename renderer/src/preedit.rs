//! Text that an input method is composing, laid out in the cells at the cursor.

use std::ops::Range;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::Preedit;

/// One grapheme of the composed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreeditPiece {
    pub(crate) col: u16,
    pub(crate) cells: u8,
    pub(crate) text: Arc<str>,
}

/// Composed text laid out in cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreeditCells {
    /// The columns that the composed text covers.
    pub(crate) columns: Range<u16>,
    pub(crate) pieces: Vec<PreeditPiece>,
    /// The input method's cursor (an empty range) or marked part, in columns.
    pub(crate) cursor: Option<Range<u16>>,
}

impl PreeditCells {
    /// Lays out `preedit` from column `col`. Moves it left if it would pass the last of `cols` columns, and cuts it if
    /// the whole row is too short.
    pub(crate) fn new(preedit: &Preedit, col: u16, cols: u16) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut offsets = Vec::new();
        let mut width = 0u16;
        for (offset, text) in preedit.text.grapheme_indices(true) {
            let cells = text.width().clamp(1, 2) as u16;
            if text.chars().any(char::is_control) || width + cells > cols {
                continue;
            }
            offsets.push((offset, width));
            pieces.push(PreeditPiece { col: width, cells: cells as u8, text: text.into() });
            width += cells;
        }
        if pieces.is_empty() {
            return None;
        }
        let start = col.min(cols - width);
        for piece in &mut pieces {
            piece.col += start;
        }
        let column = |byte: usize| {
            let at = offsets.iter().find(|(offset, _)| *offset >= byte);
            start + at.map_or(width, |(_, column)| *column)
        };
        let cursor = preedit.cursor.map(|(from, to)| column(from)..column(to.max(from)));
        Some(Self { columns: start..start + width, pieces, cursor })
    }
}
