//! Lays out lines with multicell characters again, as if a program printed their text again around the characters'
//! blocks.
//!
//! Such a line includes all rows that its characters reach down to, which might otherwise be separate lines.

use crate::TextSize;
use crate::grid::cell::{Cell, HEAD, MULTICELL, SHOWN, WIDE, WIDTH};
use crate::grid::row;

/// A row of the new layout.
#[derive(Default)]
pub(super) struct Row {
    /// One cell per column.
    pub cells: Vec<Cell>,
    pub flags: u16,
}

/// The end of a row inside a line.
pub(super) struct Break {
    /// Where the row's text ends.
    pub text: usize,
    /// Where the next row begins. Cells up to there hold the row's fill.
    pub end: usize,
}

/// The layout of one line.
pub(super) struct Layout<'a> {
    source: &'a [Cell],
    multicells: &'a [(usize, TextSize)],
    breaks: &'a [Break],
    cols: usize,
    /// The cell that fills the last row of the text.
    fill: Cell,
    pub rows: Vec<Row>,
    /// Row and column of each cell of the source, and of the position after the last.
    pub places: Vec<(usize, usize)>,
    row: usize,
    col: usize,
}

impl<'a> Layout<'a> {
    pub fn new(
        source: &'a [Cell],
        multicells: &'a [(usize, TextSize)],
        breaks: &'a [Break],
        cols: usize,
        fill: Cell,
    ) -> Self {
        let places = Vec::with_capacity(source.len() + 1);
        let rows = Vec::new();
        let mut layout =
            Self { source, multicells, breaks, cols, fill, rows, places, row: 0, col: 0 };
        layout.reach(0);
        layout
    }

    pub fn lay_out(&mut self) {
        let (mut multicells, mut breaks) = (self.multicells.iter(), self.breaks.iter());
        let (mut next_multicell, mut next_break) = (multicells.next(), breaks.next());
        let shows = |cell: &Cell| !cell.is_blank() && !cell.is_below();
        let text_end = self.source.iter().rposition(shows).map_or(0, |last| last + 1);
        let mut at = 0;
        loop {
            while let Some(end) = next_break.filter(|end| end.text == at) {
                for behind in 0..end.end - end.text {
                    self.places.push((self.row, self.col + behind));
                }
                let filled = self.source[end.text..end.end].first();
                self.fill_row(filled.copied().unwrap_or_default());
                at = end.end;
                // Rows after the text exist only as far as the characters reach down.
                if end.text < text_end || self.row + 1 < self.rows.len() {
                    (self.row, self.col) = (self.row + 1, 0);
                    self.reach(self.row);
                }
                next_break = breaks.next();
            }
            let Some(&cell) = self.source.get(at) else { break };
            if let Some((_, size)) = next_multicell.filter(|(first, _)| *first == at) {
                self.put_multicell(cell, *size);
                next_multicell = multicells.next();
                at += 1;
            } else if cell.is_multicell() {
                // Already laid out with its first cell, or its first row is no longer kept.
                let before = self.places.last().filter(|_| cell.multicell_offset().1 == 0);
                let place = before.map_or((self.row, self.col), |(row, col)| (*row, col + 1));
                self.places.push(place);
                at += 1;
            } else {
                let tail = self.source.get(at + 1).filter(|tail| cell.is_wide() && tail.is_tail());
                self.put(cell, tail.copied());
                at += 1 + tail.is_some() as usize;
            }
        }
        self.places.push((self.row, self.col));
        self.fill_row(self.fill);
    }

    /// Adds rows up to this one.
    fn reach(&mut self, row: usize) {
        while self.rows.len() <= row {
            self.rows.push(Row { cells: vec![Cell::EMPTY; self.cols], flags: 0 });
        }
    }

    /// Fills the current row after its text, except parts of multicell characters.
    fn fill_row(&mut self, fill: Cell) {
        for cell in self.rows[self.row].cells[self.col.min(self.cols)..].iter_mut() {
            if *cell == Cell::EMPTY {
                *cell = fill;
            }
        }
    }

    /// Moves to the next place with `width` free columns, in this row or a later one.
    fn find(&mut self, width: usize, head: Option<Cell>) {
        loop {
            let cells = &self.rows[self.row].cells;
            let is_free = |from: usize| cells[from..from + width].iter().all(|c| !c.is_below());
            if let Some(col) =
                (self.col..(self.cols + 1).saturating_sub(width)).find(|&c| is_free(c))
            {
                self.col = col;
                return;
            }
            let row = &mut self.rows[self.row];
            if let (Some(head), true) = (head, self.col + 1 == self.cols)
                && row.cells[self.col] == Cell::EMPTY
            {
                row.cells[self.col] = Cell(head.0 & !SHOWN | HEAD);
            }
            row.flags |= row::WRAPPED;
            if self.col < self.cols {
                row.flags |= row::SHORT;
            }
            (self.row, self.col) = (self.row + 1, 0);
            self.reach(self.row);
        }
    }

    fn put(&mut self, cell: Cell, tail: Option<Cell>) {
        let (cell, width) = match tail {
            Some(_) if self.cols > 1 => (cell, 2),
            // A one-column screen shows wide characters as narrow.
            Some(_) => (Cell(cell.0 & !WIDTH), 1),
            None if cell.is_head() => (cell.blanked(), 1),
            None => (cell, 1),
        };
        self.find(width, (width == 2).then_some(cell));
        let (row, col) = (self.row, self.col);
        self.places.push((row, col));
        self.rows[row].cells[col] = cell;
        if let Some(tail) = tail {
            self.places.push((row, col + width - 1));
            if width == 2 {
                self.rows[row].cells[col + 1] = tail;
            }
        }
        self.col += width;
    }

    /// Lays out a multicell character, or drops it if it is wider than the screen.
    fn put_multicell(&mut self, first: Cell, size: TextSize) {
        let (width, height) = (usize::from(size.columns()), usize::from(size.rows()));
        if width == 0 || width > self.cols {
            self.places.push((self.row, self.col));
            return;
        }
        self.find(width, None);
        let (row, col) = (self.row, self.col);
        self.places.push((row, col));
        self.reach(row + height - 1);
        let look = first.0 & !SHOWN | MULTICELL;
        for y in 0..height {
            let row = &mut self.rows[row + y];
            row.flags |= row::MULTICELL;
            for x in 0..width {
                row.cells[col + x] = Cell(look | Cell::multicell_part(x, y));
            }
        }
        let wide = if width > 1 { WIDE } else { 0 };
        self.rows[row].cells[col] = Cell(look | first.0 & SHOWN & !WIDTH | wide);
        self.col += width;
    }
}
