//! Keeps the multicell characters of a screen complete: a character of which a part is overwritten, split or lost is
//! erased whole.
//!
//! A character that scrolls off the top of the screen row by row stays complete, because its upper rows are in history.
//! Without history, its remaining rows are erased.

use std::ops::Range;

use super::Grid;
use crate::TextSize;
use crate::grid::cell::Cell;
use crate::grid::style::Style;
use crate::work;

impl Grid {
    /// The size of the multicell character to which a cell belongs. The size of an ordinary cell otherwise.
    pub fn multicell_size(&self, row: usize, col: usize) -> TextSize {
        let slot = self.slot(row);
        let cell = self.slot_cells(slot)[col];
        if !cell.is_multicell() {
            return TextSize::default();
        }
        self.tables(self.table_of(slot)).view().style(cell.style_id()).size
    }

    /// Erases every multicell character with a cell in columns `cols` of rows `rows`.
    #[inline]
    pub fn clear_multicells(&mut self, rows: Range<usize>, cols: Range<usize>, revision: u64) {
        for row in rows {
            if self.meta(row).has_multicells() {
                self.remove_where(row, cols.clone(), Cell::EMPTY, revision, |_, _| true);
            }
        }
    }

    /// Erases every multicell character of more than one row with a cell in columns `cols` of a row.
    pub fn clear_tall(&mut self, row: usize, cols: Range<usize>, revision: u64) {
        if self.meta(row).has_multicells() {
            let is_tall = |grid: &Self, col| grid.multicell_size(row, col).rows() > 1;
            self.remove_where(row, cols, Cell::EMPTY, revision, is_tall);
        }
    }

    /// Erases every multicell character that has cells both in row `row` and in the row above, in columns `cols`.
    #[inline]
    pub fn split_multicells(&mut self, row: usize, cols: Range<usize>, revision: u64) {
        if row < self.rows() && self.meta(row).has_multicells() {
            let is_below = |grid: &Self, col: usize| grid.row(row)[col].is_below();
            self.remove_where(row, cols, Cell::EMPTY, revision, is_below);
        }
    }

    /// Erases every multicell character in columns `start..end` of a row, and every character that the edges of that
    /// range would split.
    #[cold]
    pub fn cut_multicells(&mut self, row: usize, start: usize, end: usize, revision: u64) {
        self.remove_where(row, start..end, Cell::EMPTY, revision, |_, _| true);
        for edge in [start, end] {
            if edge < self.cols() && self.row(row)[edge].multicell_offset().0 > 0 {
                self.remove_multicell(row, edge, Cell::EMPTY, revision);
            }
        }
    }

    /// Erases every multicell character in columns `start..end` of a row, before text overwrites them. If its first
    /// cell is overwritten, its other cells become blanks, otherwise spaces (text sizing protocol, "Wrapping and
    /// overwriting behavior").
    pub fn overwrite_multicells(&mut self, row: usize, start: usize, end: usize, revision: u64) {
        for col in start..end {
            let cell = self.row(row)[col];
            if cell.is_multicell() {
                let is_first = cell.multicell_offset() == (0, 0);
                let left = if is_first { Cell::EMPTY } else { Cell(b' '.into()) };
                self.remove_multicell(row, col, left, revision);
            }
        }
    }

    fn remove_where(
        &mut self,
        row: usize,
        cols: Range<usize>,
        left: Cell,
        revision: u64,
        is_wanted: impl Fn(&Self, usize) -> bool,
    ) {
        work::add(cols.len());
        for col in cols {
            if self.row(row)[col].is_multicell() && is_wanted(self, col) {
                self.remove_multicell(row, col, left, revision);
            }
        }
    }

    /// Erases the multicell character to which a cell belongs, as far as it is on the screen. Its cells get the content
    /// of `left`. Each cell keeps its own attributes.
    fn remove_multicell(&mut self, row: usize, col: usize, left: Cell, revision: u64) {
        let size = self.multicell_size(row, col);
        let (x, y) = self.row(row)[col].multicell_offset();
        let (x, y) = (usize::from(x), usize::from(y));
        let (cols, rows) = (usize::from(size.columns()), usize::from(size.rows()));
        for dy in 0..rows.max(y + 1) {
            let Some(row) = (row + dy).checked_sub(y).filter(|row| *row < self.rows()) else {
                continue;
            };
            for dx in 0..cols.max(x + 1) {
                let Some(col) = (col + dx).checked_sub(x).filter(|col| *col < self.cols()) else {
                    continue;
                };
                let cell = self.row(row)[col];
                if cell.is_multicell() && cell.multicell_offset() == (dx as u16, dy as u16) {
                    self.flatten(row, col, left);
                }
            }
            work::add(cols);
            self.meta_mut(row).revision = revision;
        }
    }

    /// Turns a cell of a multicell character into an ordinary cell.
    fn flatten(&mut self, row: usize, col: usize, left: Cell) {
        let slot = self.slot(row);
        let table = self.table_of(slot);
        let style = self.tables(table).view().style(self.slot_cells(slot)[col].style_id());
        let style = self.intern_style(table, &Style { size: TextSize::default(), ..style });
        // Read the cell after interning, because interning may assign new ids.
        let cell = &mut self.slot_mut(slot).0[col];
        *cell = Cell(cell.blanked().with_ids(style, cell.link_id(), None).0 | left.0);
    }

    /// Erases multicell characters that lost cells when rows or columns were cut off.
    pub fn mend_multicells(&mut self, revision: u64) {
        for row in 0..self.rows() {
            if !self.meta(row).has_multicells() {
                continue;
            }
            for col in 0..self.cols() {
                if self.row(row)[col].is_multicell() && !self.is_whole(row, col) {
                    self.remove_multicell(row, col, Cell::EMPTY, revision);
                    // The cell has no size, or the block contains cells of other characters.
                    if self.row(row)[col].is_multicell() {
                        self.flatten(row, col, Cell::EMPTY);
                    }
                }
            }
        }
    }

    /// Whether the multicell character to which a cell belongs is complete. If there is history, its cells above the
    /// screen count as present.
    fn is_whole(&self, row: usize, col: usize) -> bool {
        let size = self.multicell_size(row, col);
        let (x, y) = self.row(row)[col].multicell_offset();
        let (x, y) = (usize::from(x), usize::from(y));
        let Some(left) = col.checked_sub(x) else { return false };
        let (cols, rows) = (usize::from(size.columns()), usize::from(size.rows()));
        let above = y.saturating_sub(row);
        let first = (row + above) - y;
        if above > 0 && self.limit() == 0 || x >= cols || y >= rows {
            return false;
        }
        if left + cols > self.cols() || first + rows - above > self.rows() {
            return false;
        }
        let is_part = |dx: usize, dy: usize| {
            let (row, col) = (first + dy - above, left + dx);
            self.row(row)[col].multicell_offset() == (dx as u16, dy as u16)
                && self.multicell_size(row, col) == size
        };
        // Check all cells only for the upper left cell on the screen, once per character.
        if (x, y) != (0, above) {
            return is_part(0, above);
        }
        (above..rows).all(|dy| (0..cols).all(|dx| is_part(dx, dy)))
    }

    /// Panics if a row of the screen contains a part of an incomplete multicell character.
    #[cfg(debug_assertions)]
    pub(super) fn check_multicells(&self, row: usize) {
        for (col, cell) in self.row(row).iter().enumerate() {
            let size =
                self.tables(self.table_of(self.slot(row))).view().style(cell.style_id()).size;
            assert_eq!(cell.is_multicell(), !size.is_none(), "size of a cell: {row}, {col}");
            if cell.is_multicell() {
                assert!(
                    self.meta(row).has_multicells(),
                    "multicell character in unmarked row {row}"
                );
                assert!(self.is_whole(row, col), "part of a multicell character: {row}, {col}");
            }
        }
    }
}
