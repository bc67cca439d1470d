//! Placements of kitty images: where an image lies over or under the text, instead of in its own cells.

use super::pixels::MAX_SIDE;
use crate::grid::tiles::ImageKey;

/// Identifies a placement of a screen permanently.
pub(crate) type PlacementKey = u64;

/// Width and height of a cell in pixels, neither 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellSize {
    pub width: u32,
    pub height: u32,
}

/// What a placement's position is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The cell of its upper left corner: line, numbered as in the grid, and column.
    Cell { line: i64, col: i64 },
    /// The upper left corner of another placement, at this distance in columns and rows.
    Parent { parent: PlacementKey, cols: i32, rows: i32 },
    /// None: the placement describes how placeholder characters show the image.
    Virtual,
}

/// A rectangle in the pixels of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Source {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// A placement. The protocol's keys are in parentheses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub image: ImageKey,
    /// The program's id (`p`), 0 if it sent none.
    pub id: u32,
    pub anchor: Anchor,
    /// The part of the image to show (`x`, `y`, `w`, `h`), within the image.
    pub source: Source,
    /// Pixels from the upper left corner of the cell to that of the image (`X`, `Y`).
    pub x: u32,
    pub y: u32,
    /// Columns and rows to scale the image to (`c`, `r`). If one is 0, it follows the other's scale; if both are 0, the
    /// image is not scaled.
    pub cols: u32,
    pub rows: u32,
    pub z: i32,
}

impl Placement {
    /// The placement's size on the screen in pixels.
    pub fn pixels(&self, cell: CellSize) -> (f32, f32) {
        let (x, y) = self.offset(cell);
        let Source { width, height, .. } = self.source;
        let across = (self.cols * cell.width) as f32 - x as f32;
        let down = (self.rows * cell.height) as f32 - y as f32;
        let (across, down) = match (self.cols, self.rows) {
            (0, 0) => (width, height),
            (_, 0) => (across, if width > 0.0 { across * height / width } else { 0.0 }),
            (0, _) => (if height > 0.0 { down * width / height } else { 0.0 }, down),
            _ => (across, down),
        };
        let cap = (MAX_SIDE * 8) as f32;
        (across.clamp(0.0, cap), down.clamp(0.0, cap))
    }

    /// The placement's offset in its first cell in pixels, which is less than the cell.
    pub fn offset(&self, cell: CellSize) -> (u32, u32) {
        (self.x.min(cell.width - 1), self.y.min(cell.height - 1))
    }

    /// The columns and rows it touches.
    pub fn cells(&self, cell: CellSize) -> (u32, u32) {
        let (x, y) = self.offset(cell);
        let (width, height) = self.pixels(cell);
        let touched = |given: u32, offset: u32, length: f32, unit: u32| match given {
            0 if length <= 0.0 => 0,
            0 => ((offset as f32 + length) / unit as f32).ceil() as u32,
            given => given,
        };
        (touched(self.cols, x, width, cell.width), touched(self.rows, y, height, cell.height))
    }

    /// Cuts `rows` rows off the top (`first`) or the bottom. Returns false if nothing is left.
    pub fn cut(&mut self, rows: u32, first: bool, cell: CellSize) -> bool {
        let (_, total) = self.cells(cell);
        let (_, offset) = self.offset(cell);
        let (_, height) = self.pixels(cell);
        if rows >= total || height <= 0.0 {
            return false;
        }
        let scale = self.source.height / height;
        let cut = if first {
            (rows * cell.height - offset) as f32
        } else {
            height - ((total - rows) * cell.height - offset) as f32
        };
        let cut = (cut * scale).max(0.0);
        if cut >= self.source.height {
            return false;
        }
        self.source.height -= cut;
        if first {
            self.source.y += cut;
            self.y = 0;
            if let Anchor::Cell { line, .. } = &mut self.anchor {
                *line += rows as i64;
            }
        }
        if self.rows > 0 {
            self.rows -= rows;
        } else if self.cols > 0 {
            // The height followed from the width: keep the scale for the remaining part.
            self.rows = 0;
        }
        true
    }
}
