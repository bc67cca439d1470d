//! The shape of a cursor: the columns that it covers, and its outline.

use std::ops::Range;

use unterm_term::{Rgb, SnapshotRow, Width};

use super::state::CursorLook;
use crate::font::CellMetrics;
use crate::frame::Fill;

/// The columns under the cursor: both columns of a wide character, or all columns of a multicell character.
pub(super) fn cursor_columns(row: &SnapshotRow, col: u16) -> Range<u16> {
    if let Some(part) = row.multicell(col) {
        return part.columns();
    }
    let width = |col: u16| row.cells.get(usize::from(col)).map(|cell| cell.width());
    match width(col) {
        Some(Width::Wide) => col..col + 2,
        Some(Width::Tail) if col > 0 => col - 1..col + 1,
        _ => col..col + 1,
    }
}

pub(super) fn bar_width(metrics: &CellMetrics) -> u32 {
    (metrics.width / 6).clamp(metrics.thickness, metrics.width)
}

/// Draws an outline, bar or underline cursor. `rows` contains the index of this row within the cursor, and the number
/// of rows that the cursor covers.
pub(super) fn outline(
    look: CursorLook,
    columns: Range<u16>,
    rows: (u16, u16),
    color: Rgb,
    metrics: &CellMetrics,
    out: &mut Vec<Fill>,
) {
    let x = i32::from(columns.start) * metrics.width as i32;
    let width = metrics.width * u32::from(columns.end - columns.start);
    let height = metrics.height;
    let (is_first, is_last) = (rows.0 == 0, rows.0 + 1 >= rows.1);
    let thin = metrics.thickness.min(height / 2).min(width / 2).max(1);
    match look {
        CursorLook::Block => {}
        CursorLook::Bar => {
            out.push(Fill { x, y: 0, width: bar_width(metrics), height, color });
        }
        CursorLook::Underline if !is_last => {}
        CursorLook::Underline => {
            let thick = (2 * metrics.thickness).min(height);
            let y = (height - thick) as i32;
            out.push(Fill { x, y, width, height: thick, color });
        }
        CursorLook::Hollow => {
            let top = if is_first { thin } else { 0 };
            let inner = height - top - if is_last { thin } else { 0 };
            if is_first {
                out.push(Fill { x, y: 0, width, height: thin, color });
            }
            if is_last {
                out.push(Fill { x, y: (height - thin) as i32, width, height: thin, color });
            }
            out.push(Fill { x, y: top as i32, width: thin, height: inner, color });
            let right = x + (width - thin) as i32;
            out.push(Fill { x: right, y: top as i32, width: thin, height: inner, color });
        }
    }
}
