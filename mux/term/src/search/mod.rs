//! Searching all lines of a screen, outside the terminal's lock and a thousand lines at a time.
//!
//! Under the lock [`crate::Term::lines`] copies pointers; [`Lines::search`] reads them wherever its caller likes, and is
//! given up by dropping it. A match lies within one logical line, across the rows it wraps into. What the terminal does
//! meanwhile changes nothing here: [`crate::Term::still_holds`] tells whether a match is still on the screen.

mod pattern;
mod text;

use std::collections::VecDeque;
use std::sync::Arc;

use memchr::{memchr, memrchr};
use regex_automata::Input;

pub use pattern::{Case, Pattern, PatternError, PatternKind};
use text::SearchText;

use crate::history::Stored;
use crate::lines::Lines;
use crate::page::Page;
use crate::{Match, TextRange};

/// Rows of a line without end that are searched as one.
const LINE_ROWS: u64 = 4096;
/// Bytes of text that are searched before its caller is asked whether to go on; the line that reaches it is whole.
const SLICE: usize = 64 << 10;
/// Matches that are found before the first of them is returned: a pattern that matches every character is answered in
/// pieces, newest first as well.
const STEP_MATCHES: usize = 100_000;

/// In which order matches are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchOrder {
    /// From the oldest line on.
    #[default]
    OldestFirst,
    /// From the end of the screen back.
    NewestFirst,
}

impl Lines {
    /// Finds `pattern`, one match after the other, none inside another.
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

/// A search under way: an iterator over its matches. It does a few hundred microseconds' work at a time.
pub struct Search {
    lines: Lines,
    pattern: Pattern,
    order: SearchOrder,
    /// Entries not searched yet.
    rest: std::ops::Range<usize>,
    found: VecDeque<Match>,
    text: SearchText,
    /// Pages of the entries read last.
    recent: VecDeque<(usize, Vec<Arc<Page>>)>,
}

impl Iterator for Search {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        self.next_while(&mut |_| true)
    }
}

impl Search {
    /// The next match, for as long as `go_on` lets it be looked for: that is asked before a piece of text is searched, with
    /// the piece's bytes, and with 0 between the matches of a line. `None` when it does not, or after the last match.
    pub fn next_while(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<Match> {
        while self.found.is_empty() {
            self.step(go_on)?;
        }
        match self.order {
            SearchOrder::OldestFirst => self.found.pop_front(),
            SearchOrder::NewestFirst => self.found.pop_back(),
        }
    }

    /// The lines that are searched.
    pub fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    /// Searches the lines that begin in the next entry; `None` after the last, or when its caller has enough.
    fn step(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        let entry = match self.order {
            SearchOrder::OldestFirst => self.rest.next()?,
            SearchOrder::NewestFirst => self.rest.next_back()?,
        };
        self.text.clear();
        let mut at = entry;
        // A line that began before this entry was, or will be, searched with the entry it began in.
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
                    // The rest of a line that began in the entry.
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

    /// The pages of an entry; those of the last two are kept, since neighbours share lines.
    fn pages(&mut self, entry: usize) -> Vec<Arc<Page>> {
        if let Some((_, pages)) = self.recent.iter().find(|(at, _)| *at == entry) {
            return pages.clone();
        }
        let pages = self.lines.entries[entry].1.pages();
        self.recent.truncate(1);
        self.recent.push_front((entry, pages.clone()));
        pages
    }

    /// Finds all matches in `text`; `None` when its caller has enough.
    fn search_text(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        let regex = &*self.pattern.regex;
        let (mut at, mut ranges) = (0, Vec::new());
        let text = self.text.text.as_bytes();
        'text: while at < text.len() {
            // In slices, since a match may be looked for up to the end of what is left.
            let reached = text.len().min(at + SLICE);
            let slice = memchr(b'\n', &text[reached..]).map_or(text.len(), |i| reached + i + 1);
            if !go_on(slice - at) {
                return None;
            }
            // The first match in all that is left tells the next line worth a look: what would match across lines is no
            // match, but no line before the one it begins in has any.
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

/// Whether a line goes on from entry `at - 1` to entry `at`. One without end is parted where line numbers reach a
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
