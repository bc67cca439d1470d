//! Text an input method is composing, laid into the cells at the cursor.

use std::ops::Range;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::Preedit;

/// One character of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreeditPiece {
    pub(crate) col: u16,
    pub(crate) cells: u8,
    pub(crate) text: Arc<str>,
}

/// Composed text in its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreeditCells {
    /// The columns it covers.
    pub(crate) columns: Range<u16>,
    pub(crate) pieces: Vec<PreeditPiece>,
    /// The input method's cursor (empty) or marked part, in columns.
    pub(crate) cursor: Option<Range<u16>>,
}

impl PreeditCells {
    /// Lays `preedit` out from column `col`; further left where it would pass the last of `cols` columns, and cut
    /// where the whole row is too short.
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
