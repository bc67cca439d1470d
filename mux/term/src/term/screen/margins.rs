//! The scroll region and the margins. They limit cursor motions, scrolling and the length of lines.
//!
//! `top..bottom` is the scroll region (DECSTBM). `left..right` are the columns between the margins (DECSLRM); without
//! DECLRMM, these are all columns. Source: DEC STD 070, and xterm if DEC STD 070 is silent or xterm differs.

use crate::Modes;
use crate::term::Term;
use crate::term::settings::modes::DecModes;

/// The region and the margins of a grid of a certain size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Margins {
    rows: usize,
    cols: usize,
    region: (usize, usize),
    /// The left and right margin. `None` unless DECLRMM is set.
    margins: Option<(usize, usize)>,
}

impl Term {
    /// The region and the margins, so that [`Term::restore_margins`] can restore them later.
    pub(crate) fn all_margins(&self) -> Margins {
        Margins {
            rows: self.grid.rows(),
            cols: self.grid.cols(),
            region: (self.top, self.bottom),
            margins: self.dec.contains(DecModes::LEFT_RIGHT).then_some((self.left, self.right)),
        }
    }

    /// Restores the region and the margins, or removes them if the screen's size has changed. The cursor does not move.
    pub(crate) fn restore_margins(&mut self, margins: Margins) {
        self.reset_margins();
        if (margins.rows, margins.cols) == (self.grid.rows(), self.grid.cols()) {
            (self.top, self.bottom) = margins.region;
            if let Some(columns) = margins.margins {
                self.set_margin_mode(true);
                (self.left, self.right) = columns;
            }
        }
        self.settle_wrap();
    }

    /// Whether scrolling moves whole rows, because no left or right margin is set.
    #[inline]
    pub(crate) fn scrolls_whole_rows(&self) -> bool {
        self.left == 0 && self.right == self.grid.cols()
    }

    /// Whether the cursor's column lies between the margins.
    #[inline]
    pub(crate) fn is_between_margins(&self) -> bool {
        (self.left..self.right).contains(&self.cursor.col)
    }

    /// Whether the cursor is inside the region and between the margins.
    pub(crate) fn is_inside_margins(&self) -> bool {
        (self.top..self.bottom).contains(&self.cursor.row) && self.is_between_margins()
    }

    /// The number of columns in the cursor's row: half of the grid's columns if the row is double width.
    #[inline]
    pub(crate) fn row_cols(&self) -> usize {
        let cols = self.grid.cols();
        if self.grid.meta(self.cursor.row).is_double() { cols.div_ceil(2) } else { cols }
    }

    /// The column before which text wraps if it is printed at column `col` of the cursor's row. This is the right
    /// margin, unless `col` is to the right of it.
    #[inline]
    pub(crate) fn line_end(&self, col: usize) -> usize {
        let cols = if col < self.right { self.right } else { self.grid.cols() };
        if self.grid.meta(self.cursor.row).is_double() && col < self.row_cols() {
            cols.min(self.row_cols())
        } else {
            cols
        }
    }

    /// The first row to which the cursor may move: the region's first row if DECOM is set, otherwise the screen's.
    pub(crate) fn first_row(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.top } else { 0 }
    }

    /// The row after the last row to which the cursor may move.
    pub(crate) fn end_row(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.bottom } else { self.grid.rows() }
    }

    /// The first column to which the cursor may move: the left margin if DECOM is set, otherwise the screen's first
    /// column.
    #[inline]
    pub(crate) fn first_col(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.left } else { 0 }
    }

    /// The column after the last column to which the cursor may move.
    #[inline]
    pub(crate) fn end_col(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.right } else { self.grid.cols() }
    }

    /// DECSTBM. `top` and `bottom` count from 1, and 0 means the edge of the screen. Ignores a region of fewer than two
    /// rows.
    pub(crate) fn set_region(&mut self, top: usize, bottom: usize) {
        let rows = self.grid.rows();
        let top = top.max(1) - 1;
        let bottom = if bottom == 0 { rows } else { bottom.min(rows) };
        if top + 1 < bottom || (top == 0 && bottom == rows) {
            self.top = top;
            self.bottom = bottom;
            self.move_to(1, 1);
        }
    }

    /// DECSLRM, if DECLRMM is set. `left` and `right` count from 1, and 0 means the edge of the screen. Ignores margins
    /// with fewer than two columns between them.
    pub(crate) fn set_margins(&mut self, left: usize, right: usize) {
        let cols = self.grid.cols();
        let left = left.max(1) - 1;
        let right = if right == 0 { cols } else { right.min(cols) };
        if left + 1 < right || (left == 0 && right == cols) {
            self.left = left;
            self.right = right;
            self.move_to(1, 1);
        }
    }

    /// DECLRMM (?69). Setting the mode makes every row single width. Resetting it removes the margins.
    pub(crate) fn set_margin_mode(&mut self, on: bool) {
        self.dec.set(DecModes::LEFT_RIGHT, on);
        if on {
            self.make_rows_single();
        } else {
            self.left = 0;
            self.right = self.grid.cols();
        }
    }

    /// Removes region and margins, and resets DECLRMM.
    pub(crate) fn reset_margins(&mut self) {
        self.dec.remove(DecModes::LEFT_RIGHT);
        self.top = 0;
        self.bottom = self.grid.rows();
        self.left = 0;
        self.right = self.grid.cols();
    }

    /// Clears the pending wrap unless the cursor is still at the end of a line.
    pub(crate) fn settle_wrap(&mut self) {
        self.cursor.wrap_pending &= self.cursor.col + 1 == self.line_end(self.cursor.col);
    }
}
