//! The cursor's motions, and the scrolling they cause.

use crate::term::{SavedCursor, Term};
use crate::{Color, Modes};

impl Term {
    /// First row the cursor may be sent to: the region's under DECOM, else the screen's.
    fn first_row(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.top } else { 0 }
    }

    /// Row after the last the cursor may be sent to.
    fn end_row(&self) -> usize {
        if self.modes.contains(Modes::ORIGIN) { self.bottom } else { self.grid.rows() }
    }

    /// CUP, HVP: `row` and `col` from 1.
    pub(crate) fn move_to(&mut self, row: usize, col: usize) {
        self.move_to_row(row);
        self.move_to_col(col);
    }

    /// VPA: `row` from 1, within the region under DECOM.
    pub(crate) fn move_to_row(&mut self, row: usize) {
        self.cursor.row = (self.first_row() + row.max(1) - 1).min(self.end_row() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CHA, HPA: `col` from 1.
    #[inline]
    pub(crate) fn move_to_col(&mut self, col: usize) {
        self.cursor.col = (col.max(1) - 1).min(self.grid.cols() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CUU: stops at the region's top if it starts inside or below it.
    pub(crate) fn move_up(&mut self, n: usize) {
        let stop = if self.cursor.row >= self.top { self.top } else { 0 };
        self.cursor.row = self.cursor.row.saturating_sub(n).max(stop);
        self.cursor.wrap_pending = false;
    }

    /// CUD: stops at the region's bottom if it starts inside or above it.
    pub(crate) fn move_down(&mut self, n: usize) {
        let end = if self.cursor.row < self.bottom { self.bottom } else { self.grid.rows() };
        self.cursor.row = (self.cursor.row + n).min(end - 1);
        self.cursor.wrap_pending = false;
    }

    /// CUF, HPR.
    pub(crate) fn move_right(&mut self, n: usize) {
        self.cursor.col = (self.cursor.col + n).min(self.grid.cols() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CUB, BS.
    pub(crate) fn move_left(&mut self, n: usize) {
        self.cursor.col = self.cursor.col.saturating_sub(n);
        self.cursor.wrap_pending = false;
    }

    /// VPR: as CUD, but not stopped by the region (ECMA-48 8.3.160).
    pub(crate) fn move_down_any(&mut self, n: usize) {
        self.cursor.row = (self.cursor.row + n).min(self.end_row() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CR.
    #[inline]
    pub(crate) fn carriage_return(&mut self) {
        self.cursor.col = 0;
        self.cursor.wrap_pending = false;
    }

    /// LF, VT, FF; with LNM also CR.
    #[inline]
    pub(crate) fn line_feed(&mut self) {
        self.index();
        if self.modes.contains(Modes::NEW_LINE) {
            self.cursor.col = 0;
        }
    }

    /// CR and LF.
    #[inline]
    pub(crate) fn new_line(&mut self) {
        self.cursor.col = 0;
        self.index();
    }

    /// IND: down one row, scrolling at the region's bottom.
    #[inline]
    pub(crate) fn index(&mut self) {
        self.cursor.wrap_pending = false;
        if self.cursor.row + 1 == self.bottom {
            let whole = self.top == 0 && self.bottom == self.grid.rows();
            if whole && self.pen.style().background == Color::Default {
                self.grid.scroll_screen(self.seq);
            } else {
                self.scroll_up(1);
            }
        } else if self.cursor.row + 1 < self.grid.rows() {
            self.cursor.row += 1;
        }
    }

    /// RI: up one row, scrolling at the region's top.
    pub(crate) fn reverse_index(&mut self) {
        self.cursor.wrap_pending = false;
        if self.cursor.row == self.top {
            self.scroll_down(1);
        } else {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
    }

    /// NEL.
    pub(crate) fn next_line(&mut self) {
        self.index();
        self.cursor.col = 0;
    }

    /// SU, and what IND does at the bottom: the region moves up.
    #[inline]
    pub(crate) fn scroll_up(&mut self, n: usize) {
        let before = self.grid.live_top();
        self.grid.scroll_up(self.top, self.bottom, n, self.seq, self.pen.blank());
        self.scroll_images(self.top, self.bottom, -(n as i64), before);
    }

    /// SD, and what RI does at the top: the region moves down.
    pub(crate) fn scroll_down(&mut self, n: usize) {
        self.grid.scroll_down(self.top, self.bottom, n, self.seq, self.pen.blank());
        self.scroll_images(self.top, self.bottom, n as i64, self.grid.live_top());
    }

    /// HT, CHT.
    pub(crate) fn tab_forward(&mut self, n: usize) {
        for _ in 0..n.min(self.grid.cols()) {
            self.cursor.col = self.tabs.next(self.cursor.col);
        }
        // A tab in the last column leaves the wrap pending (xterm).
    }

    /// CBT.
    pub(crate) fn tab_backward(&mut self, n: usize) {
        for _ in 0..n.min(self.grid.cols()) {
            self.cursor.col = self.tabs.previous(self.cursor.col);
        }
        self.cursor.wrap_pending = false;
    }

    /// TBC.
    pub(crate) fn clear_tabs(&mut self, what: u16) {
        match what {
            0 => self.tabs.set(self.cursor.col, false),
            3 => self.tabs.clear(),
            _ => {}
        }
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

    /// DECSC, SCOSC.
    pub(crate) fn save_cursor(&mut self) {
        self.saved = SavedCursor {
            position: self.cursor,
            pen: self.pen.clone(),
            charsets: self.charsets,
            origin: self.modes.contains(Modes::ORIGIN),
        };
    }

    /// DECRC, SCORC.
    pub(crate) fn restore_cursor(&mut self) {
        let SavedCursor { position, pen, charsets, origin } = self.saved.clone();
        self.modes.set(Modes::ORIGIN, origin);
        self.cursor = position;
        self.cursor.row = position.row.clamp(self.first_row(), self.end_row() - 1);
        self.cursor.col = position.col.min(self.grid.cols() - 1);
        self.cursor.wrap_pending &= self.cursor.col + 1 == self.grid.cols();
        // Link and prompt role are not part of what DECSC saves.
        let (link, role) = (self.pen.link().cloned(), self.pen.role());
        self.pen = pen;
        self.pen.set_link(link);
        self.pen.set_role(role);
        self.charsets = charsets;
    }
}
