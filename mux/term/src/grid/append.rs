//! Text that scrolls through the screen's last row, many rows at once.
//!
//! Owns how printable ASCII and CR LF are split into rows. If a text is so long that it pushes its own rows off the
//! screen, those rows never become cells: they are written directly into pages of history.

use super::Grid;
use crate::grid::cell::Cell;
use crate::grid::page::rows_per_page;
use crate::grid::span::Span;
use crate::scan::ascii_run;
use crate::work;

/// The number of cells to write at once, if the row has that many.
const LANES: usize = 16;

/// A list of ones followed by zeros. The slice from `LANES - n` on is a mask for the first `n` of [`LANES`] cells.
static MASKS: [u64; 2 * LANES] = {
    let mut masks = [0; 2 * LANES];
    let mut i = 0;
    while i < LANES {
        masks[i] = !0;
        i += 1;
    }
    masks
};

/// Makes the first `len` of `cells` show the first `len` of `bytes`. If both slices are longer than `len`, this is
/// faster. Texts between sequences usually have short, varying lengths, so hardly any branch here depends on the
/// length.
#[inline(always)]
pub(crate) fn write_ascii(cells: &mut [Cell], bytes: &[u8], len: usize, bits: u64) {
    let write = |cells: &mut [Cell; LANES], bytes: &[u8; LANES]| {
        for i in 0..LANES {
            cells[i] = Cell(bits | bytes[i] as u64);
        }
    };
    if len == 1 {
        cells[0] = Cell(bits | bytes[0] as u64);
    } else if len > LANES {
        let (cells, bytes) = (&mut cells[..len], &bytes[..len]);
        for (cells, bytes) in cells.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
            write(cells, bytes);
        }
        if let (Some(cells), Some(bytes)) = (cells.last_chunk_mut(), bytes.last_chunk()) {
            write(cells, bytes);
        }
    } else if let (Some(cells), Some(bytes), Some(masks)) = (
        cells.first_chunk_mut::<LANES>(),
        bytes.first_chunk::<LANES>(),
        MASKS[LANES - len..].first_chunk::<LANES>(),
    ) {
        for i in 0..LANES {
            let new = bits | bytes[i] as u64;
            cells[i] = Cell(new & masks[i] | cells[i].0 & !masks[i]);
        }
    } else {
        for (cell, &byte) in cells[..len].iter_mut().zip(bytes) {
            *cell = Cell(bits | byte as u64);
        }
    }
}

/// Splits text into rows.
struct Rows<'a> {
    bytes: &'a [u8],
    /// The number of bytes that were split so far.
    at: usize,
    cols: usize,
    /// Whether a line that is too long continues in the next row.
    wraps: bool,
}

impl Iterator for Rows<'_> {
    type Item = Span;

    /// The next row, if its end is known: the line ends, or more text follows than fits.
    #[inline]
    fn next(&mut self) -> Option<Span> {
        let (start, rest) = (self.at, &self.bytes[self.at..]);
        let len = ascii_run(&rest[..rest.len().min(self.cols + 1)]);
        work::add(len + 1);
        let (len, taken, wrapped) = if len > self.cols {
            (self.cols, self.wraps.then_some(self.cols)?, true)
        } else {
            let [b'\r', b'\n', ..] = rest[len..] else { return None };
            (len, len + 2, false)
        };
        self.at += taken;
        Some(Span { start, len: len as u16, wrapped })
    }
}

impl Grid {
    /// Writes the complete rows at the start of `bytes` (printable ASCII and CR LF) to the last row of the screen,
    /// which must be empty, and scrolls after each row. If `wraps` is set, a line that is too long continues in the
    /// next row. Otherwise writing stops before that line. `bits` returns the bits of a cell for one of the tables.
    /// Returns the number of bytes written.
    pub fn append(
        &mut self,
        bytes: &[u8],
        wraps: bool,
        revision: u64,
        mut bits: impl FnMut(&mut Self, usize) -> u64,
    ) -> usize {
        let mut text = Rows { bytes, at: 0, cols: self.cols, wraps };
        let mut spans = std::mem::take(&mut self.spans);
        let page = rows_per_page(self.cols);
        let full = self.rows + page;
        let mut row = self.rows - 1;
        let mut passed = false;
        loop {
            spans.extend(text.by_ref().take(full - spans.len()));
            if spans.len() < full {
                break;
            }
            if !passed {
                self.clear_out(revision);
                (passed, row) = (true, 0);
            }
            let table = self.table_of(self.slot(0));
            let bits = bits(self, table);
            self.pass(bytes, &spans[..page], bits, table, revision);
            spans.drain(..page);
        }
        for span in spans.drain(..) {
            let slot = self.slot(row);
            let table = self.table_of(slot);
            let bits = bits(self, table);
            let (cells, meta) = self.slot_mut(slot);
            write_ascii(cells, &bytes[span.start..], span.len as usize, bits);
            *meta = span.meta(revision);
            if row + 1 < self.rows {
                row += 1;
                self.meta_mut(row).revision = revision;
            } else {
                self.scroll_screen(revision);
            }
        }
        self.spans = spans;
        text.at
    }

    /// Moves all rows off the screen into pages, except the last row, which is empty.
    fn clear_out(&mut self, revision: u64) {
        for _ in 1..self.rows {
            self.advance();
        }
        self.pack();
        if self.limit == 0 {
            (0..self.rows).for_each(|row| self.clear_row(row, Cell::EMPTY, revision));
        }
    }

    /// Adds rows of text directly to the history of an empty screen.
    fn pass(&mut self, bytes: &[u8], spans: &[Span], bits: u64, table: usize, revision: u64) {
        self.live_top += spans.len() as u64;
        if self.limit == 0 {
            return self.history.restart_at(self.live_top);
        }
        let tables = self.tables[table].view();
        self.builder.reserve(spans.len());
        for span in spans {
            let text = &bytes[span.start..][..span.len as usize];
            self.builder.push_text(text, bits, span.meta(revision), tables);
        }
        let page = self.builder.finish();
        self.add_page(page);
    }
}
