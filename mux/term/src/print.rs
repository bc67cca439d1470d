//! Printing: characters into cells.
//!
//! Runs of text come whole, so that modes are looked at once a run. What needs more care (joining a cluster, insert
//! mode, character sets) goes one character at a time.

use crate::Modes;
use crate::cell::{CLUSTER, Cell, Content, HEAD, SHOWN, TAIL, WIDE};
use crate::grid::part_wide;
use crate::row::WRAPPED;
use crate::term::{Position, Term};
use crate::unicode::{Class, cluster_width, joins, may_join, props};

/// Bytes of a cluster; what would join it beyond that is dropped.
const CLUSTER_CAP: usize = 128;

/// A cluster being put together, without the heap.
struct Cluster {
    bytes: [u8; CLUSTER_CAP],
    len: usize,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { bytes: [0; CLUSTER_CAP], len: 0 }
    }
}

impl Cluster {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }

    /// Adds `c`; false when there is no room.
    fn push(&mut self, c: char) -> bool {
        let end = self.len + c.len_utf8();
        if end > CLUSTER_CAP {
            return false;
        }
        c.encode_utf8(&mut self.bytes[self.len..]);
        self.len = end;
        true
    }

    fn set(&mut self, text: &str) -> bool {
        self.len = text.len().min(CLUSTER_CAP);
        self.bytes[..self.len].copy_from_slice(&text.as_bytes()[..self.len]);
        true
    }
}

impl Term {
    /// Prints bytes that are all 0x20–0x7e.
    #[inline]
    pub(crate) fn print_ascii(&mut self, text: &[u8]) {
        let Some(&last) = text.last() else { return };
        if !self.prints_plainly() {
            for &byte in text {
                self.print_char(byte as char);
            }
            return;
        }
        let mut rest = text;
        let cols = self.grid.cols();
        if self.cursor.col > 0 {
            // Nothing below U+0600 takes the next character into its cluster: the neighbour's bits settle nearly all.
            let before =
                if self.cursor.wrap_pending { self.cursor.col } else { self.cursor.col - 1 };
            let slot = self.grid.slot(self.cursor.row);
            if self.grid.slot_cells(slot)[before].0 & (SHOWN & !WIDE) >= 0x600 {
                self.print_char(text[0] as char);
                rest = &text[1..];
            }
        }
        if rest.is_empty() {
            return;
        }
        while !rest.is_empty() {
            if self.cursor.wrap_pending {
                if self.modes.contains(Modes::AUTO_WRAP) {
                    self.wrap();
                } else {
                    // Every further character overwrites the last column.
                    rest = &rest[rest.len() - 1..];
                    self.cursor.wrap_pending = false;
                }
            }
            let col = self.cursor.col;
            let (now, later) = rest.split_at(rest.len().min(cols - col));
            let slot = self.grid.slot(self.cursor.row);
            let table = self.grid.table_of(slot);
            let bits = self.pen.bits(&mut self.grid, table);
            let (cells, meta) = self.grid.slot_mut(slot);
            let end = col + now.len();
            part_wide(cells, col, end);
            for (cell, &byte) in cells[col..end].iter_mut().zip(now) {
                *cell = Cell(bits | byte as u64);
            }
            meta.revision = self.seq;
            meta.occ = meta.occ.max(end as u16);
            if end == cols {
                meta.flags &= !WRAPPED;
                self.cursor.col = cols - 1;
                self.cursor.wrap_pending = true;
            } else {
                self.cursor.col = end;
            }
            rest = later;
        }
        self.last_printed = Some(last as char);
    }

    /// Prints text without C0 controls and DEL.
    pub(crate) fn print_run(&mut self, text: &str) {
        if !self.prints_plainly() {
            for c in text.chars() {
                self.print_char(c);
            }
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            rest = self.print_fast(rest);
            let mut chars = rest.chars();
            if let Some(c) = chars.next() {
                self.print_char(c);
                rest = chars.as_str();
            }
        }
    }

    /// Prints characters into the cursor's row as long as each simply starts a cell of its own; returns the rest.
    fn print_fast<'a>(&mut self, text: &'a str) -> &'a str {
        if self.cursor.wrap_pending {
            return text;
        }
        let graphemes = self.modes.contains(Modes::GRAPHEMES);
        let mut before = self.class_before();
        let cols = self.grid.cols();
        let slot = self.grid.slot(self.cursor.row);
        let table = self.grid.table_of(slot);
        let bits = self.pen.bits(&mut self.grid, table);
        let (cells, meta) = self.grid.slot_mut(slot);
        let start = self.cursor.col;
        let mut col = start;
        let mut last = None;
        let cuts = cells[start].is_tail();
        let mut chars = text.chars();
        let mut rest = text;
        while let Some(c) = chars.next() {
            let code = c as u32;
            if code.wrapping_sub(0x80) < 0x20 {
                break;
            }
            let props = props(c);
            let class = props.class();
            let width = props.width();
            let apart = if graphemes { !may_join(before, class) } else { true };
            if !apart || width == 0 || col + width > cols {
                break;
            }
            if width == 1 {
                cells[col] = Cell(bits | code as u64);
            } else {
                cells[col] = Cell(bits | code as u64 | WIDE);
                cells[col + 1] = Cell(bits | TAIL);
            }
            col += width;
            before = class;
            last = Some(c);
            rest = chars.as_str();
        }
        if last.is_none() {
            return rest;
        }
        if cuts {
            cells[start - 1] = cells[start - 1].blanked();
        }
        if col < cols && cells[col].is_tail() {
            cells[col] = cells[col].blanked();
        }
        meta.revision = self.seq;
        meta.occ = meta.occ.max(col as u16);
        if col == cols {
            meta.flags &= !WRAPPED;
            self.cursor.col = cols - 1;
            self.cursor.wrap_pending = true;
        } else {
            self.cursor.col = col;
        }
        self.last_printed = last;
        rest
    }

    /// Prints one character, whatever it is and whatever modes are in force.
    pub(crate) fn print_char(&mut self, c: char) {
        if ('\u{80}'..='\u{9f}').contains(&c) {
            self.execute(c as u8);
            return;
        }
        let c = self.charsets.map(c);
        let props = props(c);
        if self.join(c, props.class(), props.width()) {
            return;
        }
        if props.width() > 0 {
            self.put(Cell(c as u64), props.width());
            self.last_printed = Some(c);
        }
    }

    /// Puts `shown`, a cell's content of `width` columns, at the cursor.
    fn put(&mut self, shown: Cell, width: usize) {
        let cols = self.grid.cols();
        // A screen of one column has no room for wide characters: they show as narrow ones.
        let width = width.min(cols);
        let wraps = self.modes.contains(Modes::AUTO_WRAP);
        if self.cursor.wrap_pending {
            self.cursor.wrap_pending = false;
            if wraps {
                self.wrap();
            }
        }
        if self.cursor.col + width > cols {
            if !wraps {
                self.cursor.col = cols - width;
            } else {
                self.leave_head();
            }
        }
        let col = self.cursor.col;
        if self.modes.contains(Modes::INSERT) {
            self.insert_cells(width);
        }
        let slot = self.grid.slot(self.cursor.row);
        let table = self.grid.table_of(slot);
        let bits = self.pen.bits(&mut self.grid, table);
        let (cells, meta) = self.grid.slot_mut(slot);
        let end = col + width;
        part_wide(cells, col, end);
        let shown = bits | shown.0;
        if width == 2 {
            cells[col] = Cell(shown | WIDE);
            cells[col + 1] = Cell(bits | TAIL);
        } else {
            cells[col] = Cell(shown);
        }
        meta.revision = self.seq;
        meta.occ = meta.occ.max(end as u16);
        if end == cols {
            meta.flags &= !WRAPPED;
        }
        self.advance_to(end);
    }

    /// Moves the cursor behind what was printed.
    fn advance_to(&mut self, end: usize) {
        let cols = self.grid.cols();
        self.cursor.wrap_pending = end == cols;
        self.cursor.col = end.min(cols - 1);
    }

    /// Ends a row whose last column has no room for a wide character, and goes to the next.
    fn leave_head(&mut self) {
        let cols = self.grid.cols();
        let (row, seq) = (self.cursor.row, self.seq);
        let slot = self.grid.slot(row);
        let table = self.grid.table_of(slot);
        let blank = self.pen.blank()(&mut self.grid, table);
        self.grid.part_wide(row, cols - 1, cols);
        let (cells, meta) = self.grid.slot_mut(slot);
        cells[cols - 1] = Cell(blank.0 | HEAD);
        meta.occ = cols as u16;
        meta.revision = seq;
        self.wrap();
    }

    /// Goes to the start of the next row, which continues this one.
    fn wrap(&mut self) {
        let row = self.cursor.row;
        self.grid.meta_mut(row).flags |= WRAPPED;
        self.grid.meta_mut(row).revision = self.seq;
        self.index();
        self.cursor.col = 0;
        self.cursor.wrap_pending = false;
    }

    /// Whether a run of text may be printed whole.
    #[inline]
    fn prints_plainly(&self) -> bool {
        !self.modes.contains(Modes::INSERT) && self.charsets.is_plain()
    }

    /// The cell before the cursor: its row and column.
    fn cell_before(&self) -> Option<(usize, usize)> {
        let Position { row, col, wrap_pending } = self.cursor;
        let col = if wrap_pending { col } else { col.checked_sub(1)? };
        let tail = self.grid.row(row)[col].is_tail();
        Some((row, col.saturating_sub(tail as usize)))
    }

    /// How the character before the cursor may be joined.
    #[inline]
    fn class_before(&self) -> Class {
        let Some((row, col)) = self.cell_before() else { return Class::Other };
        let slot = self.grid.slot(row);
        let cell = self.grid.slot_cells(slot)[col];
        match cell.content() {
            Content::Empty => Class::Other,
            Content::Char(c) => props(c).class(),
            Content::Cluster(id) => {
                let tables = self.grid.tables(self.grid.table_of(slot)).view();
                let text = tables.cluster(id as u16).map_or("", |text| text);
                text.chars().next_back().map_or(Class::Other, |c| props(c).class())
            }
        }
    }

    /// Adds `c` to the cluster before the cursor if it belongs there; true when it has been dealt with.
    fn join(&mut self, c: char, class: Class, width: usize) -> bool {
        let graphemes = self.modes.contains(Modes::GRAPHEMES);
        let extends = matches!(class, Class::Extend | Class::Joiner);
        if !graphemes && width > 0 {
            return false;
        }
        if !extends && !may_join(self.class_before(), class) {
            return false;
        }
        let Some((row, col)) = self.cell_before() else { return false };
        let slot = self.grid.slot(row);
        let table = self.grid.table_of(slot);
        let cell = self.grid.slot_cells(slot)[col];
        let mut text = Cluster::default();
        match cell.content() {
            Content::Empty if !extends => return false,
            Content::Empty => text.push(' '),
            Content::Char(base) => text.push(base),
            Content::Cluster(id) => {
                let tables = self.grid.tables(table).view();
                tables.cluster(id as u16).is_none_or(|known| text.set(known))
            }
        };
        if !extends && !joins(text.as_str(), c) {
            return false;
        }
        if !text.push(c) {
            return true;
        }
        let old = 1 + cell.is_wide() as usize;
        // A mark without width changes none, but for the variation selectors.
        let keeps = width == 0 && !matches!(c, '\u{fe0e}' | '\u{fe0f}');
        let new = if graphemes && !keeps {
            cluster_width(text.as_str()).min(self.grid.cols())
        } else {
            old
        };
        let Some(id) = self.grid.intern_cluster(table, text.as_str()) else { return true };
        let shown = Cell(CLUSTER | id as u64);
        if (old, new) == (1, 2) && col + 1 == self.grid.cols() {
            self.move_widened(slot, col, table, id);
            return true;
        }
        // The cell after interning: a sweep may have renamed its ids.
        let seq = self.seq;
        let cols = self.grid.cols();
        let (cells, meta) = self.grid.slot_mut(slot);
        let look = cells[col].0 & !SHOWN;
        meta.revision = seq;
        meta.occ = meta.occ.max(col as u16 + 1);
        match (old, new) {
            (1, 2) => {
                part_wide(cells, col + 1, col + 2);
                cells[col] = Cell(look | shown.0 | WIDE);
                cells[col + 1] = Cell(look | TAIL);
                meta.occ = meta.occ.max(col as u16 + 2);
                if col + 2 == cols {
                    meta.flags &= !WRAPPED;
                }
                self.advance_to(col + 2);
            }
            (2, 1) => {
                cells[col] = Cell(look | shown.0);
                cells[col + 1] = cells[col + 1].blanked();
                self.advance_to(col + 1);
            }
            (width, _) => {
                let wide = if width == 2 { WIDE } else { 0 };
                cells[col] = Cell(look | shown.0 | wide);
            }
        }
        true
    }

    /// A cluster in the last column became wide: it moves to the next row, or, where lines don't wrap, stays narrow.
    fn move_widened(&mut self, slot: usize, col: usize, table: usize, id: u16) {
        let wraps = self.modes.contains(Modes::AUTO_WRAP) && self.grid.cols() > 1;
        let text = self.grid.tables(table).view().cluster(id).cloned();
        let seq = self.seq;
        let (cells, meta) = self.grid.slot_mut(slot);
        if !wraps {
            cells[col] = Cell(cells[col].0 & !SHOWN | CLUSTER | id as u64);
            meta.revision = seq;
            return;
        }
        cells[col] = cells[col].blanked();
        self.cursor.col = col;
        self.leave_head();
        let table = self.grid.table_of(self.grid.slot(self.cursor.row));
        if let Some(id) = text.and_then(|text| self.grid.intern_cluster(table, &text)) {
            self.put(Cell(CLUSTER | id as u64), 2);
        }
    }

    /// REP (ECMA-48 8.3.103): prints the last character again, at most as often as the screen has cells.
    pub(crate) fn repeat(&mut self, count: usize) {
        let Some(c) = self.last_printed else { return };
        let count = count.min(self.grid.cols() * self.grid.rows());
        let mut buffer = [0; 4];
        let text = c.encode_utf8(&mut buffer);
        for _ in 0..count {
            if self.prints_plainly() && text.len() == 1 {
                self.print_ascii(text.as_bytes());
            } else {
                self.print_run(text);
            }
        }
    }
}
