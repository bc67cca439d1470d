//! Replaces rows outside a resize: rows that a resize cut return with their text, and old drawings of a prompt go.
//!
//! Owns the exchange of rows for other text, wrapped to the screen's width. [`crate::term::shell::redraw`] and
//! [`crate::term::shell::stale_prompt`] decide which rows are replaced.

use super::follow::Follow;
use super::line::{Line, Tracked};
use super::{Loose, TextPlace};
use crate::Point;
use crate::grid::Grid;
use crate::grid::tiles::Tiles;

/// The rows to replace, and their new text.
pub(crate) struct Returned {
    /// The number of the first row. The others follow it.
    pub first: u64,
    /// The new rows. Without any, the old rows are removed.
    pub rows: Loose,
    /// For each old row, the width in columns of the screen for which its new row was written.
    pub widths: Vec<usize>,
}

impl Grid {
    /// Replaces rows. The new text wraps as in any other reflow. Rows above keep their numbers. `places` and `points`
    /// follow their text; points in removed rows are lost.
    pub(crate) fn return_rows(
        &mut self,
        returned: Returned,
        places: &mut [TextPlace],
        points: &mut [Option<Point>],
        tiles: &Tiles,
        revision: u64,
    ) {
        let Returned { first, rows: held, widths } = returned;
        self.pack();
        let oldest = self.oldest();
        self.history.trim(oldest);
        let (cols, rows, live_top) = (self.cols(), self.rows(), self.live_top());
        let last_used = self.last_used(places);
        let bottom_full = last_used + 1 >= rows;
        let mut grid = Self::new(cols, rows, self.limit(), self.history.end(), revision);
        std::mem::swap(&mut grid.history, &mut self.history);
        let mut loose = Loose { tables: held.tables, rows: Vec::new() };
        loose.rows = grid.take_tail(&mut loose, live_top.saturating_sub(first) as usize);
        let base = live_top - loose.rows.len() as u64;
        let old_top = loose.rows.len();
        self.loosen(&mut loose, last_used + 1);
        let start = first.saturating_sub(base) as usize;
        let end = (start + widths.len()).min(loose.rows.len());
        let mut follow = Follow::new(points);
        while let Some((number, col, name)) = follow.next_before(first) {
            follow.put(name, number, col);
        }
        let mut returned = Vec::new();
        let mut line = Line::default();
        let count = held.rows.len();
        for (i, ((mut cells, meta), &width)) in held.rows.into_iter().zip(&widths).enumerate() {
            let number = first + i as u64;
            let refit = tiles.refit(&mut cells, number, width, cols);
            let width = refit.map_or(width, |refit| refit.width());
            let at = line.append(&cells, meta, width, loose.tables.view());
            while let Some((_, col, name)) = follow.next_before(number + 1) {
                let col = refit.map_or(col, |refit| refit.column(col));
                line.tracked.push((at + col, Tracked::Point(name)));
            }
            // A line ends before an image, which is cut and not wrapped, and where the shell draws again.
            if line.open && i + 1 < count && refit.is_none() {
                continue;
            }
            line.part(cols, true, |cells, meta, tracked| {
                for (col, what) in tracked {
                    if let Tracked::Point(name) = what {
                        let number = base + (start + returned.len()) as u64;
                        follow.put(*name, number, (*col).min(cols - 1));
                    }
                }
                returned.push((cells.to_vec(), meta));
            });
        }
        let added = returned.len() as isize - (end - start) as isize;
        let moved = |row: usize| match row {
            row if row >= end => row.saturating_add_signed(added),
            row => row.min(start + returned.len().saturating_sub(1)),
        };
        while follow.next_before(first + widths.len() as u64).is_some() {}
        while let Some((number, col, name)) = follow.next_before(u64::MAX) {
            follow.put(name, number.saturating_add_signed(added as i64), col);
        }
        for place in places.iter_mut() {
            place.row = moved(old_top + place.row);
        }
        let top = moved(old_top);
        loose.rows.splice(start..end, returned);
        grid.lay(&mut loose, top, if bottom_full { rows } else { 0 }, places, revision);
        let (oldest, end) = (grid.oldest(), grid.end());
        for point in points.iter_mut() {
            *point = point.filter(|at| (oldest..end).contains(&at.line.0));
        }
        *self = grid;
    }

    /// Copies row number `line`, if it is on the screen, to `loose`.
    pub(crate) fn copy_row(&self, line: u64, loose: &mut Loose) {
        let Some(row) = line.checked_sub(self.live_top()).filter(|row| *row < self.rows() as u64)
        else {
            return;
        };
        let slot = self.slot(row as usize);
        let meta = *self.meta(row as usize);
        let mut cells = self.slot_cells(slot)[..meta.occ as usize].to_vec();
        loose.adopt(&mut cells, &self.tables(self.table_of(slot)).view());
        loose.rows.push((cells, meta));
    }
}
