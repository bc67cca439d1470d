//! Putting an image into cells, at the cursor.

use std::collections::HashSet;
use std::sync::Arc;

use super::animation::Run;
use super::pixels::Pixels;
use super::store::Frame;
use crate::grid::Scratch;
use crate::grid::cell::Cell;
use crate::grid::tiles::Tiled;
use crate::term::Term;
use crate::work;

/// Bytes of new images between searches for covered images.
const SWEEP_AFTER: usize = 16 << 20;
/// Lines of history that are searched for an image's cells.
const SWEPT_LINES: u64 = 1024;

impl Term {
    /// Fills cells from the cursor on with an image. Each frame has its duration in milliseconds, and each cell shows
    /// `per_cell` pixels. The image is cut off at the right edge. If `scrolls` is set, the cursor moves to the image's
    /// last row and the screen scrolls as needed; otherwise the image is cut off at the bottom. Returns the columns
    /// that the image takes.
    pub(crate) fn show_in_cells(
        &mut self,
        frames: Vec<(Arc<Pixels>, u32)>,
        per_cell: (f32, f32),
        scrolls: bool,
    ) -> Option<usize> {
        let first = frames.first()?.0.clone();
        // Rounding errors must not add a cell.
        let touched =
            |pixels: u32, per_cell: f32| ((pixels as f32 / per_cell - 1e-3).ceil() as u32).max(1);
        let col = self.cursor.col;
        let cols = touched(first.width(), per_cell.0).min((self.grid.cols() - col) as u32);
        let mut rows = touched(first.height(), per_cell.1);
        if !scrolls {
            rows = rows.min((self.grid.rows() - self.cursor.row) as u32);
        }
        let bytes: usize = frames.iter().map(|(pixels, _)| pixels.rgba().len()).sum();
        self.graphics.shown.unswept += bytes;
        if self.graphics.shown.unswept > SWEEP_AFTER {
            self.drop_covered_images();
        }
        let layer = &mut self.graphics.shown;
        layer.make_room(&mut self.caps, bytes, None);
        let animated = frames.len() > 1;
        let frames = frames
            .into_iter()
            .map(|(pixels, gap)| Frame { pixels, gap, is_transient: false })
            .collect();
        let image = layer.store.add(0, 0, frames);
        if animated {
            layer.store.change(image, |image| image.animation.run = Run::Looping);
        }
        let since = self.grid.live_top();
        let tiled = Tiled { image, cols, rows, per_cell, since };
        let Some((base, lost)) = layer.tiles.add(tiled) else {
            layer.store.remove(image);
            return None;
        };
        for image in lost {
            layer.remove_image(image);
        }
        for row in 0..rows {
            self.put_tiles(base + row * cols, cols as usize, &first, row, per_cell);
            if row + 1 == rows {
                break;
            }
            if scrolls {
                let before = self.cursor.row;
                let scrolled = before + 1 == self.bottom;
                self.index();
                if self.cursor.row == before && !scrolled {
                    // Below the region, the cursor cannot move further down.
                    break;
                }
            } else {
                self.cursor.row += 1;
            }
        }
        self.cursor.col = col;
        self.graphics.changed();
        Some(cols as usize)
    }

    /// Drops images in cells that no cell shows any more, because a video in sixel would otherwise fill the quota.
    /// Keeps images whose cells may lie far back in history.
    fn drop_covered_images(&mut self) {
        self.graphics.shown.unswept = 0;
        let live_top = self.grid.live_top();
        let nearest = live_top.saturating_sub(SWEPT_LINES).max(self.grid.oldest());
        let mut scratch = Scratch::default();
        let layer = &self.graphics.shown;
        let mut shown = HashSet::new();
        let recent = layer.tiles.iter().filter(|tiled| tiled.since >= nearest);
        let first = recent.clone().map(|tiled| tiled.since).min().unwrap_or(live_top);
        for line in first..self.grid.end() {
            let Some(row) = self.grid.read(line, &mut scratch) else { continue };
            work::add(row.cells.len());
            let tiles = row.cells.iter().filter_map(|cell| layer.tiles.find(*cell, line));
            shown.extend(tiles.map(|tile| tile.of.image));
        }
        let covered: Vec<_> =
            recent.map(|tiled| tiled.image).filter(|image| !shown.contains(image)).collect();
        for image in covered {
            self.graphics.shown.remove_image(image);
        }
    }

    /// Writes the tiles from number `base` on into the cursor's row. Where a tile is empty, the cell stays unchanged.
    fn put_tiles(
        &mut self,
        base: u32,
        cols: usize,
        pixels: &Pixels,
        tile_row: u32,
        per_cell: (f32, f32),
    ) {
        let (row, col) = (self.cursor.row, self.cursor.col);
        let table = self.grid.table_of(self.grid.slot(row));
        let mut at = 0;
        while at < cols {
            let shows = |at: usize| !is_hole(pixels, at as u32, tile_row, per_cell);
            let skipped = (at..cols).take_while(|at| !shows(*at)).count();
            at += skipped;
            let len = (at..cols).take_while(|at| shows(*at)).count();
            if len == 0 {
                break;
            }
            let (start, end) = (col + at, col + at + len);
            self.grid.part_wide(row, start, end, self.seq);
            let blank = self.pen.blank()(&mut self.grid, table);
            let (cells, meta) = self.grid.row_mut(row);
            for (i, cell) in cells[start..end].iter_mut().enumerate() {
                *cell = Cell(blank.0 | Cell::of_tile(base + (at + i) as u32).0);
            }
            meta.occ = meta.occ.max(end as u16);
            meta.revision = self.seq;
            at += len;
        }
    }
}

/// Whether a tile is fully transparent.
fn is_hole(pixels: &Pixels, col: u32, row: u32, per_cell: (f32, f32)) -> bool {
    let span = |at: u32, per: f32, end: u32| {
        let start = (at as f32 * per) as u32;
        start.min(end)..(((at + 1) as f32 * per).ceil() as u32).min(end)
    };
    let across = span(col, per_cell.0, pixels.width());
    let width = pixels.width() as usize;
    span(row, per_cell.1, pixels.height()).all(|y| {
        let line = y as usize * width;
        let bytes =
            &pixels.rgba()[(line + across.start as usize) * 4..(line + across.end as usize) * 4];
        bytes.chunks_exact(4).all(|pixel| pixel[3] == 0)
    })
}
