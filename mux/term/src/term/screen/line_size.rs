//! Double-width and double-height rows: DECSWL, DECDWL, DECDHL (DEC STD 070).

use crate::LineSize;
use crate::grid::row::WRAPPED;
use crate::term::Term;
use crate::term::settings::modes::DecModes;

impl Term {
    /// DECSWL, DECDWL, DECDHL: sets the size of the cursor's row. Ignored while DECLRMM is set.
    pub(crate) fn set_line_size(&mut self, size: LineSize) {
        let (row, seq) = (self.cursor.row, self.seq);
        if self.dec.contains(DecModes::LEFT_RIGHT) || self.grid.meta(row).line_size() == size {
            return;
        }
        self.grid.clear_multicells(row..row + 1, 0..self.grid.cols(), seq);
        let meta = self.grid.meta_mut(row);
        meta.set_line_size(size);
        meta.revision = seq;
        // A row of larger characters never continues in another row.
        meta.flags &= !WRAPPED;
        if row > 0 {
            let above = self.grid.meta_mut(row - 1);
            if above.is_wrapped() {
                above.flags &= !WRAPPED;
                above.revision = seq;
            }
        }
        // The cursor must stay in the visible half of the row.
        self.cursor.col = self.cursor.col.min(self.row_cols() - 1);
        self.settle_wrap();
    }

    /// Makes every row of the screen single width.
    pub(crate) fn make_rows_single(&mut self) {
        let seq = self.seq;
        for row in 0..self.grid.rows() {
            let meta = self.grid.meta_mut(row);
            if meta.is_double() {
                meta.set_line_size(LineSize::Single);
                meta.revision = seq;
            }
        }
    }
}
