//! All lines of a screen at one moment, to be read outside the terminal's lock.
//!
//! Taking them copies what is on the screen and, for history, one pointer for each thousand lines or so.

use std::sync::Arc;

use crate::cell::Width;
use crate::cold::Thawed;
use crate::grid::RowView;
use crate::history::Stored;
use crate::page::Page;
use crate::term::Term;
use crate::text::{first_char, push_output, push_row};
use crate::{LineId, Match, ScreenKind};

/// The lines of one screen as they were when [`Term::lines`] was called: never changed, whatever the terminal does.
#[derive(Clone)]
pub struct Lines {
    /// Numbers of the first rows, and the rows, oldest first.
    pub(crate) entries: Vec<(u64, Stored)>,
    pub(crate) cols: usize,
    pub(crate) oldest: u64,
    pub(crate) end: u64,
    screen: ScreenKind,
    pub(crate) seq: u64,
    /// The group read last, and the number of its first row.
    thawed: Option<(u64, Thawed)>,
}

impl Term {
    /// The lines of the shown screen and its history, to be read or searched without the lock.
    pub fn lines(&self) -> Lines {
        let (mut entries, oldest) = (self.grid.entries(), self.grid.oldest());
        // What is to be dropped next: a line that began there is searched from where it is kept.
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

    /// Whether the text that a search found is still there: on the screen that is shown, on lines that are kept and have
    /// not changed since.
    pub fn still_holds(&self, found: &Match) -> bool {
        let lines = found.range.start.line.0..=found.range.end.line.0;
        found.screen == self.screen
            && lines.into_iter().all(|line| {
                self.grid.line_meta(line).is_some_and(|meta| meta.revision <= found.seq)
            })
    }
}

impl Lines {
    /// Number of the terminal's last change when they were taken.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Which screen's they are.
    pub fn screen(&self) -> ScreenKind {
        self.screen
    }

    /// The oldest line.
    pub fn oldest(&self) -> LineId {
        LineId(self.oldest)
    }

    /// The line after the last.
    pub fn end(&self) -> LineId {
        LineId(self.end)
    }

    /// Those from `line` on, with what begins the line that it belongs to, as far as a few rows above.
    pub fn since(mut self, line: LineId) -> Self {
        /// Rows of a line without end.
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

    /// Appends a row's text, without trailing blanks, to `text`; false for a row that is not among them. Neighbouring rows
    /// are read fastest.
    pub fn row_text(&mut self, line: LineId, text: &mut String) -> bool {
        let mut cells = Vec::new();
        let Some((page, row)) = self.find(line.0) else { return false };
        page.unpack(row, &mut cells);
        push_row(&RowView { cells: &cells, meta: page.meta(row), tables: page.tables() }, text);
        true
    }

    /// The same without prompts and what was typed at them (OSC 133): the text that programs put out.
    pub fn output_text(&mut self, line: LineId, text: &mut String) -> bool {
        let mut cells = Vec::new();
        let Some((page, row)) = self.find(line.0) else { return false };
        page.unpack(row, &mut cells);
        push_output(&RowView { cells: &cells, meta: page.meta(row), tables: page.tables() }, text);
        true
    }

    /// Columns of the screen.
    pub fn cols(&self) -> u16 {
        self.cols as u16
    }

    /// Replaces `chars` by a row's characters, one for each column up to the last that was written: the first code point
    /// of what is there, ' ' where nothing is, '\0' in the second column of a wide one. Tells whether the text goes on in
    /// the next row; `None` for a row that is not among them.
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

    /// Whether a row's text goes on in the next row: a line that was wrapped.
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
