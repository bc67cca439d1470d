//! Tables of values that many cells share: styles, links and clusters, each with a 16-bit id.
//!
//! Owns the interning of values. Has no access to rows. Id 0 means "none" (default style, no link). A table never frees
//! a single entry. If a table is full, its grid sweeps it: it builds a new table from the ids that are still in use.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::grid::cell::{Cell, LINK_SHIFT, STYLE_SHIFT};
use crate::grid::link::Link;
use crate::grid::style::Style;

/// The initial number of entries at which the grid sweeps a table.
const FIRST_LIMIT: usize = 8192;
/// The minimum number of entries for which a sweep is worthwhile when rows leave the screen for history.
const TIDY_FROM: usize = 4096;
/// The maximum number of entries, because ids have 16 bits and 0 is reserved.
const MAX_ENTRIES: usize = u16::MAX as usize;

/// Values and their ids. The first value has the id 1, the second the id 2, and so on.
pub(crate) struct Interner<T> {
    items: Vec<T>,
    /// The ids by hash, with open addressing. 0 marks a free slot. The length is a power of two and at least four times
    /// that of `items`.
    index: Vec<u16>,
    limit: usize,
}

fn hash<Q: Hash + ?Sized>(value: &Q) -> usize {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ hash >> 32) as usize
}

impl<T: Clone + Eq + Hash> Interner<T> {
    fn new() -> Self {
        Self { items: Vec::new(), index: Vec::new(), limit: FIRST_LIMIT }
    }

    /// The index of the slot that contains the id of `value`, or of the free slot where it belongs.
    #[inline]
    fn probe<Q: Eq + Hash + ?Sized>(&self, value: &Q) -> usize
    where
        T: Borrow<Q>,
    {
        let mask = self.index.len() - 1;
        let mut at = hash(value) & mask;
        loop {
            match self.index[at] {
                0 => return at,
                id if self.items[id as usize - 1].borrow() == value => return at,
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// The id of `value`, if the table contains it.
    #[inline]
    pub fn get<Q: Eq + Hash + ?Sized>(&self, value: &Q) -> Option<u16>
    where
        T: Borrow<Q>,
    {
        if self.items.is_empty() {
            return None;
        }
        Some(self.index[self.probe(value)]).filter(|id| *id != 0)
    }

    /// The id of `value`. Adds `value` if necessary. `None` if the table is full and must be swept.
    #[inline]
    pub fn intern(&mut self, value: &T) -> Option<u16> {
        if self.index.len() < 4 * (self.items.len() + 1) {
            self.grow();
        }
        let at = self.probe(value);
        let known = self.index[at];
        if known != 0 {
            return Some(known);
        }
        if self.items.len() >= self.limit {
            return None;
        }
        self.items.push(value.clone());
        let id = self.items.len() as u16;
        self.index[at] = id;
        Some(id)
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.index.len() * 2).max(64);
        self.index.clear();
        self.index.resize(len, 0);
        for i in 0..self.items.len() {
            let at = self.probe(&self.items[i]);
            self.index[at] = i as u16 + 1;
        }
    }

    /// The values, in the order of their ids.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Whether a sweep would be worthwhile.
    pub fn is_untidy(&self) -> bool {
        self.items.len() >= TIDY_FROM
    }

    /// The id of `value`, even if the table exceeds its limit. 0 if there are no ids left.
    pub fn intern_unbounded(&mut self, value: &T) -> u16 {
        self.limit = MAX_ENTRIES;
        self.intern(value).unwrap_or(0)
    }

    /// Starts a sweep by emptying the table. [`Sweeper::keep`] adds the values that are in use again.
    pub fn sweeper(&mut self) -> Sweeper<T> {
        // Reserve the memory that a table usually needs after a sweep.
        let room = Vec::with_capacity(self.items.len() / 2);
        let old = std::mem::replace(&mut self.items, room);
        self.index.fill(0);
        self.limit = MAX_ENTRIES;
        Sweeper { remap: vec![0; old.len() + 1], old }
    }

    /// Ends a sweep. The next sweep is due when the table has twice as many entries.
    pub fn swept(&mut self) {
        self.limit = (self.items.len() * 2).clamp(FIRST_LIMIT, MAX_ENTRIES);
    }
}

/// An old table that is being replaced by a new one with only the values in use.
pub(crate) struct Sweeper<T> {
    old: Vec<T>,
    remap: Vec<u16>,
}

impl<T: Clone + Eq + Hash> Sweeper<T> {
    /// The new id of the value with the id `old`.
    #[inline]
    pub fn keep(&mut self, table: &mut Interner<T>, old: u16) -> u16 {
        if old == 0 {
            return 0;
        }
        let new = self.remap[old as usize];
        if new != 0 {
            return new;
        }
        let new = table.intern(&self.old[old as usize - 1]).unwrap_or(0);
        self.remap[old as usize] = new;
        new
    }
}

/// The three tables of one page.
pub(crate) struct Tables {
    pub styles: Interner<Style>,
    pub links: Interner<Arc<Link>>,
    pub clusters: Interner<Arc<str>>,
    /// The size of the links in bytes.
    link_bytes: usize,
}

impl Tables {
    pub fn new() -> Self {
        Self {
            styles: Interner::new(),
            links: Interner::new(),
            clusters: Interner::new(),
            link_bytes: 0,
        }
    }

    /// The size of the links in bytes, when they were last [counted](Tables::count_links).
    pub fn link_bytes(&self) -> usize {
        self.link_bytes
    }

    /// Counts the bytes of the links again, from the link with index `first` on. Must be called after each change to
    /// the links of a screen.
    pub fn count_links(&mut self, first: usize) {
        let bytes: usize = self.links.items()[first..].iter().map(|link| link.bytes()).sum();
        self.link_bytes = bytes + if first == 0 { 0 } else { self.link_bytes };
    }

    /// Whether the tables are so large that they should be replaced when their old ids are no longer needed.
    pub fn are_untidy(&self) -> bool {
        self.styles.is_untidy() || self.links.is_untidy() || self.clusters.is_untidy()
    }

    pub fn view(&self) -> TablesView<'_> {
        TablesView {
            styles: self.styles.items(),
            links: self.links.items(),
            clusters: self.clusters.items(),
        }
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new()
    }
}

/// One of the three kinds of ids in a cell, and its table.
pub(crate) trait Id {
    type Item: Clone + Eq + Hash;
    fn part(tables: &mut Tables) -> &mut Interner<Self::Item>;
    /// The id in a cell. 0 if the cell has none.
    fn of(cell: Cell) -> u16;
    /// The cell with another id. `id` is 0 if the new table has no room for the value.
    fn with(cell: Cell, id: u16) -> Cell;
}

/// The id of a style.
pub(crate) struct StyleId;
/// The id of a link.
pub(crate) struct LinkId;
/// The id of a cluster.
pub(crate) struct ClusterId;

impl Id for StyleId {
    type Item = Style;

    fn part(tables: &mut Tables) -> &mut Interner<Style> {
        &mut tables.styles
    }

    fn of(cell: Cell) -> u16 {
        cell.style_id()
    }

    fn with(cell: Cell, id: u16) -> Cell {
        Cell(cell.0 & !(0xffff << STYLE_SHIFT) | (id as u64) << STYLE_SHIFT)
    }
}

impl Id for LinkId {
    type Item = Arc<Link>;

    fn part(tables: &mut Tables) -> &mut Interner<Arc<Link>> {
        &mut tables.links
    }

    fn of(cell: Cell) -> u16 {
        cell.link_id()
    }

    fn with(cell: Cell, id: u16) -> Cell {
        Cell(cell.0 & !(0xffff << LINK_SHIFT) | (id as u64) << LINK_SHIFT)
    }
}

impl Id for ClusterId {
    type Item = Arc<str>;

    fn part(tables: &mut Tables) -> &mut Interner<Arc<str>> {
        &mut tables.clusters
    }

    fn of(cell: Cell) -> u16 {
        cell.cluster_id().unwrap_or(0)
    }

    fn with(cell: Cell, id: u16) -> Cell {
        cell.with_ids(cell.style_id(), cell.link_id(), Some(id))
    }
}

/// Read access to the tables of a page being built, or of a page in history.
#[derive(Clone, Copy)]
pub(crate) struct TablesView<'a> {
    pub styles: &'a [Style],
    pub links: &'a [Arc<Link>],
    pub clusters: &'a [Arc<str>],
}

impl<'a> TablesView<'a> {
    pub fn style(&self, id: u16) -> Style {
        self.styles.get((id as usize).wrapping_sub(1)).copied().unwrap_or_default()
    }

    pub fn link(&self, id: u16) -> Option<&'a Arc<Link>> {
        self.links.get((id as usize).wrapping_sub(1))
    }

    pub fn cluster(&self, id: u16) -> Option<&'a Arc<str>> {
        self.clusters.get((id as usize).wrapping_sub(1))
    }
}
