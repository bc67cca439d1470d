//! Updates a viewer's [`Snapshot`].
//!
//! Runs under the pane's lock, so it does as little as possible. If nothing changed, it does nothing. Otherwise it
//! compares the id and revision of each row, and copies only rows that differ. It reuses the snapshot's buffers.

use std::sync::Arc;

use crate::grid::cell::{Cell, WITHOUT_IDS};
use crate::grid::row_text::push_cells;
use crate::grid::style::{Attrs, Style};
use crate::grid::{RowView, Scratch};
use crate::term::Term;
use crate::{LineId, MulticellPart, RowImages, Snapshot, SnapshotRow, StyleRun};

impl Term {
    /// Updates `snapshot`. The viewport starts at line `top`; `None` means the live screen, and a line that is no
    /// longer stored means the oldest line. Copies only rows that the snapshot does not contain yet.
    pub fn snapshot(&self, snapshot: &mut Snapshot, top: Option<LineId>) {
        self.snapshot_more(snapshot, top, 0);
    }

    /// Like [`Term::snapshot`], with up to `more` additional rows below the viewport.
    pub fn snapshot_more(&self, snapshot: &mut Snapshot, top: Option<LineId>, more: usize) {
        let (oldest, live) = (self.grid.oldest(), self.grid.live_top());
        let first = top.map_or(live, |top| top.0.clamp(oldest, live));
        let rows = self.grid.rows() + (live - first).min(more as u64) as usize;
        let same_lines = snapshot.seq != 0
            && snapshot.screen == self.screen
            && snapshot.size.cols == self.size.cols;
        let old_first = snapshot.rows.first().map(|row| row.line.0);
        if same_lines
            && snapshot.seq == self.seq
            && snapshot.images_revision == self.graphics.revision()
            && snapshot.rows.len() == rows
            && old_first == Some(first)
        {
            return;
        }
        if let Some(old) = old_first.filter(|_| same_lines) {
            // Move rows that the snapshot already contains to their new positions.
            let distance = first.abs_diff(old);
            if distance < snapshot.rows.len() as u64 {
                if first > old {
                    snapshot.rows.rotate_left(distance as usize);
                } else {
                    snapshot.rows.rotate_right(distance as usize);
                }
            }
        }
        snapshot.rows.resize_with(rows, SnapshotRow::default);
        let mut scratch = Scratch::default();
        for (i, row) in snapshot.rows.iter_mut().enumerate() {
            let line = first + i as u64;
            let revision = self.grid.line_meta(line).map_or(0, |meta| meta.revision);
            let known = same_lines
                && row.line.0 == line
                && row.revision == revision
                && row.cells.len() == self.grid.cols();
            if known {
                continue;
            }
            if let Some(view) = self.grid.read(line, &mut scratch) {
                copy_row(&view, LineId(line), self.grid.cols(), row);
                row.images.read(self, &view, line, &mut row.cells);
                if view.meta.has_multicells() {
                    self.read_multicells(&view, line, row);
                }
            }
        }
        if self.graphics.has_any() || !snapshot.images.is_empty() {
            let rows: Vec<&RowImages> = snapshot.rows.iter().map(|row| &row.images).collect();
            snapshot.images = self.visible_images(first, &rows);
        }
        snapshot.images_revision = self.graphics.revision();
        snapshot.seq = self.seq;
        snapshot.size = self.size;
        snapshot.screen = self.screen;
        snapshot.oldest = LineId(oldest);
        snapshot.live_top = LineId(live);
        snapshot.cursor = self.cursor();
        let row = snapshot.cursor.row as u64 + (live - first);
        snapshot.cursor.visible &= row < rows as u64;
        snapshot.cursor.row = row.min(u16::MAX as u64) as u16;
        snapshot.extra_cursors.clear();
        snapshot.extra_cursors.extend(self.visible_extra_cursors());
        snapshot.extra_cursor_colors = self.extra_cursors.colors;
        if !Arc::ptr_eq(&snapshot.glyphs, &self.glyphs) {
            snapshot.glyphs = self.glyphs.clone();
        }
        snapshot.modes = self.modes;
        snapshot.mouse_tracking = self.mouse_tracking;
        snapshot.mouse_encoding = self.mouse_encoding;
        if !Arc::ptr_eq(&snapshot.palette, &self.palette) {
            snapshot.palette = self.palette.clone();
        }
    }
}

impl Term {
    /// Adds the parts of multicell characters in a row. Each gets the text of its character, which is stored in the
    /// character's first row.
    fn read_multicells(&self, view: &RowView<'_>, line: u64, row: &mut SnapshotRow) {
        let mut scratch = Scratch::default();
        for (col, cell) in view.cells.iter().enumerate() {
            let (0, below) = cell.multicell_offset() else { continue };
            if !cell.is_multicell() {
                continue;
            }
            let size = view.tables.style(cell.style_id()).size;
            let first = (below > 0).then(|| self.grid.read(line - u64::from(below), &mut scratch));
            let mut text = String::new();
            match &first {
                None => push_cells(view, col, col + 1, &mut text),
                Some(Some(first)) => push_cells(first, col, col + 1, &mut text),
                Some(None) => continue,
            }
            let (col, text) = (col as u16, text.into());
            row.multicells.push(MulticellPart { col, row: below, size, text });
        }
    }
}

fn copy_row(view: &RowView<'_>, line: LineId, cols: usize, row: &mut SnapshotRow) {
    row.line = line;
    row.revision = view.meta.revision;
    row.wrapped = view.meta.is_wrapped();
    row.size = view.meta.line_size();
    row.cells.clear();
    row.styles.clear();
    row.clusters.clear();
    row.multicells.clear();
    let len = view.cells.len().min(cols);
    let cells = &view.cells[..len];
    // Ids are valid only in their page, so the runs contain the values instead.
    row.cells.extend(cells.iter().map(|cell| Cell(cell.0 & WITHOUT_IDS)));
    row.cells.resize(cols, Cell::EMPTY);
    let mut start = 0;
    while start < cols {
        let ids = cells.get(start).map_or(0, |cell| cell.0 & !WITHOUT_IDS);
        let end = match cells.get(start..) {
            Some(rest) if !rest.is_empty() => {
                start + rest.iter().take_while(|cell| cell.0 & !WITHOUT_IDS == ids).count()
            }
            _ => cols,
        };
        // After the last written cell, the default style continues to the end of the row.
        let end = if end == len && ids == 0 { cols } else { end };
        let (style, link) = match cells.get(start) {
            Some(cell) => (view.tables.style(cell.style_id()), view.tables.link(cell.link_id())),
            None => (Style::default(), None),
        };
        row.styles.push(StyleRun {
            start: start as u16,
            end: end as u16,
            style,
            link: link.cloned(),
        });
        start = end;
    }
    row.blinks = row.styles.iter().any(|run| run.style.attrs.contains(Attrs::BLINK));
    for (col, cell) in cells.iter().enumerate() {
        if let Some(text) = cell.cluster_id().and_then(|id| view.tables.cluster(id)) {
            row.cells[col] = row.cells[col].with_ids(0, 0, Some(row.clusters.len() as u16));
            row.clusters.push((col as u16, text.clone()));
        }
    }
}
