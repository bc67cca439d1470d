//! The scroll region and the margins: where motions stop, what scrolls, where lines wrap.
//!
//! `top..bottom` is the scroll region (DECSTBM), `left..right` the columns between the margins (DECSLRM), all of them
//! unless DECLRMM is set. Source: DEC STD 070; where it is silent or differs, xterm.

use crate::Modes;
use crate::modes::DecModes;
use crate::term::Term;

impl Term {
    /// Whether rows scroll whole: no margin is set.
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

    /// Columns the cursor's row has: half of them when its characters are double width.
    #[inline]
    pub(crate) fn row_cols(&self) -> usize {
        let cols = self.grid.cols();
        if self.grid.meta(self.cursor.row).is_double() { cols.div_ceil(2) } else { cols }
    }

    /// The column after the last that text printed at column `col` of the cursor's row may fill before it wraps: the
    /// right margin, unless it starts behind that.
    #[inline]
    pub(crate) fn line_end(&self, col: usize) -> usize {
        let cols = if col < self.right { self.right } else { self.grid.cols() };
        if self.grid.meta(self.cursor.row).is_double() && col < self.row_cols() {
            cols.min(self.row_cols())
        } else {
            cols
        }
    }

    /// First row the cursor may be sent to: the region's under DECOM, else the screen's.
    pub(crate) fn first_row(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.top } else { 0 }
    }

    /// Row after the last the cursor may be sent to.
    pub(crate) fn end_row(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.bottom } else { self.grid.rows() }
    }

    /// First column the cursor may be sent to: the left margin under DECOM, else the screen's.
    #[inline]
    pub(crate) fn first_col(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.left } else { 0 }
    }

    /// Column after the last the cursor may be sent to.
    #[inline]
    pub(crate) fn end_col(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.right } else { self.grid.cols() }
    }

    /// DECSTBM: `top` and `bottom` from 1, 0 for the screen's; fewer than two rows are no region.
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

    /// DECSLRM, while DECLRMM is set: `left` and `right` from 1, 0 for the screen's; fewer than two columns are none.
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

    /// DECLRMM (?69). Setting it makes every row single width, resetting it forgets the margins.
    pub(crate) fn set_margin_mode(&mut self, on: bool) {
        self.dec.set(DecModes::LEFT_RIGHT, on);
        if on {
            self.make_rows_single();
        } else {
            self.left = 0;
            self.right = self.grid.cols();
        }
    }

    /// No region, no margins, no DECLRMM.
    pub(crate) fn reset_margins(&mut self) {
        self.dec.remove(DecModes::LEFT_RIGHT);
        self.top = 0;
        self.bottom = self.grid.rows();
        self.left = 0;
        self.right = self.grid.cols();
    }

    /// Keeps the last column flag only where the cursor still is at the end of a line.
    pub(crate) fn settle_wrap(&mut self) {
        self.cursor.wrap_pending &= self.cursor.col + 1 == self.line_end(self.cursor.col);
    }
}
