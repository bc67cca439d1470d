//! Changing a grid's size: lines wrapped anew where the width changes, rows to and from history where the height does.
//!
//! Pages of history whose rows all fit stay as they are, compressed or not; only the others are unpacked, joined into
//! lines and parted again, a page at a time. Wrap and prompt marks, wide characters and clusters are kept, the cursor
//! stays with its text, and so does what [`crate::anchors`] lists. Multicell characters stay whole ([`layout`]). A row with a piece of an image starts a row again
//! ([`Tiles::refit`]): images are cut off at the right edge, not wrapped.

mod layout;
mod line;
mod packer;

use std::sync::Arc;

use crate::Point;
use crate::anchors::Follow;
use crate::cell::{Cell, WITHOUT_IDS};
use crate::graphics::tiles::Tiles;
use crate::grid::Grid;
use crate::history::{History, Stored};
use crate::page::PageBuilder;
use crate::row::{MARKS, RowMeta, SIZE, WRAPPED};
use crate::tables::{Tables, TablesView};
use line::{LINE_CELLS, Line, Tracked};
use packer::{CARRIED, Packer};

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
        let cluster = cell.cluster_id();
        if cell.0 & !WITHOUT_IDS == 0 && cluster.is_none() {
            continue;
        }
        let id = cell.style_id();
        if id != style.0 {
            style = (id, tables.styles.intern_unbounded(&from.style(id)));
        }
        let id = cell.link_id();
        if id != link.0 {
            link = (id, from.link(id).map_or(0, |link| tables.links.intern_unbounded(link)));
        }
        let (style, link) = (
            if cell.style_id() == 0 { 0 } else { style.1 },
            if cell.link_id() == 0 { 0 } else { link.1 },
        );
        *cell = match cluster.and_then(|id| from.cluster(id)) {
            Some(text) => {
                let id = tables.clusters.intern_unbounded(text);
                if id == 0 { Cell::EMPTY } else { cell.with_ids(style, link, Some(id)) }
            }
            None => cell.with_ids(style, link, None),
        };
    }
}

impl Grid {
    /// Changes the size, keeping all text; `places` (the cursor first, then others) and `points` follow theirs.
    ///
    /// Rows get new numbers, after all that were ever given out, when the width changes.
    pub(crate) fn reflow(
        &mut self,
        cols: usize,
        rows: usize,
        places: &mut [Place],
        points: &mut [Option<Point>],
        tiles: &Tiles,
        revision: u64,
    ) {
        self.pack();
        // Rows beyond the limit must not come back where the screen takes rows from history.
        let oldest = self.oldest();
        self.history.trim(oldest);
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
            let mut follow = Follow::new(points);
            top = self.rewrap(&mut grid, &mut loose, last_used, places, &mut follow, tiles);
        }
        let used = loose.rows.len();
        // The screen holds the last of the text, and the cursor.
        let cursor = places.first().map_or(0, |place| place.row);
        if used > top + rows {
            top = (used - rows).min(cursor.max(top));
        }
        if self.limit() == 0 {
            // Without history what does not fit is lost.
            let end = grid.history.end();
            grid.history.restart_at(end + top as u64);
        } else {
            let mut packer = Packer::new(&mut grid.history, cols);
            for (cells, meta) in &loose.rows[..top] {
                packer.push(cells, *meta, loose.tables.view());
            }
            packer.finish();
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
        let (oldest, end) = (grid.oldest(), grid.end());
        for point in points.iter_mut() {
            *point = point.filter(|at| (oldest..end).contains(&at.line.0));
        }
        *self = grid;
    }

    /// The last row of the screen that holds anything, or the cursor.
    fn last_used(&self, places: &[Place]) -> usize {
        let cursor = places.first().map_or(0, |place| place.row);
        let text = (0..self.rows()).rev().find(|&row| {
            self.meta(row).flags & (MARKS | SIZE) != 0
                || self.row(row).iter().any(|cell| !cell.is_blank())
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

    /// Wraps history and screen anew: history into `grid`, the lines that reach into the screen into `loose`. Returns the
    /// row of `loose` where the screen begins.
    fn rewrap(
        &mut self,
        grid: &mut Self,
        loose: &mut Loose,
        last_used: usize,
        places: &mut [Place],
        follow: &mut Follow<'_>,
        tiles: &Tiles,
    ) -> usize {
        let cols = grid.cols();
        let mut line = Line::default();
        self.rewrap_history(&mut grid.history, cols, &mut line, loose, follow, tiles);
        // Number of the first row of `loose`.
        let first = grid.history.end();
        let mut top = 0;
        let mut placed = vec![None; places.len()];
        let mut part = |line: &mut Line, loose: &mut Loose, follow: &mut Follow<'_>| {
            line.part(cols, true, |cells, meta, tracked| {
                let index = loose.rows.len();
                for (col, what) in tracked {
                    let (at, past) = ((*col).min(cols - 1), *col >= cols);
                    match what {
                        Tracked::Place(i) => placed[*i] = Some(Place { row: index, col: at, past }),
                        Tracked::Point(name) => follow.put(*name, first + index as u64, at),
                        Tracked::Top => top = index,
                    }
                }
                loose.rows.push((cells.to_vec(), meta));
            });
        };
        for row in 0..=last_used {
            let slot = self.slot(row);
            let meta = *self.meta(row);
            let mut cells = self.slot_cells(slot)[..meta.occ as usize].to_vec();
            loose.adopt(&mut cells, &self.tables(self.table_of(slot)).view());
            let number = self.live_top() + row as u64;
            let refit = tiles.refit(&mut cells, number, self.cols(), cols);
            if refit.is_some() && line.open {
                line.break_off();
                part(&mut line, loose, follow);
            }
            let width = refit.map_or(self.cols(), |refit| refit.width());
            let start = line.append(&cells, meta, width, loose.tables.view());
            // Behind the only column is behind both of a character that is wide again.
            let is_widened = width == 1 && line.cells.get(start).is_some_and(|cell| cell.is_wide());
            let column = |col: usize| {
                refit.map_or(col, |refit| refit.column(col)) + usize::from(is_widened && col > 0)
            };
            for (i, place) in places.iter().enumerate().filter(|(_, place)| place.row == row) {
                let at = start + column(place.col + usize::from(place.past));
                line.tracked.push((at, Tracked::Place(i)));
                if i == 0 && at > line.cells.len() && !(line.open && row < last_used) {
                    // A cursor behind the text keeps its distance from it.
                    line.cells.resize(at, Cell::EMPTY);
                }
            }
            while let Some((_, col, name)) = follow.next_before(number + 1) {
                line.tracked.push((start + column(col), Tracked::Point(name)));
            }
            if row == 0 {
                line.tracked.push((start, Tracked::Top));
            }
            if line.open && row < last_used {
                continue;
            }
            let wraps = line.wraps;
            part(&mut line, loose, follow);
            if let Some((_, meta)) = loose.rows.last_mut().filter(|_| wraps) {
                meta.flags |= WRAPPED;
            }
        }
        let end = loose.rows.len();
        for (place, placed) in places.iter_mut().zip(placed) {
            *place = placed.unwrap_or(Place { row: end.saturating_sub(1), ..*place });
        }
        // Points on the empty rows at the screen's foot keep their distance from the text.
        let after = self.live_top() + last_used as u64 + 1;
        while let Some((line, col, name)) = follow.next_before(u64::MAX) {
            follow.put(name, first + end as u64 + (line - after), col.min(cols - 1));
        }
        top
    }

    /// Wraps history anew into `into`, but for the start of a line that goes on in the screen: that is left in `line`,
    /// its ids being `loose`'s.
    fn rewrap_history(
        &mut self,
        into: &mut History,
        cols: usize,
        line: &mut Line,
        loose: &mut Loose,
        follow: &mut Follow<'_>,
        tiles: &Tiles,
    ) {
        let mut packer = Packer::new(into, cols);
        // Ids of lines that reach from one page into the next: new ones between lines when there are many, so that nothing
        // grows for ever. All others keep their page's.
        let mut tables = Tables::new();
        let mut is_carried = false;
        let mut source = CARRIED;
        let mut scratch = Vec::new();
        while let Some((mut first, stored)) = self.history.pop_front() {
            let end = first + stored.len() as u64;
            // Places in lines that were dropped before.
            while follow.next_before(first).is_some() {}
            let may_stay = self.cols() > 1;
            if may_stay && !line.open && stored.fits(cols) {
                packer.finish();
                while let Some((line, col, name)) = follow.next_before(end) {
                    follow.put(name, packer.next() + (line - first), col.min(cols - 1));
                }
                packer.history.push(stored);
                continue;
            }
            for page in stored.pages() {
                source += 1;
                for row in 0..page.len() {
                    let number = first + row as u64;
                    let meta = page.meta(row);
                    let is_whole = !line.open && !meta.is_wrapped() && meta.occ as usize <= cols;
                    if is_whole && may_stay && cols > 1 && !page.has_tiles && page.row_stays(row) {
                        // A line that stays as it is.
                        while let Some((_, col, name)) = follow.next_before(number + 1) {
                            follow.put(name, packer.next(), col.min(cols - 1));
                        }
                        packer.read_from(source, false);
                        packer.push_packed(&page, row);
                        continue;
                    }
                    page.unpack(row, &mut scratch);
                    if is_carried && !page.is_plain(row) {
                        adopt(&mut tables, &mut scratch, &page.tables());
                    }
                    let mut width = self.cols();
                    let refit = match page.has_tiles {
                        true => tiles.refit(&mut scratch, number, width, cols),
                        false => None,
                    };
                    if let Some(refit) = refit {
                        width = refit.width();
                        if line.open {
                            line.break_off();
                            let of = if is_carried { CARRIED } else { source };
                            packer.read_from(of, false);
                            let ids = if is_carried { tables.view() } else { page.tables() };
                            line.part_into(true, &mut packer, ids, follow);
                        }
                    }
                    let ids = if is_carried { tables.view() } else { page.tables() };
                    let start = line.append(&scratch, meta, width, ids);
                    while let Some((_, col, name)) = follow.next_before(number + 1) {
                        let col = refit.map_or(col, |refit| refit.column(col));
                        line.tracked.push((start + col, Tracked::Point(name)));
                    }
                    if line.open && line.cells.len() < LINE_CELLS {
                        continue;
                    }
                    if line.wraps && line.has_multicells() {
                        line.break_off();
                    }
                    let all = !line.open || line.has_multicells();
                    packer.read_from(if is_carried { CARRIED } else { source }, false);
                    let ids = if is_carried { tables.view() } else { page.tables() };
                    line.part_into(all, &mut packer, ids, follow);
                    if is_carried && tables.are_untidy() {
                        let old = std::mem::replace(&mut tables, Tables::new());
                        adopt(&mut tables, &mut line.cells, &old.view());
                        packer.read_from(CARRIED, true);
                    }
                    is_carried &= !all;
                }
                if line.open && !is_carried {
                    adopt(&mut tables, &mut line.cells, &page.tables());
                    is_carried = true;
                }
                first += page.len() as u64;
            }
        }
        packer.finish();
        loose.adopt(&mut line.cells, &tables.view());
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
                self.history.push(Stored::Packed(Arc::new(builder.finish())));
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
        points: &mut [Option<Point>],
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
        let first = self.live_top() + top as u64;
        let mut follow = Follow::new(points);
        while let Some((line, col, name)) = follow.next_before(first + rows as u64) {
            if line >= first && col < cols {
                follow.put(name, grid.live_top() + (line - first), col);
            }
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
            // A resize writes no text: its revision stays, so that nobody takes it for new.
            *own = RowMeta { revision: meta.revision, occ: len as u16, flags: meta.flags };
        }
        self.mend_multicells(revision);
    }
}
