//! Prints multicell characters: text of another size, each in a block of cells.
//!
//! Owns the placement of blocks and the flow of text around them. The grid keeps blocks complete (`grid/multicell.rs`).
//! Source: kitty's "The text sizing protocol", and kitty's behavior if the protocol is silent. If margins are set, a
//! block must fit between them.

use crate::Modes;
use crate::TextSize;
use crate::grid::cell::{CLUSTER, Cell, WIDE};
use crate::term::Term;
use crate::unicode::cluster::{CLUSTER_CAP, clusters};
use crate::work;

impl Term {
    /// Prints text in this size. If the size specifies no width, each cluster becomes a multicell character of its own.
    pub(crate) fn print_sized(&mut self, text: &str, size: TextSize) {
        if size.width() > 0 {
            return self.put_multicell(text, size);
        }
        for (cluster, columns) in clusters(text, self.ambiguous_wide) {
            if size == TextSize::scaled(1) {
                self.put_cluster(cluster, columns);
            } else {
                self.put_multicell(cluster, size.with_width(columns as u32));
            }
        }
    }

    /// Prints a cluster of the base size into one or two cells.
    fn put_cluster(&mut self, cluster: &str, columns: usize) {
        let Some(columns) = self.make_room(columns) else { return };
        let table = self.grid.table_of(self.grid.slot(self.cursor.row));
        if let Some(shown) = self.content(table, cluster) {
            self.write_cell(shown, columns);
        }
    }

    /// The cell content that shows `text`, truncated to the maximum length of a cluster.
    fn content(&mut self, table: usize, text: &str) -> Option<Cell> {
        let mut chars = text.chars();
        if let (Some(only), None) = (chars.next(), chars.next()) {
            return Some(Cell(only as u64));
        }
        work::add(text.len());
        let end =
            (0..=text.len().min(CLUSTER_CAP)).rev().find(|&end| text.is_char_boundary(end))?;
        let id = self.grid.intern_cluster(table, &text[..end])?;
        Some(Cell(CLUSTER | id as u64))
    }

    /// Puts a multicell character at the cursor, or at the next position with enough room. Drops a character that is
    /// larger than the scroll region or the space between the margins.
    fn put_multicell(&mut self, text: &str, size: TextSize) {
        let (width, height) = (usize::from(size.columns()), usize::from(size.rows()));
        if text.is_empty() || width > self.right - self.left || height > self.bottom - self.top {
            return;
        }
        if self.cursor.wrap_pending {
            self.cursor.wrap_pending = false;
            if self.modes.contains(Modes::AUTO_WRAP) {
                self.wrap();
            }
        }
        if !self.pass_multicells(width, true) || !self.make_rows(height) {
            return;
        }
        let (top, col) = (self.cursor.row, self.cursor.col);
        let rows = top..top + height;
        let seq = self.seq;
        if self.modes.contains(Modes::INSERT) && self.is_between_margins() {
            rows.clone().for_each(|row| self.insert_cells(row, col, width));
        }
        for row in rows.clone() {
            // A row that contains a block must be single width.
            let meta = self.grid.meta_mut(row);
            meta.set_line_size(crate::LineSize::Single);
            self.grid.overwrite_multicells(row, col, col + width, seq);
            self.grid.part_wide(row, col, col + width, seq);
        }
        let mut pen = self.pen.clone();
        pen.style_mut().size = size;
        let stop = self.line_end(col);
        for row in rows {
            let slot = self.grid.slot(row);
            let table = self.grid.table_of(slot);
            let first = match row == top {
                true => self.content(table, text),
                false => Some(Cell(Cell::multicell_part(0, row - top))),
            };
            let bits = pen.bits(&mut self.grid, table);
            let (cells, meta) = self.grid.slot_mut(slot);
            for (at, cell) in cells[col..col + width].iter_mut().enumerate() {
                *cell = Cell(bits | Cell::multicell_part(at, row - top));
            }
            if let Some(first) = first {
                let wide = if width > 1 && row == top { WIDE } else { 0 };
                cells[col] = Cell(bits | crate::grid::cell::MULTICELL | first.0 | wide);
            }
            meta.revision = seq;
            meta.occ = meta.occ.max((col + width) as u16);
            meta.flags |= crate::grid::row::MULTICELL;
            if col + width == stop {
                meta.flags &= !crate::grid::row::WRAPPED;
            }
            work::add(width);
        }
        self.advance_to(col + width, stop);
    }

    /// Scrolls until there are `height` rows from the cursor down, and moves the cursor along with its row. Returns
    /// false if scrolling cannot make enough room.
    fn make_rows(&mut self, height: usize) -> bool {
        let is_above_foot = self.cursor.row < self.bottom;
        let end = if is_above_foot { self.bottom } else { self.grid.rows() };
        let missing = (self.cursor.row + height).saturating_sub(end);
        if missing > 0 {
            if !is_above_foot || !self.is_between_margins() {
                return false;
            }
            self.scroll_up(missing);
            self.cursor.row -= missing;
        }
        true
    }

    /// Moves the cursor past the lower rows of multicell characters, until the next `width` columns contain no part of
    /// such a row. Returns false if there is no such position. If a multicell character does not fit in the line, the
    /// cursor wraps; if DECAWM is reset, the cursor instead moves back in the line. For other characters, the caller
    /// handles the end of the line.
    #[inline]
    pub(crate) fn pass_multicells(&mut self, width: usize, is_multicell: bool) -> bool {
        if !is_multicell && !self.grid.meta(self.cursor.row).has_multicells() {
            return true;
        }
        self.pass(width, is_multicell)
    }

    fn pass(&mut self, width: usize, is_multicell: bool) -> bool {
        // The loop ends: the cursor passes each row once, and rows that scroll in are empty.
        for _ in 0..2 * self.grid.rows() {
            let (col, stop) = (self.cursor.col, self.line_end(self.cursor.col));
            let cells = self.grid.row(self.cursor.row);
            let is_free =
                |from: usize, to: usize| !cells[from..to].iter().any(|cell| cell.is_below());
            let last = (stop + 1).saturating_sub(width);
            if let Some(free) = (col..last).find(|&from| is_free(from, from + width)) {
                work::add(free - col + width);
                self.cursor.col = free;
                return true;
            }
            work::add(stop - col);
            if !is_multicell && is_free(col, stop) {
                return true;
            }
            let wraps = self.modes.contains(Modes::AUTO_WRAP);
            if is_multicell && !wraps && width <= stop && is_free(stop - width, stop) {
                self.cursor.col = stop - width;
                return true;
            }
            self.wrap_early();
        }
        tracing::debug!("no room beside multicell characters");
        false
    }

    /// Wraps before the end of a row. The last columns of the row stay unwritten, so that they do not count as blanks
    /// in its text.
    fn wrap_early(&mut self) {
        self.wrap();
        let Some(row) = self.cursor.row.checked_sub(1) else { return };
        let (cells, meta) = self.grid.row_mut(row);
        if meta.is_wrapped() {
            let last = cells.iter().rposition(|cell| *cell != Cell::EMPTY);
            meta.occ = last.map_or(0, |last| last as u16 + 1);
            meta.flags |= crate::grid::row::SHORT;
        }
    }

    /// Marks all rows of a multicell character as changed. Its first cell is at `row` and `col`.
    pub(crate) fn touch_multicell(&mut self, row: usize, col: usize) {
        let rows = usize::from(self.grid.multicell_size(row, col).rows());
        self.grid.touch(row, (row + rows).min(self.grid.rows()), self.seq);
    }
}
