//! Reads text from the grid: rows, ranges, words and lines.

use std::ops::Range;

use crate::grid::cell::{Content, PromptRole, Width};
use crate::grid::row_text::{first_char, push_cells, push_row, trim};
use crate::grid::{RowView, Scratch};
use crate::term::Term;
use crate::{Case, LineId, Match, Modes, Pattern, PatternKind, Point, SearchOrder, TextRange};

/// The default characters, besides blanks, that end a word for a double click.
pub const WORD_SEPARATORS: &str = ",;|│'\"`()[]{}<>";
/// The maximum number of rows of a logical line to read around a point.
const LINE_ROWS: u64 = 4096;

impl Term {
    /// Appends the row's text to `text`, without trailing blanks. Returns false if the row is not stored.
    pub fn row_text(&self, line: LineId, text: &mut String) -> bool {
        let mut scratch = Scratch::default();
        let Some(view) = self.grid.read(line.0, &mut scratch) else { return false };
        push_row(&view, text);
        true
    }

    /// Calls `each` with the text of each column, up to the last written column. In a wrapped row, continues up to the
    /// end of the row. The text is a blank for an empty cell. It is empty for the second column of a wide character,
    /// and for a blank left because a wide character did not fit. Returns whether the text continues in the next row,
    /// or `None` if the row is not stored.
    pub fn row_cells(&self, line: LineId, mut each: impl FnMut(u16, &str)) -> Option<bool> {
        let mut scratch = Scratch::default();
        let view = self.grid.read(line.0, &mut scratch)?;
        let is_wrapped = view.meta.is_wrapped();
        let end = if is_wrapped { view.meta.wrapped_cols(self.grid.cols()) } else { 0 };
        let mut text = String::new();
        for col in 0..view.cells.len() {
            text.clear();
            push_cells(&view, col, col + 1, &mut text);
            each(col as u16, &text);
        }
        (view.cells.len()..end).for_each(|col| each(col as u16, " "));
        Some(is_wrapped)
    }

    /// Whether text has overwritten the prompt in the row in which the shell's input starts.
    pub fn is_prompt_overwritten(&self, input: Point) -> bool {
        let mut scratch = Scratch::default();
        let view = self.grid.read(input.line.0, &mut scratch);
        let mut before = view.iter().flat_map(|view| view.cells.iter().take(input.col.into()));
        before.any(|cell| cell.prompt_role() == PromptRole::Input)
    }

    /// Whether every printed character appears unchanged, directly after the character before it, on any row and
    /// column.
    pub fn prints_all_as_is(&self) -> bool {
        const CHANGING: Modes = Modes::INSERT.union(Modes::ORIGIN).union(Modes::VT52);
        !self.modes.intersects(CHANGING)
            && self.modes.contains(Modes::AUTO_WRAP)
            && self.charsets.is_plain()
            && (self.top, self.bottom) == (0, self.grid.rows())
            && (self.left, self.right) == (0, self.grid.cols())
            && (0..self.grid.rows()).all(|row| !self.grid.meta(row).is_double())
    }

    /// Appends the text of a row's cells that have this role. Returns whether the row continues in the next row.
    pub(crate) fn role_text(&self, line: LineId, role: PromptRole, text: &mut String) -> bool {
        let mut scratch = Scratch::default();
        let Some(view) = self.grid.read(line.0, &mut scratch) else { return false };
        for (col, cell) in view.cells.iter().enumerate() {
            if cell.prompt_role() == role && cell.content() != Content::Empty {
                push_cells(&view, col, col + 1, text);
            }
        }
        view.meta.is_wrapped()
    }

    /// The text of a range as a user would copy it: wrapped rows are joined, trailing blanks of each line are dropped,
    /// and lines are separated by `\n`.
    pub fn text(&self, range: TextRange) -> String {
        let cols = self.grid.cols();
        let mut text = String::new();
        let mut scratch = Scratch::default();
        let first = range.start.line.0.max(self.grid.oldest());
        let last = range.end.line.0.min(self.grid.end() - 1);
        let mut start_of_line = 0;
        for line in first..=last {
            let Some(view) = self.grid.read(line, &mut scratch) else { continue };
            let (start, end) = if range.block {
                let (a, b) = (range.start.col, range.end.col);
                (a.min(b) as usize, a.max(b) as usize + 1)
            } else {
                let start = if line == range.start.line.0 { range.start.col as usize } else { 0 };
                let end = if line == range.end.line.0 { range.end.col as usize + 1 } else { cols };
                (start, end)
            };
            let end = end.min(cols);
            let is_first = line == first;
            let start = if view.meta.has_multicells() {
                self.push_multicells_above(&view, line, start..end, is_first, &mut text);
                start_of_multicell(&view, start)
            } else {
                start
            };
            push_cells(&view, start, end, &mut text);
            let goes_on = view.meta.is_wrapped() && !range.block;
            if goes_on && line < last {
                // In a wrapped row, columns that were never written count as blanks inside the line.
                let end = end.min(view.meta.wrapped_cols(cols));
                let missing = end.saturating_sub(start.max(view.cells.len()));
                text.extend(std::iter::repeat_n(' ', missing));
            } else {
                trim(&mut text, start_of_line);
                if line < last {
                    text.push('\n');
                }
                start_of_line = text.len();
            }
        }
        text
    }

    /// If this is the first row of the range, appends the texts of multicell characters that begin above it: a
    /// multicell character is copied whole if a selection contains any part of it.
    fn push_multicells_above(
        &self,
        view: &RowView<'_>,
        line: u64,
        cols: Range<usize>,
        is_first: bool,
        text: &mut String,
    ) {
        let mut scratch = Scratch::default();
        let mut known = None;
        for col in cols.filter(|_| is_first) {
            let Some(cell) = view.cells.get(col).filter(|cell| cell.is_below()) else { continue };
            let (x, y) = cell.multicell_offset();
            let place = (col - usize::from(x), y);
            if known.replace(place) == Some(place) {
                continue;
            }
            if let Some(first) = self.grid.read(line - u64::from(y), &mut scratch) {
                push_cells(&first, place.0, place.0 + 1, text);
            }
        }
    }

    /// The first cell of the multicell character at `point`, or `point` itself if there is no multicell character.
    pub fn multicell_at(&self, point: Point) -> Point {
        let mut scratch = Scratch::default();
        let view = self.grid.read(point.line.0, &mut scratch);
        let cell = view.and_then(|view| view.cells.get(usize::from(point.col)).copied());
        let (x, y) = cell.unwrap_or_default().multicell_offset();
        Point { line: LineId(point.line.0 - u64::from(y)), col: point.col - x }
    }

    /// The word at `point`, for a double click. A word may continue across wrapped rows. It is a run of characters that
    /// are neither blanks nor `separators`. It excludes colons at its ends, as in `error:`, but includes colons inside,
    /// as in a URL or before a line number.
    pub fn word_at(&self, point: Point, separators: &str) -> TextRange {
        let point = self.multicell_at(point);
        let alone = TextRange { start: point, end: point, block: false };
        let line = self.line_at(point.line);
        let mut cells: Vec<(Point, Option<char>)> = Vec::new();
        let mut scratch = Scratch::default();
        let cols = self.grid.cols();
        for id in line.start.line.0..=line.end.line.0 {
            let Some(view) = self.grid.read(id, &mut scratch) else { continue };
            for col in 0..cols {
                let cell = view.cells.get(col).copied().unwrap_or_default();
                let at = Point { line: LineId(id), col: col as u16 };
                match cell.width() {
                    Width::Head => {}
                    _ if cell.is_below() => {}
                    // The second half belongs to the character in the first half.
                    Width::Tail => cells.push((at, cells.last().and_then(|(_, c)| *c))),
                    _ => cells.push((at, first_char(&view, cell))),
                }
            }
        }
        let Ok(at) = cells.binary_search_by_key(&point, |(at, _)| *at) else { return alone };
        let in_word =
            |i: usize| cells[i].1.is_some_and(|c| !c.is_whitespace() && !separators.contains(c));
        if !in_word(at) {
            return alone;
        }
        let mut start = (0..at).rev().take_while(|&i| in_word(i)).last().unwrap_or(at);
        let mut end = (at + 1..cells.len()).take_while(|&i| in_word(i)).last().unwrap_or(at);
        while start < at && cells[start].1 == Some(':') {
            start += 1;
        }
        while end > at && cells[end].1 == Some(':') {
            end -= 1;
        }
        TextRange { start: cells[start].0, end: cells[end].0, block: false }
    }

    /// The whole logical line that contains `line`, for a triple click.
    pub fn line_at(&self, line: LineId) -> TextRange {
        let (mut first, mut last) = (line.0, line.0);
        while first > self.grid.oldest()
            && line.0 - first < LINE_ROWS
            && self.is_wrapped(LineId(first - 1))
        {
            first -= 1;
        }
        while last + 1 < self.grid.end()
            && last - line.0 < LINE_ROWS
            && self.is_wrapped(LineId(last))
        {
            last += 1;
        }
        TextRange {
            start: Point { line: LineId(first), col: 0 },
            end: Point { line: LineId(last), col: self.size.cols - 1 },
            block: false,
        }
    }
}

impl Term {
    /// The positions of a literal `text`, which may continue across wrapped rows: oldest first, at most `max`, without
    /// overlaps. The time is proportional to the size of the history. To search without the lock, use [`Term::lines`].
    pub fn find(&self, text: &str, max: usize) -> Vec<Match> {
        match Pattern::new(text, PatternKind::Literal, Case::Sensitive) {
            Ok(pattern) => {
                self.lines().search(&pattern, SearchOrder::OldestFirst).take(max).collect()
            }
            Err(_) => Vec::new(),
        }
    }
}

/// The first column of the multicell character at column `col` of its first row. `col` if there is no such character.
fn start_of_multicell(view: &RowView<'_>, col: usize) -> usize {
    match view.cells.get(col).map(|cell| cell.multicell_offset()) {
        Some((x, 0)) => col - usize::from(x),
        _ => col,
    }
}
