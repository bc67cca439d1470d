//! A copy of what a viewer sees. Updating it copies only changed rows.

use std::sync::Arc;

use crate::grid::link::Link;
use crate::term::graphics::{RowImages, SnapshotImage};
use crate::{
    Cell, Cursor, ExtraCursor, ExtraCursorColors, LineId, LineSize, Modes, MouseEncoding,
    MouseTracking, Palette, RegisteredGlyphs, ScreenKind, Size, Style, TextSize,
};

/// Adjacent cells of one row with the same style and link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyleRun {
    /// First column.
    pub start: u16,
    /// Column after the last.
    pub end: u16,
    /// The style of these cells.
    pub style: Style,
    /// The link of these cells.
    pub link: Option<Arc<Link>>,
}

/// The part of a multicell character (OSC 66) in one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticellPart {
    /// The first column of the character's block.
    pub col: u16,
    /// The row of the block that this row shows.
    pub row: u16,
    /// The size of the character.
    pub size: TextSize,
    /// The text of the character.
    pub text: Arc<str>,
}

impl MulticellPart {
    /// The columns of the character's block.
    pub fn columns(&self) -> std::ops::Range<u16> {
        self.col..self.col + self.size.columns()
    }
}

/// One row of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The line's id.
    pub line: LineId,
    /// The `seq` that last changed the row.
    pub revision: u64,
    /// Whether the text continues in the next row without a line break.
    pub wrapped: bool,
    /// The size of the row's characters. If it is not [`LineSize::Single`], the cell at column N is drawn at column 2N
    /// and twice as wide, so cells beyond half the grid's columns are not visible. A double-height row shows the upper
    /// or lower half. The columns of the cursor, styles and clusters count cells, as in other rows.
    pub size: LineSize,
    /// The cells, one per column of the grid. They contain no ids of style and link (see `styles`). A cluster's id is
    /// its index in `clusters`, so rows that look alike are equal.
    pub cells: Vec<Cell>,
    /// The runs of style, in order. Together they cover every column once.
    pub styles: Vec<StyleRun>,
    /// The column and text of each cell that contains a cluster, in order of columns.
    pub clusters: Vec<(u16, Arc<str>)>,
    /// The multicell characters with cells in this row, in order of columns. A character is missing if its first row is
    /// no longer stored.
    pub multicells: Vec<MulticellPart>,
    /// Whether some text in the row blinks (SGR 5, 6).
    pub blinks: bool,
    /// The parts of cell-filling images in this row. [`Snapshot::images`] lists the images.
    pub images: RowImages,
}

impl SnapshotRow {
    /// The text of the cluster in column `col`, if that cell contains a cluster.
    pub fn cluster(&self, col: u16) -> Option<&str> {
        let i = self.clusters.binary_search_by_key(&col, |(c, _)| *c).ok()?;
        Some(&self.clusters[i].1)
    }

    /// The multicell character that has a cell in column `col`.
    pub fn multicell(&self, col: u16) -> Option<&MulticellPart> {
        self.multicells.iter().find(|part| part.columns().contains(&col))
    }
}

/// What a viewer sees of a terminal at one moment: plain data, drawn without the terminal's lock.
///
/// Create one snapshot per view, and pass it to [`crate::Term::snapshot`] again for each update. Rows whose line and
/// revision it already contains are not copied.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The terminal's `seq` when the snapshot was taken. 0 if it was never taken.
    pub seq: u64,
    /// The grid's size.
    pub size: Size,
    /// The screen that is visible: main or alternate. A change of screen replaces every row.
    pub screen: ScreenKind,
    /// The rows of the viewport, top to bottom: `size.rows` of them, or more with [`crate::Term::snapshot_more`].
    pub rows: Vec<SnapshotRow>,
    /// The oldest stored line.
    pub oldest: LineId,
    /// The first line of the live screen. If `rows[0].line` is smaller, the viewport is scrolled back.
    pub live_top: LineId,
    /// The visible images, in drawing order.
    pub images: Vec<SnapshotImage>,
    /// The number of the last change to images that changed no row.
    pub images_revision: u64,
    /// The cursor. Its row counts from the top of the viewport.
    pub cursor: Cursor,
    /// The extra cursors, in the order of their lines and columns. They may be outside the viewport.
    pub extra_cursors: Vec<ExtraCursor>,
    /// The colors of all extra cursors.
    pub extra_cursor_colors: ExtraCursorColors,
    /// The glyphs that programs registered for code points of private use areas. The `Arc` stays the same until they
    /// change.
    pub glyphs: Arc<RegisteredGlyphs>,
    /// The current modes.
    pub modes: Modes,
    /// The mouse events that the program requested.
    pub mouse_tracking: MouseTracking,
    /// The encoding of mouse events.
    pub mouse_encoding: MouseEncoding,
    /// The current colors. The `Arc` stays the same until they change.
    pub palette: Arc<Palette>,
}

impl Snapshot {
    /// The extra cursors in a line.
    pub fn extra_cursors_in(&self, line: LineId) -> &[ExtraCursor] {
        let all = &self.extra_cursors;
        let start = all.partition_point(|cursor| cursor.line < line);
        let len = all[start..].partition_point(|cursor| cursor.line == line);
        &all[start..start + len]
    }

    /// Whether any visible text blinks.
    pub fn blinks(&self) -> bool {
        self.rows.iter().any(|row| row.blinks)
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            seq: 0,
            size: Size::cells(1, 1),
            screen: ScreenKind::Main,
            rows: Vec::new(),
            oldest: LineId(0),
            live_top: LineId(0),
            images: Vec::new(),
            images_revision: 0,
            cursor: Cursor::default(),
            extra_cursors: Vec::new(),
            extra_cursor_colors: ExtraCursorColors::default(),
            glyphs: Arc::default(),
            modes: Modes::default(),
            mouse_tracking: MouseTracking::Off,
            mouse_encoding: MouseEncoding::Legacy,
            palette: Arc::new(Palette::default()),
        }
    }
}
