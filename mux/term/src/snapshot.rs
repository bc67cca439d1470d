//! A copy of what one viewer sees, brought up to date by copying changed rows only.

use std::sync::Arc;

use crate::graphics::{RowImages, SnapshotImage};
use crate::{
    Cell, Cursor, LineId, LineSize, Modes, MouseEncoding, MouseTracking, Palette, ScreenKind, Size,
    Style, TextSize,
};

/// The target of a hyperlink (OSC 8).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The `id=` parameter, empty when there is none.
    pub id: String,
    /// The target as the program wrote it.
    pub uri: String,
}

/// Neighbouring cells of one row in one style and link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyleRun {
    /// First column.
    pub start: u16,
    /// Column after the last.
    pub end: u16,
    /// Their style.
    pub style: Style,
    /// Their link.
    pub link: Option<Arc<Link>>,
}

/// What a row shows of a multicell character (OSC 66).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticellPart {
    /// First column of its block.
    pub col: u16,
    /// Which of the block's rows this is.
    pub row: u16,
    /// Its size.
    pub size: TextSize,
    /// Its text.
    pub text: Arc<str>,
}

impl MulticellPart {
    /// The columns of its block.
    pub fn columns(&self) -> std::ops::Range<u16> {
        self.col..self.col + self.size.columns()
    }
}

/// One row of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The line's id.
    pub line: LineId,
    /// The `seq` that last changed it.
    pub revision: u64,
    /// The text goes on in the next row without a line break.
    pub wrapped: bool,
    /// How large its characters are. In a row that is not [`LineSize::Single`] each cell is drawn twice as wide, at twice
    /// its column, and cells from half the grid's columns on are not seen; the upper or lower half of what is twice as
    /// high is shown. Columns of the cursor, of styles and of clusters count cells all the same.
    pub size: LineSize,
    /// The cells, as many as the grid has columns. They carry no ids of style and link (see `styles`), and a cluster's
    /// id is its place in `clusters`: rows that look alike are equal.
    pub cells: Vec<Cell>,
    /// Runs of style, in order, covering every column once.
    pub styles: Vec<StyleRun>,
    /// Text of the cells that hold a cluster: column and text, in order of columns.
    pub clusters: Vec<(u16, Arc<str>)>,
    /// The multicell characters that have cells in this row, in order of columns. Those whose first row is no longer kept are
    /// missing.
    pub multicells: Vec<MulticellPart>,
    /// Some of its text blinks (SGR 5, 6).
    pub blinks: bool,
    /// What it has of images that fill cells; [`Snapshot::images`] lists them.
    pub images: RowImages,
}

impl SnapshotRow {
    /// The text of the cluster in column `col`, if that cell holds one.
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
/// Keep one a view and pass it to [`crate::Term::snapshot`] again: rows whose line and revision it already has are
/// not copied.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The terminal's `seq` when this was taken; 0: never taken.
    pub seq: u64,
    /// The grid's size.
    pub size: Size,
    /// Main or alternate screen; a change of it makes every row new.
    pub screen: ScreenKind,
    /// Rows of the viewport, top to bottom; `size.rows` of them, or more by [`crate::Term::snapshot_more`].
    pub rows: Vec<SnapshotRow>,
    /// Oldest line kept.
    pub oldest: LineId,
    /// First line of the live screen. The viewport is scrolled back when `rows[0].line` is less.
    pub live_top: LineId,
    /// Images in view, in the order they are drawn in.
    pub images: Vec<SnapshotImage>,
    /// Number of the last change of an image that changed no row.
    pub images_revision: u64,
    /// The cursor, in rows of the viewport.
    pub cursor: Cursor,
    /// Modes in force.
    pub modes: Modes,
    /// Mouse events asked for.
    pub mouse_tracking: MouseTracking,
    /// Their encoding.
    pub mouse_encoding: MouseEncoding,
    /// Colours in force; the same `Arc` until they change.
    pub palette: Arc<Palette>,
}

impl Snapshot {
    /// Whether any text in sight blinks.
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
            modes: Modes::default(),
            mouse_tracking: MouseTracking::Off,
            mouse_encoding: MouseEncoding::Legacy,
            palette: Arc::new(Palette::default()),
        }
    }
}
