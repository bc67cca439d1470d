//! Grapheme clusters: characters that join the preceding character (UAX #29, mode 2027).

use std::sync::Arc;

use crate::Modes;
use crate::grid::cell::{CLUSTER, Cell, Content, SHOWN, TAIL, WIDE, WIDTH};
use crate::grid::part_wide;
use crate::grid::row::WRAPPED;
use crate::term::{Position, Term};
use crate::unicode::cluster::{CLUSTER_CAP, Joined, joined_width, last_class};
use crate::unicode::{Class, joins, may_join, props};
use crate::work;

impl Term {
    /// Row and column of the last printed cell, if the cursor is still directly after it. A character joins only text
    /// that was printed without cursor motion in between (terminal-unicode-core).
    fn cell_before(&self) -> Option<(usize, usize)> {
        let Position { row, col, wrap_pending } = self.cursor;
        if self.printed_to != self.cursor.key() {
            return None;
        }
        let col = if wrap_pending { col } else { col.checked_sub(1)? };
        Some((row, self.head_of(row, col)?))
    }

    /// The last printed cluster and its columns, if the cursor is still directly after it.
    pub(crate) fn cluster_before(&self) -> Option<(Arc<str>, usize)> {
        let (row, col) = self.cell_before()?;
        let slot = self.grid.slot(row);
        let cell = self.grid.slot_cells(slot)[col];
        let Content::Cluster(id) = cell.content() else { return None };
        let tables = self.grid.tables(self.grid.table_of(slot)).view();
        let text = tables.cluster(id as u16)?;
        Some((text.clone(), 1 + cell.is_wide() as usize))
    }

    /// The first column of the character at a position. `None` below the first row of a multicell character.
    fn head_of(&self, row: usize, col: usize) -> Option<usize> {
        let cell = self.grid.row(row)[col];
        match cell.multicell_offset() {
            (_, 1..) => None,
            (0, 0) => Some(col.saturating_sub(cell.is_tail() as usize)),
            (offset, 0) => col.checked_sub(offset.into()),
        }
    }

    /// The class of the character before the cursor.
    #[inline]
    pub(crate) fn class_before(&self) -> Class {
        let Some((row, col)) = self.cell_before() else { return Class::Other };
        let slot = self.grid.slot(row);
        let cell = self.grid.slot_cells(slot)[col];
        match cell.content() {
            Content::Empty => Class::Other,
            Content::Char(c) => props(c).class(),
            Content::Cluster(id) => {
                let tables = self.grid.tables(self.grid.table_of(slot)).view();
                let text = tables.cluster(id as u16).map_or("", |text| text);
                last_class(text)
            }
        }
    }

    /// Whether an ASCII character joins the cluster before the cursor. Only a prepended mark before it makes that
    /// possible.
    pub(crate) fn may_join_ascii(&self) -> bool {
        self.modes.contains(Modes::GRAPHEMES) && self.class_before() == Class::Prepend
    }

    /// Adds `c` to the cluster before the cursor if it joins that cluster. Returns true if `c` needs no further
    /// handling.
    pub(crate) fn join(&mut self, c: char, class: Class, width: usize) -> bool {
        // A zero-width character always joins the preceding one, so that no text is lost.
        let graphemes = self.modes.contains(Modes::GRAPHEMES);
        if width > 0 && !(graphemes && may_join(self.class_before(), class)) {
            return false;
        }
        let mut text = std::mem::take(&mut self.cluster);
        text.clear();
        let joined = self.join_to(&mut text, c, width);
        self.cluster = text;
        joined
    }

    /// Like [`Term::join`], with `text` as scratch memory for the cluster.
    fn join_to(&mut self, text: &mut String, c: char, width: usize) -> bool {
        let graphemes = self.modes.contains(Modes::GRAPHEMES);
        // A zero-width character joins the preceding one, so that no text is lost.
        let extends = width == 0;
        let before = self.cell_before();
        let Position { row, col, .. } = self.cursor;
        let (row, col) = match before {
            Some(place) => place,
            // After a cursor motion, a mark joins the character under the cursor, as in xterm.
            None if extends && is_mark(c) => match self.head_of(row, col) {
                Some(col) => (row, col),
                None => return false,
            },
            None => return false,
        };
        let slot = self.grid.slot(row);
        let table = self.grid.table_of(slot);
        let cell = self.grid.slot_cells(slot)[col];
        match cell.content() {
            _ if !extends && cell.is_multicell() => return false,
            Content::Empty if !extends => return false,
            Content::Empty => text.push(' '),
            Content::Char(base) => text.push(base),
            Content::Cluster(id) => {
                let tables = self.grid.tables(table).view();
                text.push_str(tables.cluster(id as u16).map_or(" ", |text| text));
            }
        }
        work::add(text.len() + 1);
        if !extends && !joins(text, c) {
            return false;
        }
        if text.len() + c.len_utf8() > CLUSTER_CAP {
            // If the character has a width, it starts a cell of its own. Otherwise it is dropped.
            return extends;
        }
        let old = 1 + cell.is_wide() as usize;
        let widens = graphemes && before.is_some();
        let may_widen = self.may_widen(row, col, cell);
        let new = if widens && may_widen { joined_width(text, old, c, width) } else { old };
        let new = new.min(self.grid.cols());
        text.push(c);
        let Some(id) = self.grid.intern_cluster(table, text) else { return true };
        let shown = Cell(CLUSTER | id as u64);
        let stop = self.line_end(col);
        if (old, new) == (1, 2) && col + 1 == stop {
            self.move_widened(slot, col, table, id);
            return true;
        }
        // Read the cell only after interning, because a sweep may have assigned new ids.
        let seq = self.seq;
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
                if col + 2 == stop {
                    meta.flags &= !WRAPPED;
                }
                self.advance_to(col + 2, stop);
            }
            (2, 1) => {
                cells[col] = Cell(look | shown.0);
                cells[col + 1] = cells[col + 1].blanked();
                self.advance_to(col + 1, stop);
            }
            _ if cell.is_multicell() => {
                cells[col] = Cell(look | shown.0 | cell.0 & WIDTH);
                self.touch_multicell(row, col);
            }
            (width, _) => {
                let wide = if width == 2 { WIDE } else { 0 };
                cells[col] = Cell(look | shown.0 | wide);
            }
        }
        true
    }

    /// Whether a cell may change its number of columns: neither this cell nor the cell after it is part of a multicell
    /// character.
    fn may_widen(&self, row: usize, col: usize, cell: Cell) -> bool {
        let next = self.grid.row(row).get(col + 1);
        !cell.is_multicell() && !next.is_some_and(|next| next.is_multicell())
    }

    /// Adds the characters at the start of the remaining text to the last printed cell, in `slot` at column `col`, as
    /// far as they join it. `text` begins with the cell's content, which `so_far` describes. Returns the new content.
    /// Returns `None` and changes nothing if the cluster is too long or does not fit in its row.
    #[inline(never)]
    pub(crate) fn join_ahead(
        &mut self,
        slot: usize,
        col: usize,
        text: &str,
        so_far: Joined,
    ) -> Option<Joined> {
        let joined = so_far.ahead(text);
        let Joined { end, columns, .. } = joined;
        if col + columns > self.line_end(col) || end > CLUSTER_CAP {
            return None;
        }
        if end == so_far.end {
            return Some(so_far);
        }
        let table = self.grid.table_of(slot);
        let Some(id) = self.grid.intern_cluster(table, &text[..end]) else {
            return Some(Joined { columns: so_far.columns, ..joined });
        };
        let (cells, _) = self.grid.slot_mut(slot);
        let look = cells[col].0 & !SHOWN;
        cells[col] = Cell(look | CLUSTER | id as u64 | if columns == 2 { WIDE } else { 0 });
        if columns == 2 {
            cells[col + 1] = Cell(look | TAIL);
        }
        Some(joined)
    }

    /// Handles a cluster in the last column that became wide. It moves to the next row, or stays narrow if lines do not
    /// wrap.
    fn move_widened(&mut self, slot: usize, col: usize, table: usize, id: u16) {
        let wraps = self.modes.contains(Modes::AUTO_WRAP) && self.line_end(col) > 1;
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
}

/// Whether a zero-width character is visible, that is, not a format control.
fn is_mark(c: char) -> bool {
    c != '\u{200c}'
        && matches!(props(c).class(), Class::Extend | Class::ConjunctExtend | Class::Linker)
}
