//! Joins rows into one text to search in, and maps its bytes back to cells.

use std::ops::Range;
use std::sync::Arc;

use crate::grid::RowView;
use crate::grid::cell::{Cell, Content, Width};
use crate::grid::page::Page;
use crate::grid::row_text::push_cells;
use crate::{LineId, Point};

/// One row of the text.
struct TextRow {
    line: u64,
    /// The index at which the row's text starts.
    start: usize,
    page: u32,
    row: u32,
    /// Whether each column is one byte.
    is_ascii: bool,
}

/// Logical lines of some pages, each terminated by a line feed.
#[derive(Default)]
pub(super) struct SearchText {
    pub text: String,
    pages: Vec<Arc<Page>>,
    rows: Vec<TextRow>,
    cells: Vec<Cell>,
}

impl SearchText {
    pub fn clear(&mut self) {
        self.text.clear();
        self.pages.clear();
        self.rows.clear();
    }

    /// Appends rows of a page. The screen has `cols` columns, and the page's first row has the number `first`.
    pub fn push(&mut self, page: &Arc<Page>, first: u64, rows: Range<usize>, cols: usize) {
        let number = self.pages.len() as u32;
        for row in rows {
            let start = self.text.len();
            let meta = page.meta(row);
            let is_ascii = match page.narrow_text(row).map(std::str::from_utf8) {
                Some(Ok(text)) if text.is_ascii() => {
                    if text.as_bytes().contains(&0) {
                        self.text.extend(text.chars().map(|c| if c == '\0' { ' ' } else { c }));
                    } else {
                        self.text.push_str(text);
                    }
                    true
                }
                _ => {
                    page.unpack(row, &mut self.cells);
                    let view = RowView { cells: &self.cells, meta, tables: page.tables() };
                    push_cells(&view, 0, self.cells.len(), &mut self.text);
                    false
                }
            };
            let line = first + row as u64;
            self.rows.push(TextRow { line, start, page: number, row: row as u32, is_ascii });
            if meta.is_wrapped() {
                // In a wrapped row, columns that were never written are blanks inside its line.
                let missing = meta.wrapped_cols(cols).saturating_sub(meta.occ as usize);
                self.text.extend(std::iter::repeat_n(' ', missing));
            } else {
                self.trim(page, row, start);
                self.text.push('\n');
            }
        }
        self.pages.push(page.clone());
    }

    /// Drops erased cells from the end of the last row that was pushed. Printed blanks are not dropped.
    fn trim(&mut self, page: &Page, row: usize, start: usize) {
        let erased = match page.narrow_text(row) {
            Some(bytes) => bytes.iter().rev().take_while(|byte| **byte == 0).count(),
            None => {
                let blanks = self.cells.iter().rev();
                // A column that was left blank because a wide character did not fit contains no text.
                let is_erased =
                    |c: &&Cell| c.content() == Content::Empty && c.width() != Width::Tail;
                blanks.take_while(is_erased).filter(|c| c.width() != Width::Head).count()
            }
        };
        self.text.truncate((self.text.len() - erased).max(start));
    }

    /// The first and last cell of the character to which byte `at` belongs.
    pub fn place(&mut self, at: usize) -> (Point, Point) {
        let row = self.rows.partition_point(|row| row.start <= at).saturating_sub(1);
        let TextRow { line, start, page, row, is_ascii } = self.rows[row];
        let point = |col: usize| Point { line: LineId(line), col: col as u16 };
        if is_ascii {
            return (point(at - start), point(at - start));
        }
        let page = &self.pages[page as usize];
        page.unpack(row as usize, &mut self.cells);
        let view =
            RowView { cells: &self.cells, meta: page.meta(row as usize), tables: page.tables() };
        let (mut end, mut text) = (start, String::new());
        for (col, cell) in self.cells.iter().enumerate() {
            text.clear();
            push_cells(&view, col, col + 1, &mut text);
            end += text.len();
            if at < end {
                let size = view.tables.style(cell.style_id()).size;
                let more = match cell.is_multicell() {
                    true => usize::from(size.columns()) - 1,
                    false => cell.is_wide() as usize,
                };
                return (point(col), point(col + more));
            }
        }
        // A blank after the last written cell.
        let col = self.cells.len() + (at - end);
        (point(col), point(col))
    }
}
