//! A logical line between two widths: assembled from its old rows and split into new ones.
//!
//! Owns the cells of one line with its marks and the places that follow its text; has no access to screen or history.

use super::follow::Follow;
use super::layout::{Break, Layout};
use super::packer::Packer;
use crate::TextSize;
use crate::grid::cell::{Cell, Content, HEAD, SHOWN, TAIL, WIDE, WIDTH, Width};
use crate::grid::row::{MARKS, RowMeta, SHORT, SIZE, WRAPPED};
use crate::grid::tables::TablesView;
use crate::unicode::cluster::natural_width;
use crate::unicode::props;

/// Maximum cells of a line that are collected before its rows are split off, so that endless lines need bounded memory.
pub(super) const LINE_CELLS: usize = 1 << 16;

/// A place that follows the text of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tracked {
    /// A place on the screen, by its index.
    Place(usize),
    /// A point anywhere, by its name.
    Point(usize),
    /// The start of the screen.
    Top,
}

/// A logical line being assembled, or the part of it not yet split off.
#[derive(Default)]
pub(super) struct Line {
    pub cells: Vec<Cell>,
    /// Marks and the index of the cell they belong to, in order.
    marks: Vec<(usize, u16)>,
    /// Tracked places and the index of the cell they are on.
    pub tracked: Vec<(usize, Tracked)>,
    revision: u64,
    /// The cell that fills the last row after its text; empty if there is no fill.
    fill: Cell,
    pub open: bool,
    /// The last row wraps into the next. If the line is open but this is false, only multicell characters reach down.
    pub wraps: bool,
    /// Multicell characters, by the index of their first cell.
    multicells: Vec<(usize, TextSize)>,
    /// Rows that end without a wrap beside multicell characters that reach further down, so that the row below belongs
    /// to the same line.
    breaks: Vec<Break>,
    /// The text continues: the last row wraps into the next line.
    goes_on: bool,
    /// The size of its characters: the bits of [`SIZE`]. A line of larger characters is one row, and stays one row
    /// while its cells fit, visible or not.
    size: u16,
    /// Scratch memory for a row that differs from its part of `cells`.
    row: Vec<Cell>,
}

impl Line {
    /// Ends a line whose next row must not be joined with it.
    pub fn break_off(&mut self) {
        self.goes_on = true;
    }

    /// Appends a row of `cols` columns, with cell ids from `tables`. Returns the index of its first cell in the line.
    /// Wide characters that a one-column screen showed as narrow become wide again.
    pub fn append(
        &mut self,
        cells: &[Cell],
        meta: RowMeta,
        cols: usize,
        tables: TablesView<'_>,
    ) -> usize {
        let start = self.cells.len();
        if let (1, &[cell]) = (cols, cells)
            && is_narrowed(cell, tables)
        {
            let tail = Cell(cell.0 & !SHOWN | TAIL);
            return self.append_cells(&[Cell(cell.0 | WIDE), tail], meta, 2, start);
        }
        if meta.has_multicells() {
            self.find_multicells(cells, start, tables);
        }
        let reaches_down = meta.has_multicells() && reaches_down(cells, tables);
        let start = self.append_cells(cells, meta, cols, start);
        if reaches_down && !self.open {
            self.breaks.push(Break { text: self.cells.len(), end: start + cols });
            self.cells.resize(start + cols, self.fill);
            (self.fill, self.open) = (Cell::EMPTY, true);
        }
        start
    }

    /// Whether the line holds multicell characters, so that it must be laid out and split as a whole.
    pub fn has_multicells(&self) -> bool {
        !self.multicells.is_empty()
    }

    fn find_multicells(&mut self, cells: &[Cell], start: usize, tables: TablesView<'_>) {
        for (at, cell) in cells.iter().enumerate() {
            if cell.is_multicell() && cell.multicell_offset() == (0, 0) {
                self.multicells.push((start + at, tables.style(cell.style_id()).size));
            }
        }
    }

    fn append_cells(&mut self, cells: &[Cell], meta: RowMeta, cols: usize, start: usize) -> usize {
        if meta.flags & MARKS != 0 {
            self.marks.push((start, meta.flags & MARKS));
        }
        self.revision = self.revision.max(meta.revision);
        if !self.open {
            self.size = meta.flags & SIZE;
        }
        (self.open, self.wraps) = (meta.is_wrapped(), meta.is_wrapped());
        if self.open {
            self.cells.extend_from_slice(cells);
            self.cells.resize(start + meta.wrapped_cols(cols).max(cells.len()), Cell::EMPTY);
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

    /// Splits the line into rows of `cols` cells: all of it, or all but the last row, whose end is not known yet. `row`
    /// receives each row and the places on it with their columns. A column is past the end if the text has no cell
    /// there.
    pub fn part(
        &mut self,
        cols: usize,
        all: bool,
        mut row: impl FnMut(&[Cell], RowMeta, &[(usize, Tracked)]),
    ) {
        if self.has_multicells() || self.cells.iter().any(|cell| cell.is_multicell()) {
            return self.part_laid_out(cols, row);
        }
        self.tracked.sort_unstable();
        let (mut start, mut marks, mut tracked) = (0, 0, 0);
        loop {
            let mut end = (start + cols).min(self.cells.len());
            // A one-column screen shows wide characters as narrow.
            let is_narrowed = cols == 1 && self.cells.get(start).is_some_and(|cell| cell.is_wide());
            end = (end + usize::from(is_narrowed)).min(self.cells.len());
            let last = end == self.cells.len();
            if last && !all {
                break;
            }
            let is_cut = !last && self.cells[end].is_tail() && cols > 1;
            end -= is_cut as usize;
            let is_filled = last && self.fill != Cell::EMPTY;
            let mut cells = &self.cells[start..end];
            if is_cut || is_filled || cols == 1 {
                self.row.clear();
                self.row.extend_from_slice(cells);
                if is_cut {
                    self.row.push(Cell(self.cells[end].0 & !SHOWN | HEAD));
                }
                if cols == 1 {
                    self.row.truncate(1);
                    for cell in &mut self.row {
                        *cell = match cell.is_tail() {
                            true => cell.blanked(),
                            false => Cell(cell.0 & !WIDTH),
                        };
                    }
                }
                if is_filled {
                    self.row.resize(cols, self.fill);
                }
                cells = &self.row;
            }
            let wrapped = match (last, self.goes_on) {
                (true, false) => 0,
                (true, true) => WRAPPED | SHORT,
                (false, _) => WRAPPED,
            };
            let mut flags = self.size | wrapped;
            while let Some((_, mark)) = self.marks.get(marks).filter(|m| last || m.0 < end) {
                flags |= mark;
                marks += 1;
            }
            let first = tracked;
            while let Some((at, _)) = self.tracked.get_mut(tracked).filter(|t| last || t.0 < end) {
                *at -= start;
                if is_narrowed {
                    *at = at.saturating_sub(1);
                }
                tracked += 1;
            }
            let meta = RowMeta { revision: self.revision, occ: cells.len() as u16, flags };
            row(cells, meta, &self.tracked[first..tracked]);
            if last {
                break;
            }
            start = end;
        }
        if all {
            self.clear();
        } else {
            self.cells.drain(..start);
            self.marks.drain(..marks);
            self.tracked.drain(..tracked);
            self.marks.iter_mut().for_each(|(at, _)| *at -= start);
            self.tracked.iter_mut().for_each(|(at, _)| *at -= start);
        }
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.marks.clear();
        self.tracked.clear();
        self.multicells.clear();
        self.breaks.clear();
        (self.revision, self.fill) = (0, Cell::EMPTY);
        (self.open, self.wraps, self.goes_on) = (false, false, false);
    }

    /// [`Line::part`] for a whole line with multicell characters.
    fn part_laid_out(
        &mut self,
        cols: usize,
        mut row: impl FnMut(&[Cell], RowMeta, &[(usize, Tracked)]),
    ) {
        self.tracked.sort_unstable();
        let mut layout = Layout::new(&self.cells, &self.multicells, &self.breaks, cols, self.fill);
        layout.lay_out();
        let last = layout.rows.len() - 1;
        let (mut marks, mut tracked) = (0, 0);
        for (index, laid) in layout.rows.iter_mut().enumerate() {
            let mut flags = laid.flags;
            if index == last && self.goes_on {
                flags |= WRAPPED | SHORT;
            }
            let place = |at: usize| layout.places[at.min(self.cells.len())];
            while let Some((_, mark)) = self.marks.get(marks).filter(|m| place(m.0).0 <= index) {
                flags |= mark;
                marks += 1;
            }
            let first = tracked;
            while let Some((at, _)) =
                self.tracked.get_mut(tracked).filter(|t| place(t.0).0 <= index)
            {
                *at = place(*at).1 + at.saturating_sub(self.cells.len());
                tracked += 1;
            }
            let len = laid.cells.iter().rposition(|cell| *cell != Cell::EMPTY).map_or(0, |i| i + 1);
            let meta = RowMeta { revision: self.revision, occ: len as u16, flags };
            row(&laid.cells[..len], meta, &self.tracked[first..tracked]);
        }
        self.clear();
    }

    /// Splits the line into rows of history. `tables` holds the ids of its cells.
    pub fn part_into(
        &mut self,
        all: bool,
        packer: &mut Packer<'_>,
        tables: TablesView<'_>,
        follow: &mut Follow<'_>,
    ) {
        let cols = packer.cols;
        self.part(cols, all, |cells, meta, tracked| {
            let number = packer.next();
            for (col, what) in tracked {
                if let Tracked::Point(name) = what {
                    follow.put(*name, number, (*col).min(cols - 1));
                }
            }
            packer.push(cells, meta, tables);
        });
    }
}

/// Whether a row has a part of a multicell character that continues in the next row.
fn reaches_down(cells: &[Cell], tables: TablesView<'_>) -> bool {
    cells.iter().filter(|cell| cell.is_multicell()).any(|cell| {
        let rows = tables.style(cell.style_id()).size.rows();
        cell.multicell_offset().1 + 1 < rows
    })
}

/// Whether a cell holds as narrow a character that takes two columns if there is room.
fn is_narrowed(cell: Cell, tables: TablesView<'_>) -> bool {
    let width = match cell.content() {
        Content::Empty => 0,
        Content::Char(c) => props(c).width(),
        Content::Cluster(id) => tables.cluster(id as u16).map_or(0, |text| natural_width(text)),
    };
    cell.width() == Width::Narrow && width == 2
}
