//! Sizes and positions, in cells and pixels.

/// The size of a grid, and of one of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// The number of columns, at least 1.
    pub cols: u16,
    /// The number of rows, at least 1.
    pub rows: u16,
    /// Width of a cell in pixels; 0 if the grid is not drawn (see [`Size::cell_pixels`]).
    pub cell_width: u16,
    /// Height of a cell in pixels; 0 if the grid is not drawn.
    pub cell_height: u16,
}

impl Size {
    /// A grid of `cols` × `rows` cells (each at least 1), with no known cell size in pixels.
    pub fn cells(cols: u16, rows: u16) -> Self {
        Self { cols: cols.max(1), rows: rows.max(1), cell_width: 0, cell_height: 0 }
    }

    /// The width and height of a cell in pixels, for reports to programs and for all measurements in pixels. If the
    /// grid is not drawn, returns the size of a VT340's cell, 10×20. Never 0.
    pub fn cell_pixels(&self) -> (u16, u16) {
        match (self.cell_width, self.cell_height) {
            (0, _) | (_, 0) => (10, 20),
            known => known,
        }
    }

    /// Width and height of the grid in pixels; see [`Size::cell_pixels`].
    pub fn pixels(&self) -> (u32, u32) {
        let (width, height) = self.cell_pixels();
        (width as u32 * self.cols as u32, height as u32 * self.rows as u32)
    }
}

/// Identifies a line as long as it is stored. The id is the number of lines that its screen had before it, including
/// dropped lines.
///
/// The main and the alternate screen have separate series of ids. [`crate::Snapshot::screen`] states which screen an id
/// belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineId(pub u64);

/// The position of a cell: its line and its column, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// The line.
    pub line: LineId,
    /// The column, in cells from the left edge.
    pub col: u16,
}
