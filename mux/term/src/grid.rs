//! A screen's cells: the visible rows, the rows that just scrolled off, and the history before them.
//!
//! Owns rows and their movement. Has no access to cursors, pens or sequences. Each row occupies a fixed place in memory
//! (a "slot"), and a ring maps rows to slots, so that scrolling the whole screen moves no cells: the top row becomes a
//! *pending* row. If no slot is free, all pending rows are packed into one page of [`History`]. A history limit
//! reserves no memory: memory grows with the number of stored lines.
//!
//! The number of a line never changes while the line is stored. `live_top` is the number of the screen's first row.
//! Pending rows come before it, and history before those.

mod append;
pub(crate) mod cell;
pub(crate) mod cold;
pub(crate) mod geometry;
pub(crate) mod history;
pub(crate) mod link;
mod multicell;
pub(crate) mod page;
pub(crate) mod reflow;
pub(crate) mod row;
pub(crate) mod row_text;
mod span;
pub(crate) mod style;
pub(crate) mod tables;
pub(crate) mod text_size;
pub(crate) mod tiles;

use std::sync::Arc;

use crate::grid::cell::{Cell, WITHOUT_IDS};
use crate::grid::history::{FoundPage, History, Stored};
use crate::grid::link::Link;
use crate::grid::page::{PackedRow, Page, PageBuilder, rows_per_page};
use crate::grid::row::{MULTICELL, RowMeta, WRAPPED};
use crate::grid::span::Span;
use crate::grid::style::Style;
use crate::grid::tables::{ClusterId, Id, LinkId, StyleId, Tables, TablesView};
use crate::work;

pub(crate) use append::write_ascii;

/// The number of cells that share one set of tables. There are fewer cells than ids, so a table always has room after a
/// sweep.
const CELLS_PER_TABLE: usize = 60_000;

/// The number of bytes of history for each line of the limit. On a very narrow screen, a line needs so many rows that
/// fewer lines fit. Even then, history stores at least as many rows as the limit has lines.
const LINE_BYTES: usize = 2048;

/// The cells of a screen. See the module.
pub(crate) struct Grid {
    cols: usize,
    rows: usize,
    /// The number of slots: `rows`, plus the slots for pending rows.
    slots: usize,
    /// `slots * cols` cells.
    cells: Vec<Cell>,
    /// The data of each slot. A slot without a row is all zero: cells, `occ` and flags.
    meta: Vec<RowMeta>,
    /// The ring: slots in the order of lines, starting at `head`.
    order: Vec<u32>,
    /// The index in the ring of the first pending row.
    head: usize,
    /// The index in the ring of the screen's first row: `head + pending`, wrapped.
    top: usize,
    /// The number of rows that have scrolled off but are not packed yet.
    pending: usize,
    /// The tables of ids: one set for every `rows_per_table` slots.
    tables: Vec<Tables>,
    rows_per_table: usize,
    /// Increases whenever ids change their meaning. Ids of an earlier generation must be interned again.
    generation: u32,
    pub(crate) history: History,
    builder: PageBuilder,
    /// Scratch memory for [`Grid::append`].
    spans: Vec<Span>,
    /// The maximum number of lines of history. See [`Grid::oldest`].
    limit: usize,
    live_top: u64,
}

/// What a reader reuses from row to row: memory, and the last page that it read.
#[derive(Default)]
pub(crate) struct Scratch {
    cells: Vec<Cell>,
    page: Option<Arc<Page>>,
}

/// A row to read. `cells` ends at `meta.occ`. The remaining cells are empty.
pub(crate) struct RowView<'a> {
    pub cells: &'a [Cell],
    pub meta: RowMeta,
    pub tables: TablesView<'a>,
}

impl Grid {
    /// An empty grid that stores up to `limit` lines of history. Its first row has the number `live_top`.
    pub fn new(cols: usize, rows: usize, limit: usize, live_top: u64, revision: u64) -> Self {
        let spare = if limit == 0 { 0 } else { rows_per_page(cols) };
        let slots = rows + spare;
        let rows_per_table = (CELLS_PER_TABLE / cols).max(1);
        let mut meta = vec![RowMeta::default(); slots];
        for row in &mut meta[..rows] {
            row.revision = revision;
        }
        Self {
            cols,
            rows,
            slots,
            // Empty cells are zero bits, so the system allocates this memory only when cells are written.
            cells: bytemuck::zeroed_vec(slots * cols),
            meta,
            order: (0..slots as u32).collect(),
            head: 0,
            top: 0,
            pending: 0,
            tables: (0..slots.div_ceil(rows_per_table)).map(|_| Tables::new()).collect(),
            rows_per_table,
            generation: 0,
            history: History::starting_at(live_top),
            builder: PageBuilder::default(),
            spans: Vec::new(),
            limit,
            live_top,
        }
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn live_top(&self) -> u64 {
        self.live_top
    }

    /// The number of the row after the last row.
    pub fn end(&self) -> u64 {
        self.live_top + self.rows as u64
    }

    /// The number of the oldest stored row. The limit counts lines, not rows, so a narrow screen loses no history.
    pub fn oldest(&self) -> u64 {
        let start = self.history.start();
        if self.live_top - start <= self.limit as u64 {
            return start;
        }
        let row_bytes = self.cols + size_of::<PackedRow>();
        let most = self.limit.saturating_mul(LINE_BYTES) / row_bytes;
        let oldest = self.live_top.saturating_sub(most.max(self.limit) as u64);
        self.after_excess_lines().max(oldest)
    }

    /// The number of the first row after the lines of history that exceed the limit.
    fn after_excess_lines(&self) -> u64 {
        let hot = self.live_top - self.pending as u64;
        let is_wrapped = |place: usize| {
            self.meta[self.order[(self.head + place) % self.slots] as usize].is_wrapped()
        };
        let pending = (0..self.pending).filter(|&place| !is_wrapped(place)).count() as u64;
        let mut excess = (self.history.lines() + pending).saturating_sub(self.limit as u64);
        for (first, stored) in self.history.entries() {
            let (wraps, lines) = (stored.wraps(), u64::from(stored.wraps().lines));
            if excess < lines || excess == lines && wraps.last {
                return first + stored.rows_of_lines(excess);
            }
            excess -= lines;
        }
        for place in 0..self.pending {
            if excess == 0 {
                return hot + place as u64;
            }
            excess -= u64::from(!is_wrapped(place));
        }
        self.live_top
    }

    pub fn generation(&self) -> u32 {
        self.generation
    }

    #[inline]
    fn place(&self, row: usize) -> usize {
        let place = self.top + row;
        if place >= self.slots { place - self.slots } else { place }
    }

    /// The slot of row `row` of the screen.
    #[inline]
    pub fn slot(&self, row: usize) -> usize {
        debug_assert!(row < self.rows);
        self.order[self.place(row)] as usize
    }

    /// The index of the tables to which the ids in a slot's cells refer.
    #[inline]
    pub fn table_of(&self, slot: usize) -> usize {
        if self.tables.len() == 1 { 0 } else { slot / self.rows_per_table }
    }

    pub fn tables(&self, table: usize) -> &Tables {
        &self.tables[table]
    }

    #[inline]
    pub fn slot_cells(&self, slot: usize) -> &[Cell] {
        &self.cells[slot * self.cols..(slot + 1) * self.cols]
    }

    /// The cells and data of a slot, for writing. The caller must update `occ` and `revision`.
    #[inline]
    pub fn slot_mut(&mut self, slot: usize) -> (&mut [Cell], &mut RowMeta) {
        (&mut self.cells[slot * self.cols..(slot + 1) * self.cols], &mut self.meta[slot])
    }

    /// The data of a slot.
    #[inline]
    pub fn slot_meta(&self, slot: usize) -> &RowMeta {
        &self.meta[slot]
    }

    pub fn row(&self, row: usize) -> &[Cell] {
        self.slot_cells(self.slot(row))
    }

    pub fn row_mut(&mut self, row: usize) -> (&mut [Cell], &mut RowMeta) {
        self.slot_mut(self.slot(row))
    }

    pub fn meta(&self, row: usize) -> &RowMeta {
        &self.meta[self.slot(row)]
    }

    pub fn meta_mut(&mut self, row: usize) -> &mut RowMeta {
        let slot = self.slot(row);
        &mut self.meta[slot]
    }

    // --- tables

    /// The id of `style` in `table`. 0 if all ids of the table are in use.
    #[inline]
    pub fn intern_style(&mut self, table: usize, style: &Style) -> u16 {
        if style.is_default() {
            return 0;
        }
        match self.tables[table].styles.intern(style) {
            Some(id) => id,
            None => {
                self.sweep::<StyleId>(table);
                self.tables[table].styles.intern(style).unwrap_or(0)
            }
        }
    }

    /// The id of `link` in `table`. 0 if all ids of the table are in use.
    pub fn intern_link(&mut self, table: usize, link: &Arc<Link>) -> u16 {
        let count = self.tables[table].links.items().len();
        if let Some(id) = self.tables[table].links.intern(link) {
            if self.tables[table].links.items().len() > count {
                self.tables[table].count_links(count);
            }
            return id;
        }
        self.sweep::<LinkId>(table);
        let id = self.tables[table].links.intern(link).unwrap_or(0);
        self.tables[table].count_links(0);
        id
    }

    /// The size in bytes of the links in all stored rows. It includes the links of replaced text until
    /// [`Grid::sweep_links`].
    pub fn link_bytes(&self) -> usize {
        let screen: usize = self.tables.iter().map(|tables| tables.link_bytes()).sum();
        screen + self.history.link_bytes()
    }

    /// Drops the links of replaced text.
    pub fn sweep_links(&mut self) {
        (0..self.tables.len()).for_each(|table| self.sweep::<LinkId>(table));
    }

    /// The id of `cluster` in `table`. `None` if all ids of the table are in use.
    pub fn intern_cluster(&mut self, table: usize, cluster: &str) -> Option<u16> {
        let clusters = &mut self.tables[table].clusters;
        if let Some(id) = clusters.get(cluster) {
            return Some(id);
        }
        let cluster = Arc::from(cluster);
        match clusters.intern(&cluster) {
            Some(id) => Some(id),
            None => {
                self.sweep::<ClusterId>(table);
                self.tables[table].clusters.intern(&cluster)
            }
        }
    }

    #[inline]
    fn tidy<I: Id>(&mut self, table: usize) {
        if I::part(&mut self.tables[table]).is_untidy() {
            self.sweep::<I>(table);
        }
    }

    /// Rebuilds one of the three parts of a table from the ids that its cells still use.
    #[cold]
    fn sweep<I: Id>(&mut self, table: usize) {
        let range = self.table_range(table);
        work::add(range.len());
        let part = I::part(&mut self.tables[table]);
        let mut sweep = part.sweeper();
        for cell in &mut self.cells[range] {
            let old = I::of(*cell);
            if old != 0 {
                *cell = I::with(*cell, sweep.keep(part, old));
            }
        }
        part.swept();
        self.tables[table].count_links(0);
        self.generation += 1;
    }

    fn table_range(&self, table: usize) -> std::ops::Range<usize> {
        let first = table * self.rows_per_table;
        let end = (first + self.rows_per_table).min(self.slots);
        first * self.cols..end * self.cols
    }

    // --- writing

    /// Fills columns `start..end` of a row with `cell`, which must not be half of a wide character.
    pub fn fill(&mut self, row: usize, start: usize, end: usize, cell: Cell, revision: u64) {
        work::add(end - start);
        let cols = self.cols;
        let (cells, meta) = self.row_mut(row);
        meta.revision = revision;
        if end == cols {
            meta.flags &= !WRAPPED;
            if start == 0 {
                meta.flags &= !MULTICELL;
            }
        }
        let occ = meta.occ as usize;
        if cell == Cell::EMPTY {
            if start < occ {
                cells[start..end.min(occ)].fill(cell);
                if end >= occ {
                    meta.occ = start as u16;
                }
            }
        } else {
            cells[start..end].fill(cell);
            meta.occ = occ.max(end) as u16;
        }
    }

    /// Prepares an edit of columns `start..end`: if the edit would split a wide character, blanks the half outside of
    /// the edit. Erases the multicell characters that the edit would change.
    pub fn part_wide(&mut self, row: usize, start: usize, end: usize, revision: u64) {
        let slot = self.slot(row);
        if self.meta[slot].has_multicells() {
            self.cut_multicells(row, start, end, revision);
        }
        part_wide(self.slot_mut(slot).0, start, end);
    }

    /// Sets every cell of a row to `blank` and clears its marks. The caller ensures that no other row holds part of a
    /// multicell character of this row.
    pub fn clear_row(&mut self, row: usize, blank: Cell, revision: u64) {
        let slot = self.slot(row);
        self.clear_slot(slot, blank, revision);
    }

    #[inline]
    fn clear_slot(&mut self, slot: usize, blank: Cell, revision: u64) {
        let cols = self.cols;
        let (cells, meta) = self.slot_mut(slot);
        work::add(1 + if blank == Cell::EMPTY { meta.occ as usize } else { cols });
        let occ = if blank == Cell::EMPTY {
            let occ = meta.occ as usize;
            cells[..occ].fill(blank);
            0
        } else {
            cells.fill(blank);
            cols
        };
        *meta = RowMeta { revision, occ: occ as u16, flags: 0 };
    }

    /// Marks rows `start..end` as changed.
    pub fn touch(&mut self, start: usize, end: usize, revision: u64) {
        let place = self.top + start;
        let place = if place >= self.slots { place - self.slots } else { place };
        let end = place + (end - start);
        let wrapped = end.saturating_sub(self.slots);
        for &slot in self.order[place..end - wrapped].iter().chain(&self.order[..wrapped]) {
            self.meta[slot as usize].revision = revision;
        }
    }

    // --- scrolling

    /// Moves the rows `top..bottom` up by `n`. Fills the new rows at the bottom with the cell that `blank` returns for
    /// their slot's table. Rows that leave the top of the screen are added to history, if there is one.
    pub fn scroll_up(
        &mut self,
        top: usize,
        bottom: usize,
        n: usize,
        revision: u64,
        mut blank: impl FnMut(&mut Self, usize) -> Cell,
    ) {
        if top == 0 && (bottom == self.rows || self.limit > 0) {
            let n = n.min(bottom);
            if bottom < self.rows {
                self.split_multicells(bottom, 0..self.cols, revision);
            }
            if self.limit == 0 {
                self.split_multicells(n, 0..self.cols, revision);
            }
            for _ in 0..n {
                self.advance();
                if bottom < self.rows {
                    // The row that was added at the bottom of the screen belongs above the rows that stay.
                    self.rotate(bottom - 1, self.rows, self.rows - bottom);
                    self.touch(bottom, self.rows, revision);
                }
                let slot = self.slot(bottom - 1);
                let table = self.table_of(slot);
                let cell = blank(self, table);
                self.clear_slot(slot, cell, revision);
            }
        } else {
            self.delete_rows(top, bottom, n, revision, blank);
        }
    }

    /// Like [`Grid::scroll_up`], but never adds rows to history.
    pub fn delete_rows(
        &mut self,
        top: usize,
        bottom: usize,
        n: usize,
        revision: u64,
        mut blank: impl FnMut(&mut Self, usize) -> Cell,
    ) {
        let n = n.min(bottom - top);
        self.clear_multicells(top..top + n, 0..self.cols, revision);
        self.split_multicells(bottom, 0..self.cols, revision);
        self.rotate(top, bottom, n);
        self.touch(top, bottom - n, revision);
        for row in bottom - n..bottom {
            let slot = self.slot(row);
            let table = self.table_of(slot);
            let cell = blank(self, table);
            self.clear_slot(slot, cell, revision);
        }
    }

    /// Moves the rows `top..bottom` down by `n`; see [`Grid::scroll_up`].
    pub fn scroll_down(
        &mut self,
        top: usize,
        bottom: usize,
        n: usize,
        revision: u64,
        mut blank: impl FnMut(&mut Self, usize) -> Cell,
    ) {
        let n = n.min(bottom - top);
        self.split_multicells(top, 0..self.cols, revision);
        self.clear_multicells(bottom - n..bottom, 0..self.cols, revision);
        self.rotate(top, bottom, bottom - top - n);
        for row in top..top + n {
            let slot = self.slot(row);
            let table = self.table_of(slot);
            let cell = blank(self, table);
            self.clear_slot(slot, cell, revision);
        }
        self.touch(top + n, bottom, revision);
    }

    /// Scrolls the whole screen by one row, like [`Grid::scroll_up`]. The new row is empty, in the default style.
    #[inline]
    pub fn scroll_screen(&mut self, revision: u64) {
        self.advance();
        let last = self.top + self.rows - 1;
        let slot = self.order[if last >= self.slots { last - self.slots } else { last }] as usize;
        if self.limit == 0 {
            self.clear_slot(slot, Cell::EMPTY, revision);
            self.split_multicells(0, 0..self.cols, revision);
        } else {
            let meta = &mut self.meta[slot];
            debug_assert!(meta.occ == 0 && meta.flags == 0);
            meta.revision = revision;
        }
    }

    /// Moves the screen down by one line in the ring: its first row leaves, and a slot is added at the bottom. If there
    /// is history, that slot is clean.
    #[inline]
    fn advance(&mut self) {
        if self.limit > 0 {
            if self.pending + self.rows == self.slots {
                self.pack();
            }
            self.pending += 1;
        } else {
            self.head = if self.head + 1 == self.slots { 0 } else { self.head + 1 };
            self.history.restart_at(self.live_top + 1);
        }
        self.top = if self.top + 1 == self.slots { 0 } else { self.top + 1 };
        self.live_top += 1;
    }

    /// Rotates the rows `start..end` left by `n`.
    fn rotate(&mut self, start: usize, end: usize, n: usize) {
        if n == 0 || start + n >= end {
            return;
        }
        work::add(end - start);
        let (first, last) = (self.place(start), self.place(end - 1));
        if first <= last {
            self.order[first..=last].rotate_left(n);
            return;
        }
        let mut reverse = |mut a: usize, mut b: usize| {
            while a + 1 < b {
                b -= 1;
                let (i, j) = (self.place(a), self.place(b));
                self.order.swap(i, j);
                a += 1;
            }
        };
        reverse(start, start + n);
        reverse(start + n, end);
        reverse(start, end);
    }

    // --- history

    /// Packs the pending rows into a page.
    pub fn pack(&mut self) {
        if self.pending == 0 {
            return;
        }
        let mut builder = std::mem::take(&mut self.builder);
        let mut table = usize::MAX;
        let mut place = self.head;
        builder.reserve(self.pending);
        for _ in 0..self.pending {
            let slot = self.order[place] as usize;
            place = if place + 1 == self.slots { 0 } else { place + 1 };
            if self.table_of(slot) != table {
                table = self.table_of(slot);
                builder.source();
            }
            let (start, meta) = (slot * self.cols, &mut self.meta[slot]);
            let cells = &mut self.cells[start..start + meta.occ as usize];
            builder.take(cells, *meta, &self.tables[table]);
            *meta = RowMeta::default();
        }
        let page = builder.finish();
        self.builder = builder;
        self.head = self.top;
        self.pending = 0;
        self.add_page(page);
        // The number of cells in use is lowest now, so this is the best time to sweep the tables.
        for table in 0..self.tables.len() {
            self.tidy::<StyleId>(table);
            self.tidy::<LinkId>(table);
            self.tidy::<ClusterId>(table);
        }
    }

    /// Adds the newest page of history.
    fn add_page(&mut self, page: Page) {
        self.history.push(Stored::Packed(Arc::new(page)));
        self.history.drop_before(self.oldest());
        self.history.freeze_backlog();
    }

    /// Drops all history (ED 3). If a multicell character begins there, also erases its part on the screen.
    pub fn clear_history(&mut self, revision: u64) {
        self.split_multicells(0, 0..self.cols, revision);
        for i in 0..self.pending {
            let slot = self.order[(self.head + i) % self.slots] as usize;
            self.clear_slot(slot, Cell::EMPTY, 0);
        }
        self.pending = 0;
        self.head = self.top;
        self.history = History::starting_at(self.live_top);
    }

    /// The row with number `line`, if it is stored. If its cells must be unpacked, `scratch` holds them.
    pub fn read<'a>(&'a self, line: u64, scratch: &'a mut Scratch) -> Option<RowView<'a>> {
        if line >= self.end() || line < self.live_top && line < self.oldest() {
            return None;
        }
        let hot = self.live_top - self.pending as u64;
        if line >= hot {
            let slot = self.order[(self.head + (line - hot) as usize) % self.slots] as usize;
            let meta = self.meta[slot];
            let cells = &self.slot_cells(slot)[..meta.occ as usize];
            let tables = self.tables[self.table_of(slot)].view();
            return Some(RowView { cells, meta, tables });
        }
        let (page, row) = self.history.find(line)?;
        let page: &Page = match page {
            FoundPage::Here(page) => page,
            FoundPage::Thawed(page) => scratch.page.insert(page),
        };
        page.unpack(row, &mut scratch.cells);
        Some(RowView { cells: &scratch.cells, meta: page.meta(row), tables: page.tables() })
    }

    /// The number of newest rows of history that use at most this many bytes before they are compressed. Rows that are not
    /// packed yet are few, and count as no bytes.
    pub fn rows_within(&self, bytes: usize) -> u64 {
        self.live_top - self.history.end() + self.history.rows_within(bytes)
    }

    /// All stored rows, oldest first, each entry with the number of its first row. Entries of history are returned
    /// unchanged. The other rows are packed into pages.
    pub fn entries(&self) -> Vec<(u64, Stored)> {
        let mut entries: Vec<_> = self.history.entries().cloned().collect();
        let mut builder = PageBuilder::default();
        let mut table = usize::MAX;
        let mut first = self.live_top - self.pending as u64;
        for place in 0..self.pending + self.rows {
            let slot = self.order[(self.head + place) % self.slots] as usize;
            if self.table_of(slot) != table {
                table = self.table_of(slot);
                builder.source();
            }
            builder.push(self.slot_cells(slot), self.meta[slot], self.tables[table].view());
            if builder.len() == rows_per_page(self.cols) || place + 1 == self.pending + self.rows {
                let rows = builder.len() as u64;
                entries.push((first, Stored::Packed(Arc::new(builder.finish()))));
                table = usize::MAX;
                first += rows;
            }
        }
        entries
    }

    /// The data of the row with number `line`, if it is stored.
    pub fn line_meta(&self, line: u64) -> Option<RowMeta> {
        if line >= self.end() || line < self.live_top && line < self.oldest() {
            return None;
        }
        let hot = self.live_top - self.pending as u64;
        if line >= hot {
            let slot = self.order[(self.head + (line - hot) as usize) % self.slots] as usize;
            return Some(self.meta[slot]);
        }
        self.history.find(line).map(|(page, row)| page.meta(row))
    }

    /// Renumbers the screen's rows so that they follow the end of history, and drops history beyond the limit.
    pub fn start_after_history(&mut self) {
        self.live_top = self.history.end();
        self.history.drop_before(self.oldest());
    }

    /// The number of entries in all tables, for tests of their limits.
    #[cfg(test)]
    pub fn table_entries(&self) -> usize {
        let count =
            |t: &Tables| t.styles.items().len() + t.links.items().len() + t.clusters.items().len();
        self.tables.iter().map(count).sum()
    }

    /// Panics if the grid is inconsistent. For tests and debug builds.
    #[cfg(debug_assertions)]
    pub fn check(&self) {
        let mut seen = vec![false; self.slots];
        for &slot in &self.order {
            assert!(!std::mem::replace(&mut seen[slot as usize], true), "slot {slot} twice");
        }
        assert_eq!((self.head + self.pending) % self.slots, self.top);
        assert!(self.pending + self.rows <= self.slots);
        assert_eq!(self.history.end(), self.live_top - self.pending as u64);
        for slot in 0..self.slots {
            let place = self.order.iter().position(|&s| s as usize == slot).unwrap_or_default();
            let used = (place + self.slots - self.head) % self.slots < self.pending + self.rows;
            assert!(used || self.meta[slot].occ == 0, "a free slot is clean");
            self.check_slot(slot);
        }
        (0..self.rows).for_each(|row| self.check_multicells(row));
        self.history.check();
    }

    /// Panics if a row of the screen that `select` accepts is inconsistent.
    #[cfg(debug_assertions)]
    pub fn check_rows(&self, select: impl Fn(&RowMeta) -> bool) {
        (0..self.rows).filter(|&row| select(self.meta(row))).for_each(|row| self.check_row(row));
    }

    /// Panics if a row of the screen is inconsistent.
    #[cfg(debug_assertions)]
    pub fn check_row(&self, row: usize) {
        self.check_slot(self.slot(row));
        self.check_multicells(row);
    }

    #[cfg(debug_assertions)]
    fn check_slot(&self, slot: usize) {
        let (cells, meta) = (self.slot_cells(slot), self.meta[slot]);
        assert!(cells[meta.occ as usize..].iter().all(|c| *c == Cell::EMPTY), "cells after occ");
        let tables = self.tables[self.table_of(slot)].view();
        for (col, cell) in cells.iter().enumerate() {
            assert!(cell.style_id() as usize <= tables.styles.len(), "style id");
            assert!(cell.link_id() as usize <= tables.links.len(), "link id");
            if let Some(id) = cell.cluster_id() {
                assert!(id != 0 && id as usize <= tables.clusters.len(), "cluster id");
            }
            let next_is_tail = cells.get(col + 1).is_some_and(|c| c.is_tail());
            assert_eq!(cell.is_wide(), next_is_tail, "wide and tail, column {col}");
            assert!(col > 0 || !cell.is_tail(), "a tail at the left edge");
        }
    }

    /// Converts a cell of another grid's row to the ids of this grid, so that it looks the same.
    pub fn adopt(&mut self, table: usize, cell: Cell, from: &TablesView<'_>) -> Cell {
        if cell.0 & !WITHOUT_IDS == 0 && cell.cluster_id().is_none() {
            return cell;
        }
        let style = self.intern_style(table, &from.style(cell.style_id()));
        let link = from.link(cell.link_id()).map_or(0, |link| self.intern_link(table, link));
        match cell.cluster_id() {
            None => cell.with_ids(style, link, None),
            Some(id) => {
                let id = from.cluster(id).and_then(|text| self.intern_cluster(table, text));
                match id {
                    Some(id) => cell.with_ids(style, link, Some(id)),
                    None => Cell(cell.blanked().0 & WITHOUT_IDS),
                }
            }
        }
    }
}

/// Blanks both outer halves of wide characters at the edges of an edit. See [`Grid::part_wide`].
#[inline]
pub(crate) fn part_wide(cells: &mut [Cell], start: usize, end: usize) {
    if start > 0 && start < cells.len() && cells[start].is_tail() {
        cells[start - 1] = cells[start - 1].blanked();
    }
    if end > 0 && end < cells.len() && cells[end].is_tail() {
        cells[end] = cells[end].blanked();
    }
}
