//! Changing a grid's size: lines rewrap when the width changes, and rows move to and from history when the height does.
//!
//! Pages of history whose rows all fit stay unchanged, compressed or not. Other pages are unpacked, joined into lines
//! and split again, one page at a time. Wrap and prompt marks, wide characters and clusters are kept. The cursor and
//! the points that the terminal lists stay with their text. Multicell characters stay whole ([`layout`]). A row
//! with a piece of an image always starts a new row ([`Tiles::refit`]): images are cut off at the right edge, not
//! wrapped.

mod follow;
mod layout;
mod line;
mod packer;
mod returned;

use std::sync::Arc;

use crate::Point;
use crate::grid::Grid;
use crate::grid::cell::{Cell, WITHOUT_IDS};
use crate::grid::history::{History, Stored};
use crate::grid::page::PageBuilder;
use crate::grid::row::{MARKS, RowMeta, SIZE, WRAPPED};
use crate::grid::tables::{Tables, TablesView};
use crate::grid::tiles::Tiles;
use follow::Follow;
pub(crate) use returned::Returned;

use line::{LINE_CELLS, Line, Tracked};
use packer::{CARRIED, Packer};

/// A place on the screen that follows its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextPlace {
    pub row: usize,
    pub col: usize,
    /// After the cell in the last column, not on it: the next character wraps.
    pub past: bool,
}

impl TextPlace {
    /// Clamps the place to `cols` columns. A place after its cell moves on if there is room again.
    fn fit(&mut self, cols: usize) {
        if self.past && self.col + 1 < cols {
            self.col += 1;
            self.past = false;
        }
        self.col = self.col.min(cols - 1);
    }
}

/// Rows outside any grid that share one set of tables.
#[derive(Default)]
pub(crate) struct Loose {
    pub tables: Tables,
    pub rows: Vec<(Vec<Cell>, RowMeta)>,
}

impl Loose {
    fn adopt(&mut self, cells: &mut [Cell], from: &TablesView<'_>) {
        adopt(&mut self.tables, cells, from);
    }
}

/// Renames the ids of cells into `tables`. A full table (more than 65,535 entries) loses further entries.
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
    /// Changes the size and keeps all text. `places` (the cursor first, then others) and `points` follow their text.
    ///
    /// If the width changes, rows get new numbers, after all numbers used so far.
    pub(crate) fn reflow(
        &mut self,
        cols: usize,
        rows: usize,
        places: &mut [TextPlace],
        points: &mut [Option<Point>],
        tiles: &Tiles,
        revision: u64,
    ) {
        self.pack();
        // Rows beyond the limit must not return when the screen takes rows from history.
        let oldest = self.oldest();
        self.history.trim(oldest);
        let last_used = self.last_used(places);
        let bottom_full = last_used + 1 >= self.rows();
        let mut loose = Loose::default();
        let mut grid;
        // The row of `loose` that holds the start of the old screen's first row.
        let top;
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
        let taller = rows > self.rows();
        let added = if taller { rows - self.rows() } else { 0 };
        let most = match cols == self.cols() {
            true => added,
            false if bottom_full => rows,
            false => 0,
        };
        grid.lay(&mut loose, top, most, places, revision);
        let (oldest, end) = (grid.oldest(), grid.end());
        for point in points.iter_mut() {
            *point = point.filter(|at| (oldest..end).contains(&at.line.0));
        }
        *self = grid;
    }

    /// Fills an empty screen with the rows of `loose`, of which row `top` or a later one becomes the first. Earlier rows
    /// go to history. If rows are missing, at most `most` return from history. `places` are rows of `loose`, and then of
    /// the screen; the first is the cursor.
    fn lay(
        &mut self,
        loose: &mut Loose,
        mut top: usize,
        most: usize,
        places: &mut [TextPlace],
        revision: u64,
    ) {
        let (cols, rows) = (self.cols(), self.rows());
        let used = loose.rows.len();
        // The screen holds the last rows of the text, and the cursor.
        let cursor = places.first().map_or(0, |place| place.row);
        if used > top + rows {
            top = (used - rows).min(cursor.max(top));
        }
        if self.limit() == 0 {
            // Without history, rows that do not fit are lost.
            let end = self.history.end();
            self.history.restart_at(end + top as u64);
        } else {
            let mut packer = Packer::new(&mut self.history, cols);
            for (cells, meta) in &loose.rows[..top] {
                packer.push(cells, *meta, loose.tables.view());
            }
            packer.finish();
        }
        let mut live: Vec<_> = loose.rows.drain(top..).collect();
        live.truncate(rows);
        let pulled = self.take_tail(loose, most.min(rows - live.len()));
        let moved = pulled.len();
        live.splice(0..0, pulled);
        self.settle(&live, &loose.tables, revision);
        for place in places.iter_mut() {
            place.row = (place.row + moved).saturating_sub(top).min(rows - 1);
            place.fit(cols);
        }
    }

    /// The last row of the screen that holds content or the cursor.
    pub(crate) fn last_used(&self, places: &[TextPlace]) -> usize {
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

    /// Rewraps history into `grid`, and the lines that reach into the screen into `loose`. Returns the row of `loose`
    /// where the screen begins.
    fn rewrap(
        &mut self,
        grid: &mut Self,
        loose: &mut Loose,
        last_used: usize,
        places: &mut [TextPlace],
        follow: &mut Follow<'_>,
        tiles: &Tiles,
    ) -> usize {
        let cols = grid.cols();
        let mut line = Line::default();
        self.rewrap_history(&mut grid.history, cols, &mut line, loose, follow, tiles);
        // The number of the first row of `loose`.
        let first = grid.history.end();
        let mut top = 0;
        let mut placed = vec![None; places.len()];
        let mut part = |line: &mut Line, loose: &mut Loose, follow: &mut Follow<'_>| {
            line.part(cols, true, |cells, meta, tracked| {
                let index = loose.rows.len();
                for (col, what) in tracked {
                    let (at, past) = ((*col).min(cols - 1), *col >= cols);
                    match what {
                        Tracked::Place(i) => {
                            placed[*i] = Some(TextPlace { row: index, col: at, past })
                        }
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
            // If a wide character had only one column and gets two again, a place after it must be after both.
            let is_widened = width == 1 && line.cells.get(start).is_some_and(|cell| cell.is_wide());
            let column = |col: usize| {
                refit.map_or(col, |refit| refit.column(col)) + usize::from(is_widened && col > 0)
            };
            for (i, place) in places.iter().enumerate().filter(|(_, place)| place.row == row) {
                let mut at = start + column(place.col + usize::from(place.past));
                if line.cells.is_empty() {
                    // Without text there is nothing to follow: the place stays in its row, as in xterm. ghostty
                    // did so too; since its pull request 12598 it wraps the blanks.
                    at = at.min(cols - 1);
                }
                line.tracked.push((at, Tracked::Place(i)));
                if i == 0
                    && at > line.cells.len()
                    && !line.cells.is_empty()
                    && !(line.open && row < last_used)
                {
                    // A cursor beyond the text keeps its distance from the text, as in ghostty.
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
            *place = placed.unwrap_or(TextPlace { row: end.saturating_sub(1), ..*place });
        }
        // Points on the empty rows at the bottom of the screen keep their distance from the text.
        let after = self.live_top() + last_used as u64 + 1;
        while let Some((line, col, name)) = follow.next_before(u64::MAX) {
            follow.put(name, first + end as u64 + (line - after), col.min(cols - 1));
        }
        top
    }

    /// Rewraps history into `into`, except the start of a line that continues on the screen: it stays in `line`, with
    /// ids of `loose`.
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
        // Ids of lines that span pages. If there are many, they are rebuilt between lines, so that the tables stay
        // small. All other lines keep the ids of their page.
        let mut tables = Tables::new();
        let mut is_carried = false;
        let mut source = CARRIED;
        let mut scratch = Vec::new();
        while let Some((mut first, stored)) = self.history.pop_front() {
            let end = first + stored.len() as u64;
            // Skip points in lines that were dropped earlier.
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
                        // This line stays unchanged.
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
                        let old = std::mem::take(&mut tables);
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

    /// Moves the screen's rows down, and returns up to `n` rows from history to its top. Rows keep their numbers; those
    /// that leave the bottom are lost. Returns how many rows returned.
    pub(crate) fn unscroll(&mut self, n: usize, revision: u64) -> usize {
        self.pack();
        let oldest = self.oldest();
        self.history.trim(oldest);
        let mut loose = Loose::default();
        let pulled = self.take_tail(&mut loose, n);
        let count = pulled.len();
        self.scroll_down(0, self.rows(), count, revision, |_, _| Cell::EMPTY);
        self.start_after_history();
        for (row, (cells, meta)) in pulled.iter().enumerate() {
            self.settle_row(row, cells, *meta, &loose.tables);
        }
        self.mend_multicells(revision);
        count
    }

    /// Changes the size by cutting or padding, as the alternate screen does: its program redraws it.
    pub(crate) fn cut_or_pad(
        &mut self,
        cols: usize,
        rows: usize,
        places: &mut [TextPlace],
        points: &mut [Option<Point>],
        revision: u64,
    ) {
        let cursor = places.first().map_or(0, |place| place.row);
        let top = (cursor + 1).saturating_sub(rows);
        let mut grid = Self::new(cols, rows, self.limit(), self.end(), revision);
        let mut loose = Loose::default();
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

    /// Writes `rows` to an empty screen that follows the history.
    fn settle(&mut self, rows: &[(Vec<Cell>, RowMeta)], tables: &Tables, revision: u64) {
        self.start_after_history();
        for (row, (from, meta)) in rows.iter().enumerate() {
            self.settle_row(row, from, *meta, tables);
        }
        self.mend_multicells(revision);
    }

    /// Writes a row, cut to the screen's width, over an empty or shorter row of the screen.
    pub(crate) fn settle_row(&mut self, row: usize, from: &[Cell], meta: RowMeta, tables: &Tables) {
        let slot = self.slot(row);
        let table = self.table_of(slot);
        let len = from.len().min(self.cols());
        for (col, cell) in from[..len].iter().enumerate() {
            let cell = self.adopt(table, *cell, &tables.view());
            self.slot_mut(slot).0[col] = cell;
            // Write each cell before the next is interned, because interning may sweep the cells in the grid.
        }
        let (cells, own) = self.slot_mut(slot);
        if len > 0 && cells[len - 1].is_wide() {
            cells[len - 1] = cells[len - 1].blanked();
        }
        // A resize writes no text, so the revision stays and no reader takes the row for new.
        *own = RowMeta { revision: meta.revision, occ: len as u16, flags: meta.flags };
    }
}
