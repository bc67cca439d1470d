//! Sizes and positions, in cells and pixels.

/// The size of a grid, and of one of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// Columns, in cells; at least 1.
    pub cols: u16,
    /// Rows, in cells; at least 1.
    pub rows: u16,
    /// Width of a cell in pixels, 0 when nobody draws this grid (see [`Size::cell_pixels`]).
    pub cell_width: u16,
    /// Height of a cell in pixels, 0 when nobody draws this grid.
    pub cell_height: u16,
}

impl Size {
    /// A grid of `cols` × `rows` cells (each raised to 1) whose cells have no known size in pixels.
    pub fn cells(cols: u16, rows: u16) -> Self {
        Self { cols: cols.max(1), rows: rows.max(1), cell_width: 0, cell_height: 0 }
    }

    /// Width and height of a cell in pixels, for programs that ask: 8×16 when nobody draws this grid.
    pub fn cell_pixels(&self) -> (u16, u16) {
        let or = |pixels: u16, default| if pixels == 0 { default } else { pixels };
        (or(self.cell_width, 8), or(self.cell_height, 16))
    }
}

/// Names a line for as long as it is kept: the count of lines of its screen before it, also those long dropped.
///
/// Line ids of the main screen and of the alternate screen are two series; [`crate::Snapshot::screen`] says which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineId(pub u64);

/// A cell's place: its line and its column, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// The line.
    pub line: LineId,
    /// The column, in cells from the left edge.
    pub col: u16,
}
