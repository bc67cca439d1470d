//! Searches all lines of a screen without the terminal's lock, in small steps.
//!
//! Under the lock, [`crate::Term::lines`] copies pointers. Afterward, [`Lines::search`] reads the lines on any thread.
//! Dropping the search cancels it. A match lies within one logical line, but may cover several rows into which the line
//! wraps. Changes in the terminal do not affect a running search. [`crate::Term::still_holds`] checks whether a match
//! is still valid.

mod pattern;
mod text;

use std::collections::VecDeque;
use std::sync::Arc;

use memchr::{memchr, memrchr};
use regex_automata::Input;

pub use pattern::{Case, Pattern, PatternError, PatternKind};
use text::SearchText;

use crate::grid::history::Stored;
use crate::grid::page::Page;
use crate::read::lines::Lines;
use crate::{Match, TextRange};

/// The maximum number of rows of an endless line that are searched as one line.
const LINE_ROWS: u64 = 4096;
/// The number of bytes of text to search between checks whether to continue. The last line is always searched
/// completely.
const SLICE: usize = 64 << 10;
/// The number of matches to find before the first is returned. It is limited, so that a pattern that matches every
/// character yields its results in pieces, also with [`SearchOrder::NewestFirst`].
const STEP_MATCHES: usize = 100_000;

/// The order in which matches are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchOrder {
    /// Starts at the oldest line.
    #[default]
    OldestFirst,
    /// Starts at the end of the screen and goes backward.
    NewestFirst,
}

impl Lines {
    /// Finds all matches of `pattern`. Matches do not overlap.
    pub fn search(self, pattern: &Pattern, order: SearchOrder) -> Search {
        let rest = 0..self.entries.len();
        Search {
            lines: self,
            pattern: pattern.clone(),
            order,
            rest,
            found: VecDeque::new(),
            text: SearchText::default(),
            recent: VecDeque::new(),
        }
    }
}

/// A running search: an iterator over its matches. Each step takes a few hundred microseconds.
pub struct Search {
    lines: Lines,
    pattern: Pattern,
    order: SearchOrder,
    /// The entries that are not searched yet.
    rest: std::ops::Range<usize>,
    found: VecDeque<Match>,
    text: SearchText,
    /// The pages of the entries that were read last.
    recent: VecDeque<(usize, Vec<Arc<Page>>)>,
}

impl Iterator for Search {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        self.next_while(&mut |_| true)
    }
}

impl Search {
    /// The next match. Before it searches a piece of text, calls `go_on` with the number of bytes in the piece. Between
    /// the matches of a line, calls `go_on` with 0. Returns `None` if `go_on` returns false, or after the last match.
    pub fn next_while(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<Match> {
        while self.found.is_empty() {
            self.step(go_on)?;
        }
        match self.order {
            SearchOrder::OldestFirst => self.found.pop_front(),
            SearchOrder::NewestFirst => self.found.pop_back(),
        }
    }

    /// The lines being searched.
    pub fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    /// Searches the lines that begin in the next entry. Returns `None` after the last entry, or if `go_on` returns
    /// false.
    fn step(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        let entry = match self.order {
            SearchOrder::OldestFirst => self.rest.next()?,
            SearchOrder::NewestFirst => self.rest.next_back()?,
        };
        self.text.clear();
        let mut at = entry;
        // A line that began before this entry is searched together with the entry in which it began.
        let mut skips = entry > 0 && goes_on(&self.lines.entries, entry);
        loop {
            let mut first = self.lines.entries[at].0;
            for page in self.pages(at) {
                let len = page.len();
                let mut start = (self.lines.oldest.saturating_sub(first) as usize).min(len);
                if skips {
                    let end = (start..len).find(|row| !page.meta(*row).is_wrapped());
                    start = end.map_or(len, |end| end + 1);
                    skips = end.is_none();
                }
                let mut end = len;
                if at > entry {
                    // Add the rest of a line that began in the entry.
                    end = (start..len)
                        .find(|row| !page.meta(*row).is_wrapped())
                        .map_or(len, |row| row + 1);
                }
                self.text.push(&page, first, start..end, self.lines.cols);
                if end < len {
                    break;
                }
                first += len as u64;
            }
            at += 1;
            let is_open = !self.text.text.is_empty() && !self.text.text.ends_with('\n');
            if !is_open || at == self.lines.entries.len() || !goes_on(&self.lines.entries, at) {
                break;
            }
        }
        self.search_text(go_on)
    }

    /// The pages of an entry. The last two entries stay cached, because adjacent entries share lines.
    fn pages(&mut self, entry: usize) -> Vec<Arc<Page>> {
        if let Some((_, pages)) = self.recent.iter().find(|(at, _)| *at == entry) {
            return pages.clone();
        }
        let pages = self.lines.entries[entry].1.pages();
        self.recent.truncate(1);
        self.recent.push_front((entry, pages.clone()));
        pages
    }

    /// Finds all matches in `text`. Returns `None` if `go_on` returns false.
    fn search_text(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        let regex = &*self.pattern.regex;
        let (mut at, mut ranges) = (0, Vec::new());
        let text = self.text.text.as_bytes();
        'text: while at < text.len() {
            // Search in slices, because the regex may continue to the end of its input to find a match.
            let reached = text.len().min(at + SLICE);
            let slice = memchr(b'\n', &text[reached..]).map_or(text.len(), |i| reached + i + 1);
            if !go_on(slice - at) {
                return None;
            }
            // The first match in the rest of the slice shows which line to search next. A match across lines does not
            // count, but the lines before its start contain no match at all.
            while let Some(hint) = regex.find(Input::new(text).range(at..slice)) {
                let start = memrchr(b'\n', &text[at..hint.start()]).map_or(at, |i| at + i + 1);
                let end =
                    memchr(b'\n', &text[hint.start()..]).map_or(text.len(), |i| hint.start() + i);
                for found in regex.find_iter(Input::new(text).range(start..end)) {
                    if ranges.len() == STEP_MATCHES {
                        break 'text;
                    }
                    if !go_on(0) {
                        return None;
                    }
                    ranges.extend((!found.is_empty()).then(|| found.range()));
                }
                at = end + 1;
                if at >= slice {
                    break;
                }
            }
            at = slice;
        }
        for range in ranges {
            let (start, _) = self.text.place(range.start);
            let (_, end) = self.text.place(range.end - 1);
            let range = TextRange { start, end, block: false };
            let (screen, seq) = (self.lines.screen(), self.lines.seq);
            self.found.push_back(Match { range, screen, seq });
        }
        Some(())
    }
}

/// Whether a line continues from entry `at - 1` to entry `at`. An endless line is split at line numbers that are a
/// multiple of [`LINE_ROWS`].
fn goes_on(entries: &[(u64, Stored)], at: usize) -> bool {
    let (before, first) = (&entries[at - 1], entries[at].0);
    let wraps = before.1.wraps();
    wraps.last && !(wraps.all && before.0 / LINE_ROWS != first / LINE_ROWS)
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").field("lines", &self.lines).finish_non_exhaustive()
    }
}
