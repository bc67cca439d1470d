//! Tables of what many cells share: styles, links and clusters, each named by a 16-bit id.
//!
//! Owns the interning; knows nothing of rows. Id 0 means "none" (default style, no link). A table never frees one
//! entry: when it is full its grid sweeps it, that is, builds a new one from the ids still in use.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::snapshot::Link;
use crate::style::Style;

/// Entries a table may hold before its grid sweeps it, at first.
const FIRST_LIMIT: usize = 8192;
/// Ids are 16 bits and 0 is taken.
const MAX_ENTRIES: usize = u16::MAX as usize;

/// Values named by ids 1, 2, 3 …
pub(crate) struct Interner<T> {
    items: Vec<T>,
    index: FxHashMap<T, u16>,
    /// The value asked for last, since neighbours ask for the same one.
    last: u16,
    limit: usize,
}

impl<T: Clone + Eq + Hash> Interner<T> {
    fn new() -> Self {
        Self { items: Vec::new(), index: FxHashMap::default(), last: 0, limit: FIRST_LIMIT }
    }

    /// The id of `value`, new or known; `None` when the table is full and must be swept.
    pub fn intern(&mut self, value: &T) -> Option<u16> {
        if self.last != 0 && self.items[self.last as usize - 1] == *value {
            return Some(self.last);
        }
        let id = match self.index.get(value) {
            Some(&id) => id,
            None => {
                if self.items.len() >= self.limit {
                    return None;
                }
                self.items.push(value.clone());
                let id = self.items.len() as u16;
                self.index.insert(value.clone(), id);
                id
            }
        };
        self.last = id;
        Some(id)
    }

    /// The values, id 1 first.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The id of `value` whatever the limit; 0 when there are no more ids.
    pub fn intern_unbounded(&mut self, value: &T) -> u16 {
        self.limit = MAX_ENTRIES;
        self.intern(value).unwrap_or(0)
    }

    /// Begins a sweep: the table is empty, and takes back what [`Sweeper::keep`] is called with.
    pub fn sweeper(&mut self) -> Sweeper<T> {
        let old = std::mem::take(&mut self.items);
        self.index.clear();
        self.last = 0;
        Sweeper { remap: vec![0; old.len() + 1], old }
    }

    /// Ends a sweep: the next one comes when the table has doubled.
    pub fn swept(&mut self) {
        self.limit = (self.items.len() * 2).clamp(FIRST_LIMIT, MAX_ENTRIES);
    }
}

/// An old table being replaced by a new one that holds only what is in use.
pub(crate) struct Sweeper<T> {
    old: Vec<T>,
    remap: Vec<u16>,
}

impl<T: Clone + Eq + Hash> Sweeper<T> {
    /// The new id of `old`.
    pub fn keep(&mut self, table: &mut Interner<T>, old: u16) -> u16 {
        if old == 0 {
            return 0;
        }
        let new = self.remap[old as usize];
        if new != 0 {
            return new;
        }
        let value = self.old[old as usize - 1].clone();
        table.items.push(value.clone());
        let new = table.items.len() as u16;
        table.index.insert(value, new);
        self.remap[old as usize] = new;
        new
    }
}

/// The three tables of one page.
pub(crate) struct Tables {
    pub styles: Interner<Style>,
    pub links: Interner<Arc<Link>>,
    pub clusters: Interner<Arc<str>>,
}

impl Tables {
    pub fn new() -> Self {
        Self { styles: Interner::new(), links: Interner::new(), clusters: Interner::new() }
    }

    pub fn view(&self) -> TablesView<'_> {
        TablesView {
            styles: self.styles.items(),
            links: self.links.items(),
            clusters: self.clusters.items(),
        }
    }
}

/// Tables to read, of a page being written or of one in history.
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
