//! Changing a grid's size: lines wrapped anew where the width changes, rows to and from history where the height does.
//!
//! Pages of history whose rows all fit stay as they are; only the others are unpacked, joined into lines and parted
//! again. Wrap and prompt marks, wide characters and clusters are kept, and the cursor stays with its text.

use std::sync::Arc;

use crate::cell::{Cell, HEAD, SHOWN, Width};
use crate::grid::Grid;
use crate::history::{PageBuilder, rows_per_page};
use crate::row::{MARKS, RowMeta, WRAPPED};
use crate::tables::{Tables, TablesView};

/// A place on the screen that follows its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub row: usize,
    pub col: usize,
    /// Behind the cell in the last column rather than on it: the next character wraps.
    pub past: bool,
}

impl Place {
    /// Keeps the place on a screen of `cols` columns, where one that is behind its cell may have room again.
    fn fit(&mut self, cols: usize) {
        if self.past && self.col + 1 < cols {
            self.col += 1;
            self.past = false;
        }
        self.col = self.col.min(cols - 1);
    }
}

/// Rows outside any grid, sharing one set of tables.
struct Loose {
    tables: Tables,
    rows: Vec<(Vec<Cell>, RowMeta)>,
}

/// A logical line being put together.
#[derive(Default)]
struct Line {
    cells: Vec<Cell>,
    /// Marks and the cell they belong to.
    marks: Vec<(usize, u8)>,
    revision: u64,
    /// What its last row was filled with behind its text, if not with nothing.
    fill: Cell,
    open: bool,
}

impl Line {
    /// Appends a row; returns where its cells start in the line.
    fn append(&mut self, cells: &[Cell], meta: RowMeta, cols: usize) -> usize {
        let start = self.cells.len();
        if meta.flags & MARKS != 0 {
            self.marks.push((start, meta.flags & MARKS));
        }
        self.revision = self.revision.max(meta.revision);
        self.open = meta.is_wrapped();
        if self.open {
            self.cells.extend_from_slice(cells);
            self.cells.resize(start + cols, Cell::EMPTY);
            if self.cells.last().is_some_and(|cell| cell.width() == Width::Head) {
                self.cells.pop();
            }
        } else {
            let len = cells.iter().rposition(|cell| !cell.is_blank()).map_or(0, |i| i + 1);
            self.cells.extend_from_slice(&cells[..len]);
            self.fill = match cells.last() {
                Some(last) if cells.len() == cols && len < cols => *last,
                _ => Cell::EMPTY,
            };
        }
        start
    }

    /// Parts the line into rows of `cols` cells. `places` are offsets into the line, turned into row and column.
    fn part(
        &mut self,
        cols: usize,
        places: &mut [(usize, Place)],
        mut row: impl FnMut(Vec<Cell>, RowMeta),
    ) {
        let (mut start, mut index) = (0, 0);
        loop {
            let mut end = (start + cols).min(self.cells.len());
            let last = end == self.cells.len();
            let mut cells: Vec<Cell>;
            if !last && self.cells[end].is_tail() && cols > 1 {
                end -= 1;
                cells = self.cells[start..end].to_vec();
                cells.push(Cell(self.cells[end].0 & !SHOWN | HEAD));
            } else {
                cells = self.cells[start..end].to_vec();
            }
            if cols == 1 {
                // No room for two halves: each is a blank of its own.
                for cell in &mut cells {
                    if cell.is_wide() || cell.is_tail() {
                        *cell = cell.blanked();
                    }
                }
            }
            if last && self.fill != Cell::EMPTY {
                cells.resize(cols, self.fill);
            }
            let mut flags = if last { 0 } else { WRAPPED };
            for (at, mark) in &self.marks {
                if *at >= start && (*at < end || last) {
                    flags |= mark;
                }
            }
            for (at, place) in places.iter_mut() {
                if *at >= start && (*at < end || last) {
                    let col = *at - start;
                    *place = Place { row: index, col: col.min(cols - 1), past: col >= cols };
                }
            }
            let occ = cells.len() as u16;
            row(cells, RowMeta { revision: self.revision, occ, flags });
            index += 1;
            if last {
                break;
            }
            start = end;
        }
        *self = Self::default();
    }
}

impl Loose {
    fn new() -> Self {
        Self { tables: Tables::new(), rows: Vec::new() }
    }

    fn adopt(&mut self, cells: &mut [Cell], from: &TablesView<'_>) {
        adopt(&mut self.tables, cells, from);
    }
}

/// Renames the ids of cells into `tables`. A table that is full (more than 65,535 entries) loses what comes after.
fn adopt(tables: &mut Tables, cells: &mut [Cell], from: &TablesView<'_>) {
    let (mut style, mut link) = ((0, 0), (0, 0));
    for cell in cells {
        let id = cell.style_id();
        if id != style.0 {
            style = (id, tables.styles.intern_unbounded(&from.style(id)));
        }
        let id = cell.link_id();
        if id != link.0 {
            link = (id, from.link(id).map_or(0, |link| tables.links.intern_unbounded(link)));
        }
        let cluster = cell.cluster_id().and_then(|id| from.cluster(id));
        *cell = match cluster {
            Some(text) => {
                let id = tables.clusters.intern_unbounded(text);
                if id == 0 { Cell::EMPTY } else { cell.with_ids(style.1, link.1, Some(id)) }
            }
            None => cell.with_ids(style.1, link.1, None),
        };
    }
}

impl Grid {
    /// Changes the size, keeping all text; `places` (the cursor first, then others) follow theirs.
    ///
    /// Rows get new numbers, after all that were ever given out, when the width changes.
    pub(crate) fn reflow(&mut self, cols: usize, rows: usize, places: &mut [Place], revision: u64) {
        self.pack();
        let last_used = self.last_used(places);
        let bottom_full = last_used + 1 >= self.rows();
        let mut loose = Loose::new();
        let mut grid;
        // Row of `loose` that was, or holds what was, the first of the screen.
        let mut top;
        if cols == self.cols() {
            grid = Self::new(cols, rows, self.limit(), self.history.end(), revision);
            std::mem::swap(&mut grid.history, &mut self.history);
            self.loosen(&mut loose, last_used + 1);
            top = 0;
        } else {
            grid = Self::new(cols, rows, self.limit(), self.end(), revision);
            top = self.rewrap(&mut grid, &mut loose, cols, last_used, places);
        }
        let used = loose.rows.len();
        // The screen holds the last of the text, and the cursor.
        let cursor = places.first().map_or(0, |place| place.row);
        if used > top + rows {
            top = (used - rows).min(cursor.max(top));
        }
        if self.limit() == 0 {
            // Without history what does not fit is lost.
        } else {
            let mut builder = PageBuilder::default();
            for (cells, meta) in &loose.rows[..top] {
                builder.push(cells, *meta, loose.tables.view());
                if builder.len() == rows_per_page(cols) {
                    grid.history.push(Arc::new(builder.finish()));
                }
            }
            if builder.len() > 0 {
                grid.history.push(Arc::new(builder.finish()));
            }
        }
        let mut live: Vec<_> = loose.rows.drain(top..).collect();
        live.truncate(rows);
        let taller = rows > self.rows();
        let missing = rows - live.len();
        let pull = if cols == self.cols() {
            if taller { (rows - self.rows()).min(missing) } else { 0 }
        } else if bottom_full {
            missing
        } else {
            0
        };
        let pulled = grid.take_tail(&mut loose, pull);
        let moved = pulled.len();
        live.splice(0..0, pulled);
        grid.settle(&live, &loose.tables, revision);
        for place in places.iter_mut() {
            place.row = (place.row + moved).saturating_sub(top).min(rows - 1);
            place.fit(cols);
        }
        *self = grid;
    }

    /// The last row of the screen that holds anything, or the cursor.
    fn last_used(&self, places: &[Place]) -> usize {
        let cursor = places.first().map_or(0, |place| place.row);
        let text = (0..self.rows()).rev().find(|&row| {
            self.meta(row).flags & MARKS != 0 || self.row(row).iter().any(|cell| !cell.is_blank())
        });
        text.unwrap_or(0).max(cursor)
    }

    /// Copies the screen's first `count` rows to `loose`.
    fn loosen(&self, loose: &mut Loose, count: usize) {
        for row in 0..count {
            let slot = self.slot(row);
            let meta = *self.meta(row);
            let mut cells = self.slot_cells(slot)[..meta.occ as usize].to_vec();
            loose.adopt(&mut cells, &self.tables(self.table_of(slot)).view());
            loose.rows.push((cells, meta));
        }
    }

    /// Wraps history and screen anew: history into `grid`, the lines that reach into the screen into `loose`.
    fn rewrap(
        &mut self,
        grid: &mut Self,
        loose: &mut Loose,
        cols: usize,
        last_used: usize,
        places: &mut [Place],
    ) -> usize {
        let mut line = Line::default();
        let mut builder = PageBuilder::default();
        let mut tables = Tables::new();
        let mut scratch = Vec::new();
        let oldest = self.oldest();
        for (first, page) in self.history.pages() {
            if !line.open && page.fits(cols) && *first >= oldest {
                if builder.len() > 0 {
                    grid.history.push(Arc::new(builder.finish()));
                }
                grid.history.push(page.clone());
                continue;
            }
            for row in oldest.saturating_sub(*first) as usize..page.len() {
                page.unpack(row, &mut scratch);
                if !line.open {
                    // Each logical line has tables of its own: nothing grows with the history.
                    tables = Tables::new();
                    builder.source();
                }
                adopt(&mut tables, &mut scratch, &page.tables());
                line.append(&scratch, page.meta(row), self.cols());
                if !line.open {
                    line.part(cols, &mut [], |cells, meta| {
                        if builder.len() == rows_per_page(cols) {
                            grid.history.push(Arc::new(builder.finish()));
                        }
                        builder.push(&cells, meta, tables.view());
                    });
                }
            }
        }
        if builder.len() > 0 {
            grid.history.push(Arc::new(builder.finish()));
        }
        // What the last line of history has of a line that goes on in the screen.
        let view = tables.view();
        loose.adopt(&mut line.cells, &view);
        let mut top = None;
        let mut tracked: Vec<(usize, usize, Place)> = Vec::new();
        for row in 0..=last_used {
            let slot = self.slot(row);
            let meta = *self.meta(row);
            let mut cells = self.slot_cells(slot)[..meta.occ as usize].to_vec();
            loose.adopt(&mut cells, &self.tables(self.table_of(slot)).view());
            let start = line.append(&cells, meta, self.cols());
            for (i, place) in places.iter().enumerate() {
                if place.row == row {
                    tracked.push((
                        i,
                        start + place.col + usize::from(place.past),
                        Place::default(),
                    ));
                }
            }
            if row == 0 {
                tracked.push((usize::MAX, start, Place::default()));
            }
            if line.open && row < last_used {
                continue;
            }
            let base = loose.rows.len();
            let mut offsets: Vec<_> = tracked.iter().map(|t| (t.1, t.2)).collect();
            // A cursor behind the text keeps its distance from it.
            let furthest = tracked.iter().filter(|t| t.0 == 0).map(|t| t.1).max();
            if let Some(at) = furthest.filter(|at| *at > line.cells.len()) {
                line.cells.resize(at, Cell::EMPTY);
            }
            let open = line.open;
            line.part(cols, &mut offsets, |cells, meta| loose.rows.push((cells, meta)));
            if let Some((_, meta)) = loose.rows.last_mut().filter(|_| open) {
                meta.flags |= WRAPPED;
            }
            for ((i, ..), (_, place)) in tracked.drain(..).zip(offsets) {
                let place = Place { row: base + place.row, ..place };
                match places.get_mut(i) {
                    // Rows of `loose` from here on; marked so that a later row is not taken for an old one.
                    Some(own) => *own = Place { row: place.row | DONE, ..place },
                    None => top = Some(place.row),
                }
            }
        }
        let end = loose.rows.len().saturating_sub(1);
        for place in places.iter_mut() {
            place.row = if place.row & DONE != 0 { place.row & !DONE } else { end };
        }
        top.unwrap_or(0)
    }

    /// Takes up to `count` rows from the end of history.
    fn take_tail(&mut self, loose: &mut Loose, count: usize) -> Vec<(Vec<Cell>, RowMeta)> {
        let mut rows = Vec::new();
        let mut scratch = Vec::new();
        while rows.len() < count {
            let Some(page) = self.history.pop() else { break };
            let keep = page.len().saturating_sub(count - rows.len());
            let mut tail = Vec::new();
            for row in keep..page.len() {
                page.unpack(row, &mut scratch);
                loose.adopt(&mut scratch, &page.tables());
                tail.push((scratch.clone(), page.meta(row)));
            }
            rows.splice(0..0, tail);
            if keep > 0 {
                let mut builder = PageBuilder::default();
                for row in 0..keep {
                    page.unpack(row, &mut scratch);
                    builder.push(&scratch, page.meta(row), page.tables());
                }
                self.history.push(Arc::new(builder.finish()));
            }
        }
        rows
    }

    /// Changes the size by cutting or padding, as the alternate screen does: its program draws it anew.
    pub(crate) fn cut_or_pad(
        &mut self,
        cols: usize,
        rows: usize,
        places: &mut [Place],
        revision: u64,
    ) {
        let cursor = places.first().map_or(0, |place| place.row);
        let top = (cursor + 1).saturating_sub(rows);
        let mut grid = Self::new(cols, rows, self.limit(), self.end(), revision);
        let mut loose = Loose::new();
        self.loosen(&mut loose, self.rows());
        let end = loose.rows.len().min(top + rows);
        for (_, meta) in &mut loose.rows {
            meta.flags &= !WRAPPED;
        }
        grid.settle(&loose.rows[top..end], &loose.tables, revision);
        for place in places.iter_mut() {
            place.row = place.row.saturating_sub(top).min(rows - 1);
            place.fit(cols);
        }
        *self = grid;
    }

    /// Writes `rows` to an empty screen that comes after the history.
    fn settle(&mut self, rows: &[(Vec<Cell>, RowMeta)], tables: &Tables, revision: u64) {
        let cols = self.cols();
        self.start_after_history();
        for (row, (from, meta)) in rows.iter().enumerate() {
            let slot = self.slot(row);
            let table = self.table_of(slot);
            let len = from.len().min(cols);
            for (col, cell) in from[..len].iter().enumerate() {
                let cell = self.adopt(table, *cell, &tables.view());
                self.slot_mut(slot).0[col] = cell;
                // Before the next cell: interning may sweep the cells that are there.
            }
            let (cells, own) = self.slot_mut(slot);
            if len > 0 && cells[len - 1].is_wide() {
                cells[len - 1] = cells[len - 1].blanked();
            }
            *own = RowMeta { revision, occ: len as u16, flags: meta.flags };
        }
    }
}

/// A bit that no row number has.
const DONE: usize = 1 << (usize::BITS - 1);
