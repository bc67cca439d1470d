//! Cursor motions, and the scrolling they cause.

use crate::term::screen::block::Block;
use crate::term::screen::tabs::Tabs;
use crate::term::settings::modes::DecModes;
use crate::term::{NOWHERE, Position, SavedCursor, ScreenKind, Term};
use crate::{Color, Modes, Point};

impl SavedCursor {
    /// Called after rows have moved. Only a position that a program saved follows its text: otherwise DECRC moves to the
    /// upper left corner, whatever happened before.
    pub(crate) fn rows_have_moved(&mut self) {
        if !self.is_set {
            self.position = Position::default();
        }
    }
}

impl Term {
    /// CUP, HVP: `row` and `col` from 1, within region and margins if DECOM is set.
    pub(crate) fn move_to(&mut self, row: usize, col: usize) {
        self.move_to_row(row);
        self.move_to_col(col);
    }

    /// VPA: `row` from 1, within the region if DECOM is set.
    pub(crate) fn move_to_row(&mut self, row: usize) {
        self.cursor.row = (self.first_row() + row.max(1) - 1).min(self.end_row() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CHA, HPA: `col` from 1, within the margins if DECOM is set.
    #[inline]
    pub(crate) fn move_to_col(&mut self, col: usize) {
        self.cursor.col = (self.first_col() + col.max(1) - 1).min(self.end_col() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CUU: stops at the region's top if it starts inside or below it. After a resize, a shell at its prompt also stops
    /// at the first row that it redraws.
    pub(crate) fn move_up(&mut self, n: usize) {
        let stop = if self.cursor.row >= self.top { self.top } else { 0 };
        let stop = self.redrawn_after_resize().map_or(stop, |row| row.max(stop));
        self.cursor.row = self.cursor.row.saturating_sub(n).max(stop);
        self.cursor.wrap_pending = false;
        self.note_row_start();
    }

    /// CUD: stops at the region's bottom if it starts inside or above it.
    pub(crate) fn move_down(&mut self, n: usize) {
        let end = if self.cursor.row < self.bottom { self.bottom } else { self.grid.rows() };
        self.cursor.row = (self.cursor.row + n).min(end - 1);
        self.cursor.wrap_pending = false;
    }

    /// CUF: stops at the right margin if it starts at or before it.
    pub(crate) fn move_right(&mut self, n: usize) {
        let end = self.line_end(self.cursor.col);
        self.cursor.col = (self.cursor.col + n).min(end - 1);
        self.cursor.wrap_pending = false;
    }

    /// HPR: like CUF, but limited only by the margins that apply with DECOM (xterm).
    pub(crate) fn move_right_any(&mut self, n: usize) {
        self.cursor.col = (self.cursor.col + n).min(self.end_col() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CUB, BS: stops at the left margin if it starts at the margin or to the right of it. With ?45 or ?1045 and
    /// DECAWM, it may continue at the right margin of the previous row ([`Term::wrap_back`]).
    #[inline]
    pub(crate) fn move_left(&mut self, n: usize) {
        if self.dec.intersects(DecModes::REVERSE_WRAP | DecModes::REVERSE_WRAP_ANY)
            && self.modes.contains(Modes::AUTO_WRAP)
        {
            return self.wrap_back(n);
        }
        let stop = if self.cursor.col >= self.left { self.left } else { 0 };
        self.cursor.col = self.cursor.col.saturating_sub(n).max(stop);
        self.cursor.wrap_pending = false;
    }

    /// [`Term::move_left`] with reverse wraparound (xterm since patch 383, ghostty). A pending wrap counts as one column.
    /// ?45 moves only within a line of text: over rows that wrapped into the next. ?1045 moves over any row, and from the
    /// region's top to its bottom, as ?45 did in xterm up to patch 379.
    ///
    /// Rows between margins never count as wrapped here (see [`Term::wrap`]), nor in ghostty, but they do in xterm.
    /// ghostty ends ?45 at the region's top. Like xterm, this does not: the text above is the same line.
    fn wrap_back(&mut self, n: usize) {
        let left = if self.cursor.col >= self.left { self.left } else { 0 };
        let (mut row, mut col) = (self.cursor.row, self.cursor.col);
        let mut steps = n - self.cursor.wrap_pending as usize;
        loop {
            let step = steps.min(col.saturating_sub(left));
            col -= step;
            steps -= step;
            if steps == 0 {
                break;
            }
            row = match row {
                _ if !self.dec.contains(DecModes::REVERSE_WRAP_ANY) => {
                    let above = row.checked_sub(1);
                    match above.filter(|&above| self.grid.meta(above).is_wrapped()) {
                        Some(above) => above,
                        None => break,
                    }
                }
                row if row == self.top => self.bottom - 1,
                0 => self.grid.rows() - 1,
                row => row - 1,
            };
            col = self.right - 1;
            steps -= 1;
        }
        self.cursor = Position { row, col, wrap_pending: false };
    }

    /// VPR: like CUD, but limited only by the region that applies with DECOM (ECMA-48 8.3.160).
    pub(crate) fn move_down_any(&mut self, n: usize) {
        self.cursor.row = (self.cursor.row + n).min(self.end_row() - 1);
        self.cursor.wrap_pending = false;
    }

    /// CR: moves to the left margin, or to the first column if it starts before the margin.
    #[inline]
    pub(crate) fn carriage_return(&mut self) {
        self.cursor.col = self.line_start();
        self.cursor.wrap_pending = false;
    }

    /// The column that CR moves to.
    #[inline]
    fn line_start(&self) -> usize {
        if self.cursor.col < self.left && !self.modes.contains(Modes::ORIGIN) {
            0
        } else {
            self.left
        }
    }

    /// LF, VT, FF; with LNM also CR.
    #[inline]
    pub(crate) fn line_feed(&mut self) {
        self.index();
        if self.modes.contains(Modes::NEW_LINE) {
            self.carriage_return();
        }
    }

    /// CR and LF.
    #[inline]
    pub(crate) fn new_line(&mut self) {
        self.cursor.col = self.line_start();
        self.index();
        self.end_operation();
    }

    /// IND: down one row, scrolling at the region's bottom if the cursor is between the margins.
    #[inline]
    pub(crate) fn index(&mut self) {
        self.cursor.wrap_pending = false;
        self.printed_to = NOWHERE;
        if self.cursor.row + 1 == self.bottom {
            let whole =
                self.top == 0 && self.bottom == self.grid.rows() && self.scrolls_whole_rows();
            if whole && self.pen.style().background == Color::Default {
                self.grid.scroll_screen(self.seq);
            } else if self.is_between_margins() {
                self.scroll_up(1);
            }
        } else if self.cursor.row + 1 < self.grid.rows() {
            self.cursor.row += 1;
        }
    }

    /// RI: up one row, scrolling at the region's top if the cursor is between the margins.
    pub(crate) fn reverse_index(&mut self) {
        self.cursor.wrap_pending = false;
        if self.cursor.row != self.top {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        } else if self.is_between_margins() {
            self.scroll_down(1);
        }
    }

    /// NEL.
    pub(crate) fn next_line(&mut self) {
        self.index();
        self.carriage_return();
    }

    /// The block inside the scroll region and the margins.
    pub(crate) fn scrolled_block(&self) -> Block {
        Block { top: self.top, left: self.left, bottom: self.bottom, right: self.right }
    }

    /// SU, and IND at the bottom: moves the region up.
    #[inline]
    pub(crate) fn scroll_up(&mut self, n: usize) {
        self.scroll_block(self.scrolled_block(), -(n as i64), true);
    }

    /// SD, and RI at the top: moves the region down.
    pub(crate) fn scroll_down(&mut self, n: usize) {
        self.scroll_block(self.scrolled_block(), n as i64, true);
    }

    /// SD that takes the new rows from the end of history, where it has them (kitty, "Unscrolling the screen"). At most
    /// one screen, because the rows at the bottom are lost. With a region or margins, and on the alternate screen, no row
    /// returns. kitty returns rows to a region too, though it puts them above it.
    pub(crate) fn unscroll(&mut self, n: usize) {
        let block = self.scrolled_block();
        let n = n.min(block.rows());
        let is_whole = self.scrolls_whole_rows() && block.rows() == self.grid.rows();
        let mut returned = 0;
        if is_whole && self.grid.oldest() < self.grid.live_top() {
            self.flush_scrolled_images();
            returned = self.grid.unscroll(n, self.seq);
            // What was tied to the lost rows is gone: new rows will get their numbers.
            let end = self.grid.live_top() + self.grid.rows() as u64;
            let is_kept = |at: &Point| at.line.0 < end;
            self.visit_anchors(ScreenKind::Main, &mut |point| *point = point.filter(is_kept));
            self.graphics.changed();
        }
        if returned < n {
            self.scroll_down(n - returned);
        }
    }

    /// HT, CHT: if DECLRMM is set, never beyond the right margin, wherever the cursor was (xterm).
    pub(crate) fn tab_forward(&mut self, n: usize) {
        if self.cursor.wrap_pending
            && self.dec.contains(DecModes::TAB_WRAPS)
            && self.modes.contains(Modes::AUTO_WRAP)
        {
            self.index();
            self.cursor.col = 0;
        }
        let end = self.right.min(self.row_cols());
        for _ in 0..n.min(self.grid.cols()) {
            self.cursor.col = self.tabs.next(self.cursor.col).min(end - 1);
        }
        // A tab in the last column leaves the wrap pending (xterm).
        self.settle_wrap();
    }

    /// CBT: if DECOM is set, never beyond the left margin.
    pub(crate) fn tab_backward(&mut self, n: usize) {
        for _ in 0..n.min(self.grid.cols()) {
            self.cursor.col = self.tabs.previous(self.cursor.col).max(self.first_col());
        }
        // A pending wrap stays pending (xterm).
    }

    /// TBC.
    pub(crate) fn clear_tabs(&mut self, what: u16) {
        match what {
            0 => self.tabs.set(self.cursor.col, false),
            3 => self.tabs.clear(),
            _ => {}
        }
    }

    /// DECST8C: a stop at every eighth column.
    pub(crate) fn reset_tabs(&mut self) {
        self.tabs = Tabs::new(self.grid.cols());
    }

    /// DECSC, SCOSC.
    pub(crate) fn save_cursor(&mut self) {
        self.saved = SavedCursor {
            position: self.cursor,
            pen: self.pen.clone(),
            charsets: self.charsets,
            origin: self.modes.contains(Modes::ORIGIN),
            is_set: true,
        };
    }

    /// DECRC, SCORC. With DECOM, the cursor returns to a place above or left of the region if it was saved there (xterm,
    /// ghostty), but not to one below or right of it (xterm). A pending wrap returns as well, wherever the cursor is.
    pub(crate) fn restore_cursor(&mut self) {
        let SavedCursor { position, pen, charsets, origin, .. } = self.saved.clone();
        self.modes.set(Modes::ORIGIN, origin);
        self.cursor = position;
        self.cursor.row = position.row.min(self.end_row() - 1);
        self.cursor.col = position.col.min(self.end_col() - 1);
        // DECSC does not save the link and the prompt role.
        let (link, role) = (self.pen.link().cloned(), self.pen.role());
        self.pen = pen;
        self.pen.set_link(link);
        self.pen.set_role(role);
        self.follow_editor();
        self.charsets = charsets;
    }
}
