//! Blocks of cells: copies, fills and scrolls them between margins.
//!
//! Whole rows move in the grid's ring. Other blocks move cell by cell. If a block's edge splits a wide or multicell
//! character, both parts of the character become blanks.

use std::sync::Arc;

use crate::grid::cell::{Cell, Width};
use crate::grid::link::Link;
use crate::grid::row::{MULTICELL, WRAPPED};
use crate::grid::style::Style;
use crate::grid::{Grid, part_wide};
use crate::term::Term;
use crate::work;

/// The values that a cell's ids stand for: style, link and cluster.
type Look = (Style, Option<Arc<Link>>, Option<Arc<str>>);

/// The block of columns `left..right` in rows `top..bottom`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub top: usize,
    pub left: usize,
    pub bottom: usize,
    pub right: usize,
}

impl Block {
    pub fn rows(&self) -> usize {
        self.bottom - self.top
    }

    pub fn cols(&self) -> usize {
        self.right - self.left
    }
}

impl Grid {
    /// Copies columns `from.1..from.1 + len` of row `from.0` to column `to.1` of row `to.0`. If `moves` is set,
    /// multicell characters are copied too. The caller then ensures that none is split, and that only rows that are
    /// about to be lost are overwritten. If `moves` is not set, multicell characters are copied as blanks.
    fn copy_cells(
        &mut self,
        from: (usize, usize),
        to: (usize, usize),
        len: usize,
        moves: bool,
        revision: u64,
    ) {
        work::add(len);
        let (source, target) = (self.slot(from.0), self.slot(to.0));
        if !moves && self.slot_meta(target).has_multicells() {
            // Do this before reading ids, because it may assign new ids.
            self.cut_multicells(to.0, to.1, to.1 + len, revision);
        }
        let has_multicells = self.slot_meta(source).has_multicells();
        let mut cells: Vec<Cell> = self.slot_cells(source)[from.1..from.1 + len].to_vec();
        for i in 0..len {
            if cells[i].is_multicell() {
                if !moves {
                    cells[i] = Cell::EMPTY;
                }
                continue;
            }
            let is_whole = match cells[i].width() {
                Width::Narrow => true,
                Width::Wide => cells.get(i + 1).is_some_and(|next| next.is_tail()),
                Width::Tail => i > 0 && cells[i - 1].is_wide(),
                Width::Head => false,
            };
            if !is_whole {
                cells[i] = cells[i].blanked();
            }
        }
        let (one, other) = (self.table_of(source), self.table_of(target));
        let looks: Vec<Look> = if one == other {
            Vec::new()
        } else {
            let tables = self.tables(one).view();
            let look = |cell: &Cell| {
                let cluster = cell.cluster_id().and_then(|id| tables.cluster(id)).cloned();
                (tables.style(cell.style_id()), tables.link(cell.link_id()).cloned(), cluster)
            };
            cells.iter().map(look).collect()
        };
        let cols = self.cols();
        let (row, meta) = self.slot_mut(target);
        part_wide(row, to.1, to.1 + len);
        meta.revision = revision;
        if moves && has_multicells {
            meta.flags |= MULTICELL;
        }
        meta.occ = meta.occ.max((to.1 + len) as u16);
        if to.1 + len == cols {
            meta.flags &= !WRAPPED;
        }
        if one == other {
            row[to.1..to.1 + len].copy_from_slice(&cells);
            return;
        }
        // The target uses another table of ids: intern the ids of each cell and write the cell at once, so that a sweep
        // finds its ids in use.
        row[to.1..to.1 + len].fill(Cell::EMPTY);
        for (i, (cell, (style, link, cluster))) in cells.into_iter().zip(looks).enumerate() {
            let style = self.intern_style(other, &style);
            let link = link.map_or(0, |link| self.intern_link(other, &link));
            let cluster = match (cell.cluster_id(), cluster) {
                (Some(_), Some(text)) => self.intern_cluster(other, &text),
                _ => None,
            };
            let base = if cell.cluster_id().is_some() && cluster.is_none() {
                Cell(cell.blanked().0 | cell.0 & crate::grid::cell::WIDTH)
            } else {
                cell
            };
            self.slot_mut(target).0[to.1 + i] = base.with_ids(style, link, cluster);
        }
    }

    /// Copies a block so that its top left corner is at `(top, left)`. Source and target may overlap. Cells outside the
    /// screen are dropped.
    pub fn copy_block(&mut self, block: Block, top: usize, left: usize, revision: u64) {
        self.copy_rows(block, top, left, false, revision);
    }

    /// Copies a block like [`Grid::copy_block`]. `moves` has the meaning described at [`Grid::copy_cells`].
    fn copy_rows(&mut self, block: Block, top: usize, left: usize, moves: bool, revision: u64) {
        let rows = block.rows().min(self.rows().saturating_sub(top));
        let len = block.cols().min(self.cols().saturating_sub(left));
        if len == 0 {
            return;
        }
        let mut copy = |i: usize| {
            self.copy_cells((block.top + i, block.left), (top + i, left), len, moves, revision);
        };
        if top <= block.top {
            (0..rows).for_each(&mut copy);
        } else {
            (0..rows).rev().for_each(&mut copy);
        }
    }

    /// Fills a block with the cell that `cell` returns for each row's table. The cell must not be half of a wide
    /// character.
    pub fn fill_block(
        &mut self,
        block: Block,
        revision: u64,
        mut cell: impl FnMut(&mut Self, usize) -> Cell,
    ) {
        for row in block.top..block.bottom {
            let table = self.table_of(self.slot(row));
            self.part_wide(row, block.left, block.right, revision);
            let cell = cell(self, table);
            self.fill(row, block.left, block.right, cell, revision);
        }
    }

    /// Moves the rows of a block up, or down if `rows` is negative, within the block. `blank` has the meaning described
    /// at [`Grid::scroll_up`].
    pub fn scroll_block(
        &mut self,
        block: Block,
        rows: i64,
        revision: u64,
        blank: impl FnMut(&mut Self, usize) -> Cell,
    ) {
        let n = (rows.unsigned_abs() as usize).min(block.rows());
        let (from, to, freed) = if rows < 0 {
            (block.top + n, block.top, block.bottom - n)
        } else {
            (block.top, block.top + n, block.top)
        };
        let moved = Block { top: from, bottom: from + block.rows() - n, ..block };
        let freed = freed..freed + n;
        if (block.top..block.bottom).any(|row| self.meta(row).has_multicells()) {
            self.release_multicells(block, &moved, revision);
            self.copy_rows(moved, to, block.left, true, revision);
            // Erase what remains in the rows from which cells were copied away.
            for row in freed.clone() {
                let (cells, _) = self.row_mut(row);
                part_wide(cells, block.left, block.right);
                cells[block.left..block.right].fill(Cell::EMPTY);
            }
        } else {
            self.copy_block(moved, to, block.left, revision);
        }
        self.fill_block(Block { top: freed.start, bottom: freed.end, ..block }, revision, blank);
    }

    /// Erases the multicell characters that extend beyond the rows `moved` of a block.
    fn release_multicells(&mut self, block: Block, moved: &Block, revision: u64) {
        let cols = block.left..block.right;
        self.clear_multicells(block.top..moved.top, cols.clone(), revision);
        self.clear_multicells(moved.bottom..block.bottom, cols.clone(), revision);
        self.split_multicells(moved.top, cols.clone(), revision);
        self.split_multicells(moved.bottom, cols, revision);
        for row in moved.top..moved.bottom {
            for edge in [block.left, block.right] {
                self.part_wide(row, edge, edge, revision);
            }
        }
    }
}

impl Term {
    /// Moves the rows and images of a block between the margins up, or down if `rows` is negative. If `keeps` is set,
    /// rows that leave the top of the screen are added to history, if there is one.
    #[inline]
    pub(crate) fn scroll_block(&mut self, block: Block, rows: i64, keeps: bool) {
        let before = self.grid.live_top();
        let Block { top, bottom, .. } = block;
        let (n, seq, blank) = (rows.unsigned_abs() as usize, self.seq, self.pen.blank());
        match (self.scrolls_whole_rows(), rows < 0) {
            (true, true) if keeps => self.grid.scroll_up(top, bottom, n, seq, blank),
            (true, true) => self.grid.delete_rows(top, bottom, n, seq, blank),
            (true, false) => self.grid.scroll_down(top, bottom, n, seq, blank),
            (false, _) => self.grid.scroll_block(block, rows, seq, blank),
        }
        self.scroll_images(block, rows, before);
    }
}
