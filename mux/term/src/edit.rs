//! Erasing, inserting and deleting.

use crate::cell::Cell;
use crate::row::WRAPPED;
use crate::term::{ScreenKind, Term};

impl Term {
    /// An erased cell for a row's table.
    fn blank_for(&mut self, row: usize) -> Cell {
        let table = self.grid.table_of(self.grid.slot(row));
        self.pen.blank()(&mut self.grid, table)
    }

    /// Erases columns `start..end` of a row.
    fn erase(&mut self, row: usize, start: usize, end: usize) {
        let blank = self.blank_for(row);
        self.grid.part_wide(row, start, end);
        self.grid.fill(row, start, end, blank, self.seq);
    }

    fn erase_rows(&mut self, start: usize, end: usize) {
        for row in start..end {
            let blank = self.blank_for(row);
            self.grid.clear_row(row, blank, self.seq);
        }
    }

    /// EL: 0 from the cursor to the row's end, 1 from its start to the cursor, 2 all of it.
    pub(crate) fn erase_in_line(&mut self, what: u16) {
        let (row, col, cols) = (self.cursor.row, self.cursor.col, self.grid.cols());
        match what {
            0 => self.erase(row, col, cols),
            1 => self.erase(row, 0, col + 1),
            2 => self.erase(row, 0, cols),
            _ => return,
        }
        self.cursor.wrap_pending = false;
    }

    /// DECSEL: as EL, but what DECSCA protects stays.
    pub(crate) fn erase_selectively_in_line(&mut self, what: u16) {
        let (row, col, cols) = (self.cursor.row, self.cursor.col, self.grid.cols());
        match what {
            0 => self.erase_unprotected(row, col, cols),
            1 => self.erase_unprotected(row, 0, col + 1),
            2 => self.erase_unprotected(row, 0, cols),
            _ => return,
        }
        self.cursor.wrap_pending = false;
    }

    /// DECSED: as ED 0–2, but what DECSCA protects stays.
    pub(crate) fn erase_selectively_in_display(&mut self, what: u16) {
        let (row, cols, rows) = (self.cursor.row, self.grid.cols(), self.grid.rows());
        let others = match what {
            0 => row + 1..rows,
            1 => 0..row,
            2 => 0..rows,
            _ => return,
        };
        if what < 2 {
            self.erase_selectively_in_line(what);
        }
        for row in others {
            self.erase_unprotected(row, 0, cols);
        }
        self.cursor.wrap_pending = false;
    }

    fn erase_unprotected(&mut self, row: usize, start: usize, end: usize) {
        let mut col = start;
        while col < end {
            let cells = &self.grid.row(row)[col..end];
            let kept = cells.iter().take_while(|cell| cell.is_protected()).count();
            let erased = cells[kept..].iter().take_while(|cell| !cell.is_protected()).count();
            if erased > 0 {
                self.erase(row, col + kept, col + kept + erased);
            }
            col += kept + erased;
        }
    }

    /// ED: 0 from the cursor on, 1 up to the cursor, 2 the screen, 3 the history (xterm).
    pub(crate) fn erase_in_display(&mut self, what: u16) {
        let (row, rows) = (self.cursor.row, self.grid.rows());
        match what {
            0 => {
                self.erase_in_line(0);
                self.erase_rows(row + 1, rows);
            }
            1 => {
                self.erase_in_line(1);
                self.erase_rows(0, row);
            }
            2 => {
                self.erase_rows(0, rows);
                self.clear_images(false);
            }
            3 => {
                self.clear_images(true);
                if self.screen == ScreenKind::Main {
                    self.grid.clear_history();
                }
                return;
            }
            _ => return,
        }
        self.cursor.wrap_pending = false;
    }

    /// ECH.
    pub(crate) fn erase_chars(&mut self, n: usize) {
        let (row, col) = (self.cursor.row, self.cursor.col);
        self.erase(row, col, (col + n).min(self.grid.cols()));
        self.cursor.wrap_pending = false;
    }

    /// ICH.
    pub(crate) fn insert_chars(&mut self, n: usize) {
        self.insert_cells(n);
        self.cursor.wrap_pending = false;
    }

    /// Moves the row from the cursor on to the right by `n` cells.
    pub(crate) fn insert_cells(&mut self, n: usize) {
        let (row, col, cols) = (self.cursor.row, self.cursor.col, self.grid.cols());
        let n = n.min(cols - col);
        let blank = self.blank_for(row);
        self.grid.part_wide(row, col, col);
        self.grid.part_wide(row, cols - n, cols - n);
        let (cells, meta) = self.grid.row_mut(row);
        cells.copy_within(col..cols - n, col + n);
        cells[col..col + n].fill(blank);
        // A wide character cut at the right edge left its first half behind.
        if cells[cols - 1].is_wide() {
            cells[cols - 1] = cells[cols - 1].blanked();
        }
        if cells[col + n..].first().is_some_and(|cell| cell.is_tail()) {
            cells[col + n] = cells[col + n].blanked();
        }
        let occ = if meta.occ as usize > col { meta.occ as usize + n } else { col };
        meta.occ = occ.max(col + n).min(cols) as u16;
        meta.flags &= !WRAPPED;
        meta.revision = self.seq;
    }

    /// DCH.
    pub(crate) fn delete_chars(&mut self, n: usize) {
        let (row, col, cols) = (self.cursor.row, self.cursor.col, self.grid.cols());
        let n = n.min(cols - col);
        let blank = self.blank_for(row);
        self.grid.part_wide(row, col, col + n);
        let (cells, meta) = self.grid.row_mut(row);
        cells.copy_within(col + n..cols, col);
        cells[cols - n..].fill(blank);
        meta.occ = if blank == Cell::EMPTY { meta.occ } else { cols as u16 };
        meta.flags &= !WRAPPED;
        meta.revision = self.seq;
        self.cursor.wrap_pending = false;
    }

    /// IL: inserts rows at the cursor's, inside the region.
    pub(crate) fn insert_lines(&mut self, n: usize) {
        if (self.top..self.bottom).contains(&self.cursor.row) {
            let blank = self.pen.blank();
            self.grid.scroll_down(self.cursor.row, self.bottom, n, self.seq, blank);
            let live_top = self.grid.live_top();
            self.scroll_images(self.cursor.row, self.bottom, n as i64, live_top);
            self.carriage_return();
        }
    }

    /// DL: deletes rows from the cursor's on, inside the region. They do not go to history.
    pub(crate) fn delete_lines(&mut self, n: usize) {
        if (self.top..self.bottom).contains(&self.cursor.row) {
            let blank = self.pen.blank();
            self.grid.delete_rows(self.cursor.row, self.bottom, n, self.seq, blank);
            let live_top = self.grid.live_top();
            self.scroll_images(self.cursor.row, self.bottom, -(n as i64), live_top);
            self.carriage_return();
        }
    }

    /// DECALN: the screen full of `E` (DEC STD 070), margins and origin reset.
    pub(crate) fn alignment_test(&mut self) {
        self.top = 0;
        self.bottom = self.grid.rows();
        self.modes.remove(crate::Modes::ORIGIN);
        for row in 0..self.grid.rows() {
            self.grid.clear_row(row, Cell::EMPTY, self.seq);
            self.grid.fill(row, 0, self.grid.cols(), Cell(b'E' as u64), self.seq);
        }
        self.move_to(1, 1);
    }
}
