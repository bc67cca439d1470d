//! Erasing, inserting and deleting.

use crate::grid::cell::Cell;
use crate::grid::row::WRAPPED;
use crate::term::screen::block::Block;
use crate::term::{ScreenKind, Term};

/// Which erases respect protected cells, as the last control used set it (xterm).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Protection {
    /// No cell is protected.
    #[default]
    Off,
    /// SPA (ECMA-48): protects from ED, EL, ECH, DECSED and DECSEL, but not from DECSERA.
    Iso,
    /// DECSCA: protects only from the selective erases DECSED, DECSEL and DECSERA.
    Dec,
}

impl Term {
    /// DECSCA: 1 protects text printed from now on against selective erase, 0 and 2 do not.
    pub(crate) fn set_protection(&mut self, what: u16) {
        self.protection = Protection::Dec;
        if what <= 2 {
            self.pen.set_protected(what == 1);
        }
    }

    /// SPA and EPA: text printed between them is protected against every erase.
    pub(crate) fn guard_area(&mut self, on: bool) {
        if on {
            self.protection = Protection::Iso;
        }
        self.pen.set_protected(on);
    }

    /// An erased cell, with ids of a row's table.
    fn blank_for(&mut self, row: usize) -> Cell {
        let table = self.grid.table_of(self.grid.slot(row));
        self.pen.blank()(&mut self.grid, table)
    }

    /// Erases columns `start..end` of a row, ignoring protection.
    pub(crate) fn erase(&mut self, row: usize, start: usize, end: usize) {
        self.grid.part_wide(row, start, end, self.seq);
        let blank = self.blank_for(row);
        self.grid.fill(row, start, end, blank, self.seq);
    }

    /// Erases columns `start..end` of a row for ED, EL and ECH, which keep cells protected by SPA.
    fn erase_plainly(&mut self, row: usize, start: usize, end: usize) {
        match self.protection {
            Protection::Iso => self.erase_unprotected(row, start, end),
            Protection::Off | Protection::Dec => self.erase(row, start, end),
        }
    }

    /// Erases whole rows `start..end` for ED. This resets them to single width, which EL does not do (DEC STD 070;
    /// xterm).
    fn erase_rows(&mut self, start: usize, end: usize) {
        for row in start..end {
            if self.protection == Protection::Iso {
                self.erase_unprotected(row, 0, self.grid.cols());
                continue;
            }
            self.grid.clear_multicells(row..row + 1, 0..self.grid.cols(), self.seq);
            let blank = self.blank_for(row);
            self.grid.clear_row(row, blank, self.seq);
        }
    }

    /// Clears the whole screen, ignoring protection: for the alternate screen and DECCOLM.
    pub(crate) fn clear_screen(&mut self) {
        let last_text = self.last_text();
        self.clear_rows();
        self.erased_rows(0, self.grid.rows(), last_text);
    }

    /// Clears both screens and the history, ignoring protection: for RIS. The main screen is visible.
    pub(crate) fn clear_everything(&mut self) {
        let last_text = self.last_text();
        for _ in 0..2 {
            self.clear_rows();
            std::mem::swap(&mut self.grid, &mut self.hidden);
        }
        self.grid.clear_history(self.seq);
        self.erase_outputs(0..self.grid.end(), 0, last_text);
    }

    fn clear_rows(&mut self) {
        for row in 0..self.grid.rows() {
            self.grid.clear_multicells(row..row + 1, 0..self.grid.cols(), self.seq);
            let blank = self.blank_for(row);
            self.grid.clear_row(row, blank, self.seq);
        }
    }

    /// Tells the commands of the main screen that rows `start..end` were erased. `last_text`: the value of
    /// [`Term::last_text`] before the erase.
    fn erased_rows(&mut self, start: usize, end: usize, last_text: Option<u64>) {
        if self.screen == ScreenKind::Main && start < end {
            let live = self.grid.live_top();
            self.erase_outputs(live + start as u64..live + end as u64, start, last_text);
        }
    }

    /// Drops the history of the main screen, which is visible.
    fn clear_history(&mut self) {
        self.grid.clear_history(self.seq);
        self.erase_outputs(0..self.grid.live_top(), 0, None);
    }

    /// EL: 0 from the cursor to the end of the row, 1 from its start to the cursor, 2 the whole row.
    pub(crate) fn erase_in_line(&mut self, what: u16) {
        let (row, col, cols) = (self.cursor.row, self.cursor.col, self.grid.cols());
        match what {
            0 => self.erase_plainly(row, col, cols),
            1 => self.erase_plainly(row, 0, col + 1),
            2 => self.erase_plainly(row, 0, cols),
            _ => return,
        }
        self.cursor.wrap_pending = false;
        self.note_row_start();
    }

    /// DECSEL: like EL, but keeps cells protected by DECSCA.
    pub(crate) fn erase_selectively_in_line(&mut self, what: u16) {
        let (row, col, cols) = (self.cursor.row, self.cursor.col, self.grid.cols());
        match what {
            0 => self.erase_selectively(row, col, cols),
            1 => self.erase_selectively(row, 0, col + 1),
            2 => self.erase_selectively(row, 0, cols),
            _ => return,
        }
        self.cursor.wrap_pending = false;
    }

    /// DECSED: like ED 0–2, but keeps cells protected by DECSCA.
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
            self.erase_selectively(row, 0, cols);
        }
        self.cursor.wrap_pending = false;
    }

    /// Erases columns `start..end` of a row for DECSED and DECSEL, which keep protected cells.
    fn erase_selectively(&mut self, row: usize, start: usize, end: usize) {
        match self.protection {
            Protection::Off => self.erase(row, start, end),
            Protection::Iso | Protection::Dec => self.erase_unprotected(row, start, end),
        }
    }

    pub(crate) fn erase_unprotected(&mut self, row: usize, start: usize, end: usize) {
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

    /// ED: 0 from the cursor to the end, 1 from the start to the cursor, 2 the screen, 3 the history (xterm), 22 the screen
    /// after its rows moved to history (kitty, ghostty).
    pub(crate) fn erase_in_display(&mut self, what: u16) {
        let (row, rows) = (self.cursor.row, self.grid.rows());
        let last_text = self.last_text();
        if matches!(what, 2 | 3 | 22) {
            self.extra_cursors.clear();
        }
        match what {
            0 => {
                // An erase from the first column on erases the cursor's row too.
                let first = row + usize::from(self.cursor.col > 0);
                self.erase_in_line(0);
                // From the first cell on, also the cursor's row becomes single width (xterm).
                let is_whole = (row, self.cursor.col) == (0, 0);
                self.erase_rows(if is_whole { 0 } else { row + 1 }, rows);
                self.erased_rows(first, rows, last_text);
            }
            1 => {
                self.erase_in_line(1);
                self.erase_rows(0, row);
                self.erased_rows(0, row, last_text);
            }
            2 | 22 => {
                match what {
                    2 => self.keep_outputs(),
                    _ => {
                        let used = self.used_rows();
                        self.scroll_off(used);
                    }
                }
                self.erase_rows(0, rows);
                self.erased_rows(0, rows, last_text);
                self.clear_images(false);
            }
            3 => {
                self.clear_images(true);
                if self.screen == ScreenKind::Main {
                    self.clear_history();
                }
                return;
            }
            _ => return,
        }
        self.cursor.wrap_pending = false;
    }

    /// Before ED 2: if a shell waits at a prompt, moves the rows above the prompt to history, as ghostty does. A user
    /// who clears the screen there (Ctrl+L) does not mean to lose the output of commands. ED 2 from any other program
    /// erases for good (xterm without `cdXtraScroll`).
    fn keep_outputs(&mut self) {
        let prompt =
            self.commands.last().filter(|last| last.is_prompting()).and_then(|last| last.prompt);
        let (Some(prompt), ScreenKind::Main) = (prompt, self.screen) else { return };
        let above = prompt.line.0.saturating_sub(self.grid.live_top()) as usize;
        if (0..above.min(self.grid.rows())).any(|row| self.grid.meta(row).occ > 0) {
            self.scroll_off(above);
        }
    }

    /// The rows up to the last with text or an image.
    fn used_rows(&mut self) -> usize {
        let text = (0..self.grid.rows()).rev().find(|&row| self.grid.meta(row).occ > 0);
        let images = self.images_end().saturating_sub(self.grid.live_top()) as usize;
        text.map_or(0, |row| row + 1).max(images)
    }

    /// Moves the first `count` rows, and the images on them, to history. Does nothing on the alternate screen, or if a
    /// region or margins are set.
    fn scroll_off(&mut self, count: usize) {
        let block = self.scrolled_block();
        let is_whole = self.scrolls_whole_rows() && block.rows() == self.grid.rows();
        if is_whole && self.screen == ScreenKind::Main {
            self.scroll_block(block, -(count.min(block.bottom) as i64), true);
        }
    }

    /// Deletes what is above the prompt, on the screen and in history. Without a prompt, only the cursor's row stays. The alternate
    /// screen does not change: its program draws it.
    pub fn clear_output(&mut self) {
        if self.screen != ScreenKind::Main {
            return;
        }
        self.begin_batch();
        let last_text = self.last_text();
        let (rows, cursor) = (self.grid.rows(), self.cursor.row);
        let prompt =
            self.commands.last().filter(|last| last.is_prompting()).and_then(|last| last.prompt);
        let first = prompt.map_or(cursor, |prompt| {
            (prompt.line.0.saturating_sub(self.grid.live_top()) as usize).min(cursor)
        });
        self.clear_images(true);
        if prompt.is_none() {
            self.erase_rows(cursor + 1, rows);
        }
        // Rows keep their line when the whole screen scrolls, and so do the marks of the prompt.
        let block = self.scrolled_block();
        if self.scrolls_whole_rows() && block.rows() == rows {
            self.scroll_block(block, -(first as i64), true);
            self.cursor.row -= first;
        } else {
            self.erase_rows(0, first);
            self.erased_rows(0, first, last_text);
        }
        self.clear_history();
        self.end_batch();
    }

    /// ECH.
    pub(crate) fn erase_chars(&mut self, n: usize) {
        let (row, col) = (self.cursor.row, self.cursor.col);
        self.erase_plainly(row, col, (col + n).min(self.grid.cols()));
        self.cursor.wrap_pending = false;
    }

    /// ICH, between the margins.
    pub(crate) fn insert_chars(&mut self, n: usize) {
        self.cursor.wrap_pending = false;
        if self.is_between_margins() {
            self.insert_cells(self.cursor.row, self.cursor.col, n);
        }
    }

    /// Moves a row's cells between column `col` and the right margin to the right by `n`.
    pub(crate) fn insert_cells(&mut self, row: usize, col: usize, n: usize) {
        let (end, cols) = (self.right, self.grid.cols());
        let n = n.min(end.saturating_sub(col));
        if n == 0 {
            return;
        }
        // Characters that span several rows cannot move in one row alone.
        self.grid.clear_tall(row, col..end, self.seq);
        // Blank both halves of each wide character that is split, including those that move.
        for cut in [col, end - n, end] {
            self.grid.part_wide(row, cut, cut, self.seq);
        }
        self.grid.part_wide(row, end - n, end, self.seq);
        let blank = self.blank_for(row);
        let (cells, meta) = self.grid.row_mut(row);
        cells.copy_within(col..end - n, col + n);
        cells[col..col + n].fill(blank);
        // The former end of the row is now inside it.
        let moved = &mut cells[col + n..end];
        if let Some(head) = moved.iter_mut().find(|cell| cell.is_head()) {
            *head = head.blanked();
        }
        let occ = if meta.occ as usize > col { (meta.occ as usize + n).min(end) } else { col };
        meta.occ = occ.max(col + n).max(meta.occ as usize).min(cols) as u16;
        if end == cols {
            meta.flags &= !WRAPPED;
        }
        meta.revision = self.seq;
    }

    /// DCH, between the margins. Outside them it changes nothing, and a wrap stays pending (xterm, ghostty); ICH ends it
    /// (xterm).
    pub(crate) fn delete_chars(&mut self, n: usize) {
        if self.is_between_margins() {
            self.cursor.wrap_pending = false;
            self.delete_cells(self.cursor.row, self.cursor.col, n);
        }
    }

    /// Deletes `n` cells of a row at column `col`. The cells up to the right margin move left.
    pub(crate) fn delete_cells(&mut self, row: usize, col: usize, n: usize) {
        let (end, cols) = (self.right, self.grid.cols());
        let n = n.min(end.saturating_sub(col));
        if n == 0 {
            return;
        }
        self.grid.clear_tall(row, col..end, self.seq);
        self.grid.part_wide(row, col, col + n, self.seq);
        self.grid.part_wide(row, end, end, self.seq);
        let blank = self.blank_for(row);
        let (cells, meta) = self.grid.row_mut(row);
        cells.copy_within(col + n..end, col);
        cells[end - n..end].fill(blank);
        if let Some(head) = cells[col..end].iter_mut().find(|cell| cell.is_head()) {
            *head = head.blanked();
        }
        if blank != Cell::EMPTY {
            meta.occ = meta.occ.max(end as u16);
        }
        if end == cols {
            meta.flags &= !WRAPPED;
        }
        meta.revision = self.seq;
    }

    /// IL: inserts rows at the cursor's row, inside the region and margins.
    pub(crate) fn insert_lines(&mut self, n: usize) {
        self.move_lines(n as i64);
    }

    /// DL: deletes rows from the cursor's row on, inside the region and margins. They do not go to history.
    pub(crate) fn delete_lines(&mut self, n: usize) {
        self.move_lines(-(n as i64));
    }

    fn move_lines(&mut self, rows: i64) {
        if self.is_inside_margins() {
            let block = Block { top: self.cursor.row, ..self.scrolled_block() };
            self.scroll_block(block, rows, false);
            self.carriage_return();
        }
    }

    /// DECIC: inserts columns at the cursor, in every row of the region.
    pub(crate) fn insert_columns(&mut self, n: usize) {
        if self.is_inside_margins() {
            self.insert_columns_at(self.cursor.col, n);
        }
    }

    /// DECDC: deletes columns from the cursor on, in every row of the region.
    pub(crate) fn delete_columns(&mut self, n: usize) {
        if self.is_inside_margins() {
            self.delete_columns_at(self.cursor.col, n);
        }
    }

    fn insert_columns_at(&mut self, col: usize, n: usize) {
        for row in self.top..self.bottom {
            self.insert_cells(row, col, n);
        }
    }

    fn delete_columns_at(&mut self, col: usize, n: usize) {
        for row in self.top..self.bottom {
            self.delete_cells(row, col, n);
        }
    }

    /// SL (ECMA-48 8.3.121): moves the region left by `n` columns, only if the cursor is in it (xterm).
    pub(crate) fn scroll_left(&mut self, n: usize) {
        if self.is_inside_margins() {
            self.delete_columns_at(self.left, n);
        }
    }

    /// SR (ECMA-48 8.3.135): moves the region right by `n` columns, only if the cursor is in it (xterm).
    pub(crate) fn scroll_right(&mut self, n: usize) {
        if self.is_inside_margins() {
            self.insert_columns_at(self.left, n);
        }
    }

    /// DECBI: moves left; at the left margin, moves the region right.
    pub(crate) fn back_index(&mut self) {
        if self.cursor.col != self.left {
            return self.move_left(1);
        }
        if self.is_inside_margins() {
            self.insert_columns_at(self.left, 1);
        }
    }

    /// DECFI: moves right; at the right margin, moves the region left.
    pub(crate) fn forward_index(&mut self) {
        if self.cursor.col + 1 != self.right {
            return self.move_right(1);
        }
        if self.is_inside_margins() {
            self.delete_columns_at(self.left, 1);
        }
    }

    /// DECALN: fills the screen with `E` (DEC STD 070), and resets region, margins and origin mode. Leaves DECLRMM set,
    /// unlike other resets (xterm).
    pub(crate) fn alignment_test(&mut self) {
        (self.top, self.bottom) = (0, self.grid.rows());
        (self.left, self.right) = (0, self.grid.cols());
        self.modes.remove(crate::Modes::ORIGIN);
        self.pen.style_mut().attrs = Default::default();
        self.pen.style_mut().underline = Default::default();
        let last_text = self.last_text();
        for row in 0..self.grid.rows() {
            self.grid.clear_row(row, Cell::EMPTY, self.seq);
            self.grid.fill(row, 0, self.grid.cols(), Cell(b'E' as u64), self.seq);
        }
        self.erased_rows(0, self.grid.rows(), last_text);
        self.move_to(1, 1);
    }
}
