//! Lines that have left the screen: a queue of pages, with old pages compressed.
//!
//! Owns the queue, and decides what to compress and when. Has no access to screens or cursors. The newest rows stay
//! packed ([`crate::grid::page`]), so that scrolling back a little, or a small history, costs no decompression. Older pages
//! are frozen in groups ([`crate::grid::cold`]). The terminal's owner freezes them without the lock while the program is
//! silent ([`Compression`]). If output arrives faster than that, adding a page beyond the limit freezes a group at
//! once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::grid::cold::{Cold, GROUP_BYTES, GROUP_PAGES, Thawed};
use crate::grid::page::{Page, Wraps};

/// The number of newest rows that are never compressed. It is small in tests, so that tests cover both forms.
const NEAR_ROWS: u64 = if cfg!(test) { 16 } else { 4096 };
/// If packed pages exceed this number of bytes, pages are compressed at once, without waiting for a pause in the
/// output. A history of 10,000 lines of text is smaller than this, so only a longer history slows output down.
const BACKLOG_BYTES: usize = 8 << 20;
/// The number of recently thawed groups that stay cached.
const CACHE_GROUPS: usize = 4;

/// Some rows of history, in one of their two forms: packed or frozen.
#[derive(Clone)]
pub(crate) enum Stored {
    Packed(Arc<Page>),
    Cold(Arc<Cold>),
}

impl Stored {
    pub fn len(&self) -> usize {
        match self {
            Self::Packed(page) => page.len(),
            Self::Cold(cold) => cold.len(),
        }
    }

    /// Whether rows of `cols` cells can show the text unchanged: there are no lines to join, split or fill, and no
    /// images or multicell characters to handle.
    pub fn fits(&self, cols: usize) -> bool {
        let (longest, has_tiles, stays) = match self {
            Self::Packed(page) => (page.longest, page.has_tiles, page.stays),
            Self::Cold(cold) => (cold.longest, cold.has_tiles, cold.stays),
        };
        !self.wraps().any && longest as usize <= cols && !has_tiles && stays
    }

    /// Whether rows continue in the next row.
    pub fn wraps(&self) -> Wraps {
        match self {
            Self::Packed(page) => page.wraps,
            Self::Cold(cold) => cold.wraps,
        }
    }

    /// The number of rows of the first `count` lines. Those lines must end in these rows.
    pub fn rows_of_lines(&self, count: u64) -> u64 {
        let end = |rows: &mut dyn Iterator<Item = bool>| match count {
            0 => 0,
            _ => rows
                .enumerate()
                .filter(|(_, wraps)| !wraps)
                .nth(count as usize - 1)
                .map_or(self.len() as u64, |(row, _)| row as u64 + 1),
        };
        match self {
            _ if !self.wraps().any => count,
            Self::Packed(page) => end(&mut (0..page.len()).map(|row| page.meta(row).is_wrapped())),
            Self::Cold(cold) => end(&mut cold.wrapped_rows()),
        }
    }

    /// The pages. Frozen pages are thawed without storing them in the cache.
    pub fn pages(&self) -> Vec<Arc<Page>> {
        match self {
            Self::Packed(page) => vec![page.clone()],
            Self::Cold(cold) => cold.thaw().pages().cloned().collect(),
        }
    }

    fn link_bytes(&self) -> usize {
        match self {
            Self::Packed(page) => page.link_bytes,
            Self::Cold(cold) => cold.link_bytes,
        }
    }

    fn is_cold(&self) -> bool {
        matches!(self, Self::Cold(_))
    }

    fn size(&self) -> usize {
        match self {
            Self::Packed(page) => page.size(),
            Self::Cold(cold) => cold.size(),
        }
    }

    fn raw_size(&self) -> usize {
        match self {
            Self::Packed(page) => page.size(),
            Self::Cold(cold) => cold.raw_size(),
        }
    }
}

/// The rows of history, oldest first.
#[derive(Default)]
pub(crate) struct History {
    /// The entries, each with the number of its first row. The numbers include dropped rows.
    entries: VecDeque<(u64, Stored)>,
    /// The number of the next page's first row.
    end: u64,
    /// The size of all packed pages in bytes (`packed`), and of all compressed pages (`cold`).
    packed: usize,
    cold: usize,
    /// The number of lines that end in these rows.
    lines: u64,
    /// See [`Page::link_bytes`].
    link_bytes: usize,
    /// All rows before this number are compressed.
    frozen_until: u64,
    cache: Mutex<VecDeque<(u64, Arc<Thawed>)>>,
}

impl History {
    /// An empty history. Its first row will have the number `start`.
    pub fn starting_at(start: u64) -> Self {
        Self { end: start, frozen_until: start, ..Self::default() }
    }

    /// Drops all rows. The next row that is added gets the number `start`.
    #[inline]
    pub fn restart_at(&mut self, start: u64) {
        if self.entries.is_empty() {
            self.end = start;
        } else {
            *self = Self::starting_at(start);
        }
    }

    /// The number of the first stored row. Equal to `end` if the history is empty.
    pub fn start(&self) -> u64 {
        self.entries.front().map_or(self.end, |(first, _)| *first)
    }

    /// The number of the row after the last row.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The number of bytes of memory that the rows use.
    pub fn size(&self) -> usize {
        self.packed + self.cold
    }

    /// The number of newest rows that use at most this many bytes, all of them uncompressed.
    pub fn rows_within(&self, bytes: usize) -> u64 {
        let mut left = bytes;
        let fits = |stored: &&Stored| match left.checked_sub(stored.raw_size()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let newest = self.entries.iter().rev().map(|(_, stored)| stored);
        newest.take_while(fits).map(|stored| stored.len() as u64).sum()
    }

    /// The number of lines that end in these rows. Rows that wrap into the next row do not count.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The size in bytes of the links in these rows.
    pub fn link_bytes(&self) -> usize {
        self.link_bytes
    }

    fn add(&mut self, stored: &Stored) {
        self.link_bytes += stored.link_bytes();
        *if stored.is_cold() { &mut self.cold } else { &mut self.packed } += stored.size();
        self.lines += u64::from(stored.wraps().lines);
    }

    fn subtract(&mut self, stored: &Stored) {
        self.link_bytes -= stored.link_bytes();
        *if stored.is_cold() { &mut self.cold } else { &mut self.packed } -= stored.size();
        self.lines -= u64::from(stored.wraps().lines);
    }

    /// Adds rows at the end, without compressing anything. See [`History::freeze_backlog`].
    pub fn push(&mut self, stored: Stored) {
        let first = self.end;
        self.end += stored.len() as u64;
        self.add(&stored);
        self.entries.push_back((first, stored));
    }

    /// Drops entries of which every row is before row `oldest`.
    pub fn drop_before(&mut self, oldest: u64) {
        while let Some((first, stored)) = self.entries.front() {
            if first + stored.len() as u64 > oldest {
                break;
            }
            if let Some((_, stored)) = self.entries.pop_front() {
                self.subtract(&stored);
            }
        }
    }

    /// Removes the last page.
    pub fn pop(&mut self) -> Option<Arc<Page>> {
        let (first, stored) = self.entries.pop_back()?;
        self.end = first;
        self.subtract(&stored);
        self.frozen_until = self.frozen_until.min(first);
        self.cache().clear();
        match stored {
            Stored::Packed(page) => Some(page),
            Stored::Cold(cold) => {
                cold.thaw().pages().for_each(|page| self.push(Stored::Packed(page.clone())));
                self.pop()
            }
        }
    }

    /// All entries, oldest first, each with the number of its first row.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &(u64, Stored)> {
        self.entries.iter()
    }

    /// Removes the first entry and returns it with the number of its first row.
    pub fn pop_front(&mut self) -> Option<(u64, Stored)> {
        let (first, stored) = self.entries.pop_front()?;
        self.subtract(&stored);
        Some((first, stored))
    }

    /// Drops all rows before `oldest`. Splits a page if necessary.
    pub fn trim(&mut self, oldest: u64) {
        while self.start() < oldest {
            let Some((first, stored)) = self.pop_front() else { break };
            let mut number = first;
            let mut rest = Vec::new();
            for page in stored.pages() {
                let dropped = oldest.saturating_sub(number);
                let kept = number + dropped;
                number += page.len() as u64;
                if dropped == 0 {
                    rest.push((kept, page));
                } else if kept < number {
                    rest.push((kept, Arc::new(page.without_first(dropped as usize))));
                }
            }
            for (first, page) in rest.into_iter().rev() {
                let stored = Stored::Packed(page);
                self.add(&stored);
                self.frozen_until = self.frozen_until.min(first);
                self.entries.push_front((first, stored));
            }
        }
    }

    /// The page that contains row `line`, and the row's index in that page. If the page is frozen, thaws and caches it.
    pub fn find(&self, line: u64) -> Option<(FoundPage<'_>, usize)> {
        let after = self.entries.partition_point(|(first, _)| *first <= line);
        let (first, stored) = self.entries.get(after.checked_sub(1)?)?;
        let row = (line - first) as usize;
        if row >= stored.len() {
            return None;
        }
        match stored {
            Stored::Packed(page) => Some((FoundPage::Here(page), row)),
            Stored::Cold(cold) => {
                let thawed = self.thawed(*first, cold);
                let (page, row) = thawed.find(row)?;
                Some((FoundPage::Thawed(page.clone()), row))
            }
        }
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, VecDeque<(u64, Arc<Thawed>)>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn thawed(&self, first: u64, cold: &Cold) -> Arc<Thawed> {
        let mut cache = self.cache();
        if let Some((_, thawed)) = cache.iter().find(|(at, _)| *at == first) {
            return thawed.clone();
        }
        let thawed = Arc::new(cold.thaw());
        cache.truncate(CACHE_GROUPS - 1);
        cache.push_front((first, thawed.clone()));
        thawed
    }

    /// The oldest pages that should be compressed, if there are enough of them for a group.
    pub fn due(&mut self) -> Option<Compression> {
        let until = self.end.saturating_sub(NEAR_ROWS);
        let mut at = self.entries.partition_point(|(first, _)| *first < self.frozen_until);
        let mut pages: Vec<Arc<Page>> = Vec::new();
        let (mut start, mut size) = (0, 0);
        while let Some((first, stored)) = self.entries.get(at) {
            match stored {
                Stored::Packed(page) if *first + page.len() as u64 <= until => {
                    if pages.is_empty() {
                        start = *first;
                    }
                    size += page.size();
                    pages.push(page.clone());
                    if pages.len() == GROUP_PAGES || size >= GROUP_BYTES {
                        break;
                    }
                }
                Stored::Packed(_) => return None,
                // If a reflow left groups unchanged, a few packed pages between two of them form a smaller group.
                Stored::Cold(_) if !pages.is_empty() => break,
                Stored::Cold(cold) => self.frozen_until = *first + cold.len() as u64,
            }
            at += 1;
        }
        (!pages.is_empty()).then_some(Compression { start, pages, done: None })
    }

    /// Replaces the pages of a finished [`Compression`] with its result, if they are still in the queue.
    pub fn replace(&mut self, compression: Compression) {
        let Compression { start, pages, done: Some(cold) } = compression else { return };
        let at = self.entries.partition_point(|(first, _)| *first < start);
        let same = pages.iter().enumerate().all(|(i, page)| {
            matches!(self.entries.get(at + i), Some((_, Stored::Packed(own))) if Arc::ptr_eq(own, page))
        });
        if !same {
            return;
        }
        self.packed -= pages.iter().map(|page| page.size()).sum::<usize>();
        self.cold += cold.size();
        if self.frozen_until >= start {
            self.frozen_until = start + cold.len() as u64;
        }
        self.entries.drain(at + 1..at + pages.len());
        self.entries[at] = (start, Stored::Cold(cold));
    }

    /// Compresses a group at once if the packed pages exceed [`BACKLOG_BYTES`].
    #[inline]
    pub fn freeze_backlog(&mut self) {
        if self.packed > BACKLOG_BYTES {
            self.freeze_one();
        }
    }

    #[cold]
    fn freeze_one(&mut self) {
        if let Some(mut due) = self.due() {
            due.run();
            self.replace(due);
        }
    }
}

#[cfg(debug_assertions)]
impl History {
    /// Panics if the queue is inconsistent.
    pub fn check(&self) {
        let mut next = self.start();
        let (mut packed, mut cold, mut lines) = (0, 0, 0);
        for (first, stored) in &self.entries {
            assert_eq!(*first, next, "rows are counted on");
            assert!(stored.len() > 0, "no empty entries");
            assert!(*first >= self.frozen_until || stored.is_cold(), "frozen rows are cold");
            next += stored.len() as u64;
            lines += u64::from(stored.wraps().lines);
            *if stored.is_cold() { &mut cold } else { &mut packed } += stored.size();
        }
        assert_eq!(next, self.end);
        assert_eq!((packed, cold), (self.packed, self.cold), "sizes are summed");
        assert_eq!(lines, self.lines, "lines are counted");
        let links: usize = self.entries.iter().map(|(_, stored)| stored.link_bytes()).sum();
        assert_eq!(links, self.link_bytes, "links are counted");
    }
}

/// A page that [`History::find`] has found.
pub(crate) enum FoundPage<'a> {
    /// The page is in the queue.
    Here(&'a Arc<Page>),
    /// The page was decompressed. The caller owns it while it reads the page.
    Thawed(Arc<Page>),
}

impl std::ops::Deref for FoundPage<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        match self {
            Self::Here(page) => page,
            Self::Thawed(page) => page,
        }
    }
}

/// Compression of a part of a terminal's history, which needs no lock. [`crate::Term::compression`] returns it,
/// [`Compression::run`] performs it, and [`crate::Term::compressed`] stores the result.
pub struct Compression {
    /// The number of the first row of `pages`.
    start: u64,
    pages: Vec<Arc<Page>>,
    done: Option<Arc<Cold>>,
}

impl Compression {
    /// Compresses the pages. Takes about 0.2 milliseconds.
    pub fn run(&mut self) {
        self.done = Some(Arc::new(Cold::freeze(&self.pages)));
    }
}
