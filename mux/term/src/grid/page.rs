//! Rows that have left the screen, packed into immutable pages.
//!
//! Owns the packed form. Has no access to screens or cursors. A page never changes, so a reader may clone its `Arc`
//! under the lock and read it without the lock. A row contains its cells up to the last cell that is not empty: one
//! byte per cell if all are narrow Latin-1 characters, otherwise four bytes per cell. Its styles are stored as runs.
//! [`crate::grid::cold`] handles pages that have not been read for a long time.

use std::sync::Arc;

use crate::grid::cell::{ATTRS_SHIFT, CLUSTER, Cell, SHOWN, STYLE_SHIFT};
use crate::grid::link::Link;
use crate::grid::row::RowMeta;
use crate::grid::style::Style;
use crate::grid::tables::{Tables, TablesView};

/// The maximum number of rows in a page, so that one number contains a bit for each row.
pub(crate) const PAGE_ROWS: usize = 64;
/// The maximum number of cells in a page, so that its ids always fit in 16 bits.
const PAGE_CELLS: usize = u16::MAX as usize;

/// The number of rows of `cols` cells that fit in one page.
pub(crate) fn rows_per_page(cols: usize) -> usize {
    (PAGE_CELLS / cols.max(1)).clamp(1, PAGE_ROWS)
}

/// A row of a page: its [`RowMeta`], and the position of its contents. 24 bytes.
#[derive(Clone, Copy)]
pub(crate) struct PackedRow {
    pub revision: u64,
    /// The index in `bytes` or `words` of the row's first cell.
    pub cells: u32,
    /// The index in `runs` of the row's first run. A row without attributes has no runs.
    pub runs: u32,
    pub occ: u16,
    pub run_count: u16,
    pub flags: u16,
    /// Whether the cells are stored in `bytes`. Otherwise they are stored in `words`.
    pub narrow: bool,
}

impl PackedRow {
    #[inline]
    fn new(meta: RowMeta, cells: u32, runs: u32, run_count: u16, narrow: bool) -> Self {
        let RowMeta { revision, occ, flags } = meta;
        Self { revision, cells, runs, occ, run_count, flags, narrow }
    }

    pub fn meta(&self) -> RowMeta {
        RowMeta { revision: self.revision, occ: self.occ, flags: self.flags }
    }
}

/// Adjacent cells with the same attributes: bits 24–31 of the cell, its style and its link.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// The column after the last cell of the run.
    pub end: u16,
    pub flags: u8,
    pub style: u16,
    pub link: u16,
}

/// A page: packed rows of history.
pub(crate) struct Page {
    pub rows: Box<[PackedRow]>,
    pub bytes: Box<[u8]>,
    pub words: Box<[u32]>,
    pub runs: Box<[Run]>,
    pub styles: Box<[Style]>,
    pub links: Box<[Arc<Link>]>,
    pub clusters: Box<[Arc<str>]>,
    /// The length of the longest row, in cells.
    pub longest: u16,
    pub wraps: Wraps,
    /// Whether some cells are pieces of images.
    pub has_tiles: bool,
    /// Whether [`Page::row_stays`] is true for every row.
    pub stays: bool,
    /// The size of the page's links in bytes. Pages may share links.
    pub link_bytes: usize,
}

/// A summary of which rows of some pages continue in the next row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wraps {
    pub any: bool,
    pub all: bool,
    /// Whether the last row continues.
    pub last: bool,
    /// The number of rows that do not continue, which is the number of lines that end in these pages.
    pub lines: u32,
}

impl Wraps {
    /// The summary of no rows.
    const NONE: Self = Self { any: false, all: true, last: false, lines: 0 };

    fn of(rows: &[PackedRow]) -> Self {
        let wrapped = |row: &PackedRow| row.meta().is_wrapped();
        Self {
            any: rows.iter().any(wrapped),
            all: rows.iter().all(wrapped),
            last: rows.last().is_some_and(wrapped),
            lines: rows.iter().filter(|row| !wrapped(row)).count() as u32,
        }
    }

    /// The summary of consecutive pages.
    pub fn of_pages<'a>(pages: impl IntoIterator<Item = &'a Arc<Page>>) -> Self {
        pages.into_iter().fold(Self::NONE, |so_far, page| Self {
            any: so_far.any || page.wraps.any,
            all: so_far.all && page.wraps.all,
            last: page.wraps.last,
            lines: so_far.lines + page.wraps.lines,
        })
    }
}

impl Page {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn meta(&self, row: usize) -> RowMeta {
        self.rows[row].meta()
    }

    /// The row's characters if each is narrow Latin-1 and therefore stored in one byte (0: empty). The row has `occ` of
    /// them.
    pub fn narrow_text(&self, row: usize) -> Option<&[u8]> {
        let row = &self.rows[row];
        let start = row.cells as usize;
        row.narrow.then(|| &self.bytes[start..start + row.occ as usize])
    }

    /// Whether a row looks the same on a wider screen. It must be empty or end in a cell with content; otherwise, a
    /// color may have been filled up to the screen's edge. It must contain no part of a multicell character.
    pub fn row_stays(&self, row: usize) -> bool {
        let row = &self.rows[row];
        if row.meta().has_multicells() {
            return false;
        }
        let Some(last) = (row.cells as usize + row.occ as usize).checked_sub(1) else {
            return true;
        };
        row.occ == 0
            || if row.narrow {
                self.bytes[last] != 0
            } else {
                !Cell(self.words[last].into()).is_blank()
            }
    }

    /// A bit for each row, from the lowest bit on, that is set if the row wraps into the next row.
    pub fn wrapped_rows(&self) -> u64 {
        let bit = |row: usize| u64::from(self.meta(row).is_wrapped()) << row;
        (0..self.len()).fold(0, |bits, row| bits | bit(row))
    }

    /// Whether the row's cells have no ids: they are Latin-1 characters in the default style.
    pub fn is_plain(&self, row: usize) -> bool {
        self.rows[row].narrow && self.rows[row].run_count == 0
    }

    /// The number of bytes of memory that the page uses, without memory that it shares with other pages.
    pub fn size(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.rows)
            + size_of_val(&*self.bytes)
            + size_of_val(&*self.words)
            + size_of_val(&*self.runs)
            + size_of_val(&*self.styles)
            + size_of_val(&*self.links)
            + size_of_val(&*self.clusters)
    }

    pub fn tables(&self) -> TablesView<'_> {
        TablesView { styles: &self.styles, links: &self.links, clusters: &self.clusters }
    }

    /// A page that consists of these parts.
    pub fn new(
        rows: Box<[PackedRow]>,
        bytes: Box<[u8]>,
        words: Box<[u32]>,
        runs: Box<[Run]>,
        styles: Box<[Style]>,
        links: Box<[Arc<Link>]>,
        clusters: Box<[Arc<str>]>,
    ) -> Self {
        let longest = rows.iter().map(|row| row.occ).max().unwrap_or(0);
        let wraps = Wraps::of(&rows);
        // Use no branch per word, so that the compiler can test several words at once.
        let has_tiles = words.chunks(LOOKED_AT_ONCE).any(|words| {
            words.iter().fold(false, |any, &word| any | Cell(word.into()).tile().is_some())
        });
        let link_bytes = links.iter().map(|link| link.bytes()).sum();
        let mut page = Self {
            rows,
            bytes,
            words,
            runs,
            styles,
            links,
            clusters,
            longest,
            wraps,
            has_tiles,
            stays: true,
            link_bytes,
        };
        page.stays = (0..page.len()).all(|row| page.row_stays(row));
        page
    }

    /// A copy of the page without its first `count` rows.
    pub fn without_first(&self, count: usize) -> Self {
        let mut builder = PageBuilder::default();
        (count..self.len()).for_each(|row| builder.push_packed(self, row));
        builder.finish()
    }

    /// A page that consists of one empty row.
    pub fn blank_row() -> Self {
        let mut builder = PageBuilder::default();
        builder.rows.push(PackedRow::new(RowMeta::default(), 0, 0, 0, true));
        builder.finish()
    }

    /// Replaces the contents of `cells` with the stored cells of a row.
    pub fn unpack(&self, row: usize, cells: &mut Vec<Cell>) {
        let row = &self.rows[row];
        let len = row.occ as usize;
        let start = row.cells as usize;
        cells.clear();
        if row.narrow {
            cells.extend(self.bytes[start..start + len].iter().map(|&b| Cell(b as u64)));
        } else {
            cells.extend(self.words[start..start + len].iter().map(|&w| Cell(w as u64)));
        }
        let mut at = 0;
        let first = row.runs as usize;
        for run in &self.runs[first..first + row.run_count as usize] {
            let end = run.end as usize;
            let attrs = (run.flags as u64) << ATTRS_SHIFT
                | (run.style as u64 | (run.link as u64) << 16) << STYLE_SHIFT;
            if attrs != 0 {
                for cell in &mut cells[at..end] {
                    cell.0 |= attrs;
                }
            }
            at = end;
        }
    }
}

/// Builds a page.
///
/// Cells to add refer to the tables of a source, which is a screen or another page. The builder replaces their ids by
/// ids of the new page. Call [`PageBuilder::source`] before adding cells that refer to other tables.
#[derive(Default)]
pub(crate) struct PageBuilder {
    rows: Vec<PackedRow>,
    bytes: Vec<u8>,
    words: Vec<u32>,
    runs: Vec<Run>,
    styles: Vec<Style>,
    links: Vec<Arc<Link>>,
    clusters: Vec<Arc<str>>,
    style_ids: Vec<u16>,
    link_ids: Vec<u16>,
    cluster_ids: Vec<u16>,
}

/// The number of latest entries from earlier sources with which a new entry is compared.
const COMPARED: usize = 16;

/// The number of words whose positions are recorded at once.
const PLACES: usize = 128;

/// The number of words to search before checking whether any of them matched.
const LOOKED_AT_ONCE: usize = 256;

#[inline]
fn rename<T: Clone + PartialEq>(
    ids: &mut Vec<u16>,
    own: &mut Vec<T>,
    source: &[T],
    id: u16,
) -> u16 {
    if id == 0 {
        return 0;
    }
    match ids.get(id as usize) {
        Some(&known) if known != 0 => known,
        _ => rename_new(ids, own, source, id),
    }
}

#[cold]
fn rename_new<T: Clone + PartialEq>(
    ids: &mut Vec<u16>,
    own: &mut Vec<T>,
    source: &[T],
    id: u16,
) -> u16 {
    // No entry has the id 0, so index 0 stores the number of entries from earlier sources.
    let earlier = ids.first().copied().unwrap_or(own.len() as u16);
    if ids.len() <= source.len() {
        ids.resize(source.len() + 1, 0);
        ids[0] = earlier;
    }
    let item = &source[id as usize - 1];
    // An earlier source may have added the same item. Within one source there are no duplicates.
    let others = &own[..earlier as usize];
    let known = others.iter().rev().take(COMPARED).position(|own| own == item);
    let at = known.map_or(own.len(), |from_last| others.len() - 1 - from_last);
    if at == own.len() {
        own.push(item.clone());
    }
    ids[id as usize] = at as u16 + 1;
    at as u16 + 1
}

impl PageBuilder {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Reserves space for this number of rows.
    pub fn reserve(&mut self, rows: usize) {
        self.rows.reserve_exact(rows);
    }

    /// Starts a new source: the cells of the following rows refer to other tables than the rows so far.
    pub fn source(&mut self) {
        self.style_ids.clear();
        self.link_ids.clear();
        self.cluster_ids.clear();
    }

    /// Adds a row like [`PageBuilder::push`], and empties its cells.
    #[inline]
    pub fn take(&mut self, cells: &mut [Cell], meta: RowMeta, tables: &Tables) {
        self.push(cells, meta, tables.view());
        if let [cell] = cells {
            // Empty the cells of a short line here: short lines scroll fastest, and a call would cost more than the
            // write.
            *cell = Cell::EMPTY;
        } else {
            cells.fill(Cell::EMPTY);
        }
    }

    /// Adds a row. Its first `meta.occ` cells are stored. The remaining cells must be empty.
    #[inline]
    pub fn push(&mut self, cells: &[Cell], meta: RowMeta, tables: TablesView<'_>) {
        let cells = &cells[..meta.occ as usize];
        let all = cells.iter().fold(0, |all, cell| all | cell.0);
        let runs = self.runs.len() as u32;
        if all < 0x100 {
            let cells_at = self.bytes.len() as u32;
            self.bytes.extend(cells.iter().map(|cell| cell.0 as u8));
            self.rows.push(PackedRow::new(meta, cells_at, runs, 0, true));
            return;
        }
        self.push_rich(cells, all, meta, tables);
    }

    /// Adds a row with this `text`. `bits` contains the attributes of its cells.
    pub fn push_text(&mut self, text: &[u8], bits: u64, meta: RowMeta, tables: TablesView<'_>) {
        let (start, runs) = (self.bytes.len() as u32, self.runs.len() as u32);
        self.bytes.extend_from_slice(text);
        let styled = bits != 0 && !text.is_empty();
        if styled {
            self.push_run(Cell(bits), text.len(), tables);
        }
        self.rows.push(PackedRow::new(meta, start, runs, styled.into(), true));
    }

    /// Adds a row like [`PageBuilder::push`], if it is not just Latin-1 in the default style. `all` is the union of its
    /// cells' bits.
    fn push_rich(&mut self, cells: &[Cell], all: u64, meta: RowMeta, tables: TablesView<'_>) {
        let narrow = all & SHOWN < 0x100;
        let start = if narrow { self.bytes.len() } else { self.words.len() } as u32;
        let runs = self.runs.len() as u32;
        if narrow {
            self.bytes.extend(cells.iter().map(|cell| cell.0 as u8));
        } else if all & CLUSTER == 0 {
            self.words.extend(cells.iter().map(|cell| (cell.0 & SHOWN) as u32));
        } else {
            self.words.extend(cells.iter().map(|cell| (cell.0 & SHOWN) as u32));
            self.rename_clusters(start as usize, tables.clusters);
        }
        if all >> ATTRS_SHIFT != 0 {
            self.push_runs(cells, tables);
        }
        let run_count = (self.runs.len() - runs as usize) as u16;
        self.rows.push(PackedRow::new(meta, start, runs, run_count, narrow));
    }

    /// Replaces the cluster ids in the words from `start` on by ids of this page.
    fn rename_clusters(&mut self, start: usize, source: &[Arc<str>]) {
        // Record the positions of clusters without a branch per cell: most cells contain no cluster, and clusters are
        // unpredictable.
        let mut places = [0; PLACES];
        for words in self.words[start..].chunks_mut(PLACES) {
            let mut count = 0;
            for (at, word) in words.iter().enumerate() {
                places[count % PLACES] = at as u8;
                count += (*word & CLUSTER as u32 != 0) as usize;
            }
            for &at in &places[..count] {
                let word = &mut words[at as usize];
                let cell = Cell((*word).into());
                let own = rename(&mut self.cluster_ids, &mut self.clusters, source, cell.0 as u16);
                *word = (cell.with_ids(0, 0, Some(own)).0 & SHOWN) as u32;
            }
        }
    }

    fn push_runs(&mut self, cells: &[Cell], tables: TablesView<'_>) {
        let mut at = 0;
        while at < cells.len() {
            let attrs = cells[at].0 >> ATTRS_SHIFT;
            let len = cells[at..].iter().take_while(|cell| cell.0 >> ATTRS_SHIFT == attrs).count();
            let cell = cells[at];
            at += len;
            self.push_run(cell, at, tables);
        }
    }

    /// Adds a run of cells with the attributes of `cell`, up to column `end`.
    #[inline]
    fn push_run(&mut self, cell: Cell, end: usize, tables: TablesView<'_>) {
        let style = rename(&mut self.style_ids, &mut self.styles, tables.styles, cell.style_id());
        let link = rename(&mut self.link_ids, &mut self.links, tables.links, cell.link_id());
        let flags = (cell.0 >> ATTRS_SHIFT) as u8;
        self.runs.push(Run { end: end as u16, flags, style, link });
    }

    /// Adds a row of another page unchanged. The tables of that page must be the current [source](PageBuilder::source).
    pub fn push_packed(&mut self, page: &Page, row: usize) {
        let row = page.rows[row];
        let (start, len) = (row.cells as usize, row.occ as usize);
        let runs = self.runs.len() as u32;
        let cells = if row.narrow { self.bytes.len() } else { self.words.len() } as u32;
        if row.narrow {
            self.bytes.extend_from_slice(&page.bytes[start..start + len]);
        } else {
            let tables = &page.clusters;
            self.words.extend(page.words[start..start + len].iter().map(|&word| {
                let cell = Cell(word.into());
                let Some(id) = cell.cluster_id() else { return word };
                let own = rename(&mut self.cluster_ids, &mut self.clusters, tables, id);
                (cell.with_ids(0, 0, Some(own)).0 & SHOWN) as u32
            }));
        }
        let first = row.runs as usize;
        for run in &page.runs[first..first + row.run_count as usize] {
            let style = rename(&mut self.style_ids, &mut self.styles, &page.styles, run.style);
            let link = rename(&mut self.link_ids, &mut self.links, &page.links, run.link);
            self.runs.push(Run { style, link, ..*run });
        }
        self.rows.push(PackedRow { cells, runs, ..row });
    }

    /// Returns the page with all rows added so far, and empties the builder.
    pub fn finish(&mut self) -> Page {
        self.source();
        let rows = std::mem::take(&mut self.rows).into_boxed_slice();
        fn exact<T: Clone>(items: &mut Vec<T>) -> Box<[T]> {
            // Copy the items to memory of the exact size. The buffer stays for the next page.
            let exact = items.as_slice().into();
            items.clear();
            exact
        }
        let (bytes, words) = (exact(&mut self.bytes), exact(&mut self.words));
        let runs = exact(&mut self.runs);
        let (styles, links) = (exact(&mut self.styles), exact(&mut self.links));
        Page::new(rows, bytes, words, runs, styles, links, exact(&mut self.clusters))
    }
}
