//! A copy of all lines of a screen, which can be read without the terminal's lock.
//!
//! [`Term::lines`] copies the rows of the screen and, for history, about one pointer per thousand lines.

use std::sync::Arc;

use crate::grid::RowView;
use crate::grid::cell::{Cell, PromptRole, Width};
use crate::grid::cold::Thawed;
use crate::grid::history::Stored;
use crate::grid::page::Page;
use crate::grid::row_text::{first_char, push_cells, push_output, push_row};
use crate::term::Term;
use crate::{LineId, Match, ScreenKind};

/// The lines of one screen at the time of [`Term::lines`]. Later changes to the terminal do not affect them.
#[derive(Clone)]
pub struct Lines {
    /// The entries of rows, oldest first, each with the number of its first row.
    pub(crate) entries: Vec<(u64, Stored)>,
    pub(crate) cols: usize,
    pub(crate) oldest: u64,
    pub(crate) end: u64,
    screen: ScreenKind,
    pub(crate) seq: u64,
    /// The group of pages that was read last, with the number of its first row.
    thawed: Option<(u64, Thawed)>,
}

impl Term {
    /// Copies the lines of the visible screen and its history, to read or search them without the lock.
    pub fn lines(&self) -> Lines {
        let (mut entries, oldest) = (self.grid.entries(), self.grid.oldest());
        // Omit entries that are about to be dropped. If a line begins in such an entry, it is searched from its first
        // stored row on.
        entries.retain(|(first, stored)| first + stored.len() as u64 > oldest);
        Lines {
            entries,
            cols: self.grid.cols(),
            oldest,
            end: self.grid.end(),
            screen: self.screen,
            seq: self.seq,
            thawed: None,
        }
    }

    /// Whether the text that a search found is still in place: the same screen is visible, and the lines are stored and
    /// unchanged.
    pub fn still_holds(&self, found: &Match) -> bool {
        let lines = found.range.start.line.0..=found.range.end.line.0;
        found.screen == self.screen
            && lines.into_iter().all(|line| {
                self.grid.line_meta(line).is_some_and(|meta| meta.revision <= found.seq)
            })
    }
}

impl Lines {
    /// The terminal's `seq` when the lines were copied.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The screen from which the lines were copied.
    pub fn screen(&self) -> ScreenKind {
        self.screen
    }

    /// The oldest line.
    pub fn oldest(&self) -> LineId {
        LineId(self.oldest)
    }

    /// The line after the last line.
    pub fn end(&self) -> LineId {
        LineId(self.end)
    }

    /// The lines from `line` on. If `line` is inside a logical line, begins at the start of that logical line, within a
    /// limit.
    pub fn since(mut self, line: LineId) -> Self {
        /// The maximum number of rows to go back in an endless line.
        const MOST: u64 = 4096;
        let mut first = line.0.clamp(self.oldest, self.end);
        let least = first.saturating_sub(MOST).max(self.oldest);
        while first > least && self.is_wrapped(LineId(first - 1)) {
            first -= 1;
        }
        self.oldest = first;
        self.entries.retain(|(start, stored)| start + stored.len() as u64 > first);
        self
    }

    /// Appends a row's text to `text`, without trailing blanks. Returns false for a row outside these lines. Reading
    /// adjacent rows one after the other is fastest.
    pub fn row_text(&mut self, line: LineId, text: &mut String) -> bool {
        let mut cells = Vec::new();
        let Some((page, row)) = self.find(line.0) else { return false };
        page.unpack(row, &mut cells);
        push_row(&RowView { cells: &cells, meta: page.meta(row), tables: page.tables() }, text);
        true
    }

    /// Appends a row's part of its line. Blanks at the end of the row are included only if the line continues in the
    /// next row. With `only_output`, prompts and their input (OSC 133) are omitted. Returns whether the line continues.
    pub fn line_text(&mut self, line: LineId, only_output: bool, text: &mut String) -> bool {
        let mut cells = Vec::new();
        let Some((page, row)) = self.find(line.0) else { return false };
        page.unpack(row, &mut cells);
        let view = RowView { cells: &cells, meta: page.meta(row), tables: page.tables() };
        match (view.meta.is_wrapped(), only_output) {
            (false, false) => push_row(&view, text),
            (false, true) => push_output(&view, text),
            (true, _) => {
                let mut col = 0;
                for run in cells.chunk_by(|a, b| a.prompt_role() == b.prompt_role()) {
                    if !only_output || run[0].prompt_role() == PromptRole::Output {
                        push_cells(&view, col, col + run.len(), text);
                    }
                    col += run.len();
                }
                let missing = view.meta.wrapped_cols(self.cols).saturating_sub(cells.len());
                text.extend(std::iter::repeat_n(' ', missing));
            }
        }
        view.meta.is_wrapped()
    }

    /// Calls `each` with the column, cell and text of each character in a row, up to the last written column. In a
    /// wrapped row, continues up to the end of the row. The text is a blank for an empty cell. Returns false for a row
    /// outside these lines.
    pub fn row_cells(&mut self, line: LineId, mut each: impl FnMut(u16, Cell, &str)) -> bool {
        let mut cells = Vec::new();
        let Some((page, row)) = self.find(line.0) else { return false };
        page.unpack(row, &mut cells);
        let view = RowView { cells: &cells, meta: page.meta(row), tables: page.tables() };
        let mut text = String::new();
        for (col, cell) in cells.iter().enumerate() {
            text.clear();
            push_cells(&view, col, col + 1, &mut text);
            if !text.is_empty() {
                each(col as u16, *cell, &text);
            }
        }
        let end = if view.meta.is_wrapped() { view.meta.wrapped_cols(self.cols) } else { 0 };
        (cells.len()..end).for_each(|col| each(col as u16, Cell::EMPTY, " "));
        true
    }

    /// The number of columns of the screen.
    pub fn cols(&self) -> u16 {
        self.cols as u16
    }

    /// Replaces `chars` with a row's characters, one per column up to the last written column. Each is the first code
    /// point of the cell, ' ' for an empty cell, or '\0' for the second column of a wide character. Returns whether the
    /// text continues in the next row, or `None` for a row outside these lines.
    pub fn row_chars(&mut self, line: LineId, chars: &mut Vec<char>) -> Option<bool> {
        let mut cells = Vec::new();
        chars.clear();
        let (page, row) = self.find(line.0)?;
        page.unpack(row, &mut cells);
        let view = RowView { cells: &cells, meta: page.meta(row), tables: page.tables() };
        chars.extend(cells.iter().map(|cell| match cell.width() {
            Width::Tail => '\0',
            _ => first_char(&view, *cell).unwrap_or(' '),
        }));
        Some(view.meta.is_wrapped())
    }

    /// Whether a row's text continues in the next row because the line was wrapped.
    pub fn is_wrapped(&mut self, line: LineId) -> bool {
        self.find(line.0).is_some_and(|(page, row)| page.meta(row).is_wrapped())
    }

    fn find(&mut self, line: u64) -> Option<(Arc<Page>, usize)> {
        if !(self.oldest..self.end).contains(&line) {
            return None;
        }
        let after = self.entries.partition_point(|(first, _)| *first <= line);
        let (first, stored) = self.entries.get(after.checked_sub(1)?)?;
        let row = (line - first) as usize;
        match stored {
            Stored::Packed(page) => Some((page.clone(), row)),
            Stored::Cold(cold) => {
                let thawed = match self.thawed.take().filter(|(at, _)| at == first) {
                    Some((_, thawed)) => thawed,
                    None => cold.thaw(),
                };
                let found = thawed.find(row).map(|(page, row)| (page.clone(), row));
                self.thawed = Some((*first, thawed));
                found
            }
        }
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines")
            .field("lines", &(self.oldest..self.end))
            .field("seq", &self.seq)
            .finish_non_exhaustive()
    }
}
