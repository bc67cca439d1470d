//! History that has not been read for a long time: compressed groups of pages.
//!
//! Owns the compressed form. Each column of a page's data is written in as few bytes as possible. LZ4 then compresses
//! the whole group, so that adjacent pages share repeated data. A group never changes. Thawing it restores its pages
//! exactly. [`crate::grid::history`] decides which pages to freeze, and when.

use std::sync::Arc;

use crate::grid::link::Link;
use crate::grid::page::{PackedRow, Page, Run, Wraps};
use crate::grid::style::{Attrs, Style, Underline};
use crate::{Color, Rgb, TextSize};

/// The number of pages in a group. Larger groups compress better, smaller groups thaw faster (16 pages of 64 rows of
/// text: 50 µs).
pub(crate) const GROUP_PAGES: usize = 16;
/// The maximum size of a group's pages in bytes.
pub(crate) const GROUP_BYTES: usize = 256 << 10;

/// Compressed pages.
pub(crate) struct Cold {
    data: Box<[u8]>,
    /// The length of `data` in bytes after decompression.
    raw: u32,
    pages: u32,
    rows: u32,
    /// Length of the longest row, in cells.
    pub longest: u16,
    pub wraps: Wraps,
    /// For each page: its number of rows, and a bit for each row, from the lowest bit on, that is set if the row wraps.
    /// Empty if no row wraps.
    wrapped: Box<[(u8, u64)]>,
    /// See [`Page::has_tiles`].
    pub has_tiles: bool,
    /// See [`Page::stays`].
    pub stays: bool,
    /// See [`Page::link_bytes`].
    pub link_bytes: usize,
}

impl Cold {
    /// Compresses pages.
    pub fn freeze(pages: &[Arc<Page>]) -> Self {
        let mut out = Vec::with_capacity(pages.iter().map(|page| page.size()).sum());
        pages.iter().for_each(|page| write_page(page, &mut out));
        Self {
            data: lz4_flex::block::compress(&out).into_boxed_slice(),
            raw: out.len() as u32,
            pages: pages.len() as u32,
            rows: pages.iter().map(|page| page.len() as u32).sum(),
            longest: pages.iter().map(|page| page.longest).max().unwrap_or(0),
            wrapped: match Wraps::of_pages(pages).any {
                true => pages.iter().map(|page| (page.len() as u8, page.wrapped_rows())).collect(),
                false => Box::default(),
            },
            wraps: Wraps::of_pages(pages),
            has_tiles: pages.iter().any(|page| page.has_tiles),
            stays: pages.iter().all(|page| page.stays),
            link_bytes: pages.iter().map(|page| page.link_bytes).sum(),
        }
    }

    /// Restores the pages.
    pub fn thaw(&self) -> Thawed {
        let data = lz4_flex::block::decompress(&self.data, self.raw as usize).unwrap_or_default();
        let mut reader = Reader(&data);
        let mut pages: Vec<Arc<Page>> = Vec::with_capacity(self.pages as usize);
        for _ in 0..self.pages {
            let Some(page) = read_page(&mut reader) else { break };
            pages.push(Arc::new(page));
        }
        if Thawed::rows(&pages) != self.rows as usize {
            // The data was written by this file, so invalid data is a bug in this file. Return the right number of
            // rows, without their contents.
            debug_assert!(false, "a frozen group does not thaw");
            tracing::error!(rows = self.rows, "history is unreadable here");
            pages = (0..self.rows).map(|_| Arc::new(Page::blank_row())).collect();
        }
        Thawed::new(pages)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// The number of bytes of the data before it was compressed.
    pub fn raw_size(&self) -> usize {
        self.raw as usize
    }

    /// For each row, whether it wraps into the next row. Empty if no row wraps.
    pub fn wrapped_rows(&self) -> impl Iterator<Item = bool> {
        self.wrapped.iter().flat_map(|&(rows, bits)| (0..rows).map(move |row| bits >> row & 1 != 0))
    }

    /// The number of bytes of memory that the group uses.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.data.len() + size_of_val(&*self.wrapped)
    }
}

/// The restored pages of a group.
#[derive(Clone)]
pub(crate) struct Thawed {
    /// The pages, each with the number of its first row in the group.
    pages: Vec<(usize, Arc<Page>)>,
}

impl Thawed {
    fn new(pages: Vec<Arc<Page>>) -> Self {
        let mut first = 0;
        let number = |page: Arc<Page>| {
            let at = first;
            first += page.len();
            (at, page)
        };
        Self { pages: pages.into_iter().map(number).collect() }
    }

    fn rows(pages: &[Arc<Page>]) -> usize {
        pages.iter().map(|page| page.len()).sum()
    }

    /// The pages, in order.
    pub fn pages(&self) -> impl DoubleEndedIterator<Item = &Arc<Page>> {
        self.pages.iter().map(|(_, page)| page)
    }

    /// The page that contains row `row` of the group, and the row's index in that page.
    pub fn find(&self, row: usize) -> Option<(&Arc<Page>, usize)> {
        let after = self.pages.partition_point(|(first, _)| *first <= row);
        let (first, page) = self.pages.get(after.checked_sub(1)?)?;
        Some((page, row - first))
    }
}

/// Writes a page column by column, so that similar data is adjacent.
fn write_page(page: &Page, out: &mut Vec<u8>) {
    number(out, page.rows.len() as u64);
    for row in &page.rows {
        number(out, (row.occ as u64) << 1 | row.narrow as u64);
    }
    out.extend(page.rows.iter().flat_map(|row| row.flags.to_le_bytes()));
    for row in &page.rows {
        number(out, row.run_count as u64);
    }
    let mut last = 0;
    for row in &page.rows {
        let delta = row.revision.wrapping_sub(last) as i64;
        number(out, (delta << 1 ^ delta >> 63) as u64);
        last = row.revision;
    }
    out.extend_from_slice(&page.bytes);
    page.words.iter().for_each(|&word| write_word(out, word));
    for row in &page.rows {
        let first = row.runs as usize;
        let mut at = 0;
        for run in &page.runs[first..first + row.run_count as usize] {
            number(out, (run.end - at) as u64);
            at = run.end;
        }
    }
    out.extend(page.runs.iter().map(|run| run.flags));
    page.runs.iter().for_each(|run| number(out, run.style as u64));
    page.runs.iter().for_each(|run| number(out, run.link as u64));
    number(out, page.styles.len() as u64);
    page.styles.iter().for_each(|style| write_style(out, style));
    number(out, page.links.len() as u64);
    for link in &page.links {
        text(out, &link.id);
        text(out, &link.uri);
    }
    number(out, page.clusters.len() as u64);
    page.clusters.iter().for_each(|cluster| text(out, cluster));
}

fn read_page(from: &mut Reader<'_>) -> Option<Page> {
    let count = from.count()?;
    let mut rows = Vec::with_capacity(count);
    let (mut bytes, mut words, mut runs) = (0, 0, 0);
    for _ in 0..count {
        let value = from.number()?;
        let (occ, narrow) = (u16::try_from(value >> 1).ok()?, value & 1 == 1);
        let start = if narrow { &mut bytes } else { &mut words };
        rows.push(PackedRow {
            revision: 0,
            cells: *start,
            runs: 0,
            occ,
            run_count: 0,
            flags: 0,
            narrow,
        });
        *start += occ as u32;
    }
    for (row, flags) in rows.iter_mut().zip(from.take(2 * count)?.as_chunks().0) {
        row.flags = u16::from_le_bytes(*flags);
    }
    for row in &mut rows {
        row.runs = runs;
        row.run_count = from.small()?;
        runs += row.run_count as u32;
    }
    let mut revision = 0u64;
    for row in &mut rows {
        let value = from.number()?;
        let delta = (value >> 1) as i64 ^ -((value & 1) as i64);
        revision = revision.wrapping_add(delta as u64);
        row.revision = revision;
    }
    let bytes = from.take(bytes as usize)?.into();
    let words = (0..words).map(|_| from.word()).collect::<Option<_>>()?;
    let mut page_runs = Vec::with_capacity(runs as usize);
    for row in &rows {
        let mut end = 0u16;
        for _ in 0..row.run_count {
            end = end.checked_add(from.small()?)?;
            page_runs.push(Run { end, flags: 0, style: 0, link: 0 });
        }
    }
    for (run, flags) in page_runs.iter_mut().zip(from.take(runs as usize)?) {
        run.flags = *flags;
    }
    for run in &mut page_runs {
        run.style = from.small()?;
    }
    for run in &mut page_runs {
        run.link = from.small()?;
    }
    let styles = (0..from.count()?).map(|_| from.style()).collect::<Option<_>>()?;
    let links = (0..from.count()?)
        .map(|_| Some(Arc::new(Link { id: from.text()?.to_owned(), uri: from.text()?.to_owned() })))
        .collect::<Option<_>>()?;
    let clusters = (0..from.count()?).map(|_| from.text().map(Arc::from)).collect::<Option<_>>()?;
    Some(Page::new(rows.into(), bytes, words, page_runs.into(), styles, links, clusters))
}

/// Writes a number with seven bits per byte, the lowest bits first.
#[inline]
fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// The second half of a wide character. It is the most frequent content that is not ASCII.
const TAIL_WORD: u32 = crate::grid::cell::TAIL as u32;
/// The byte that is written for [`TAIL_WORD`].
const TAIL_BYTE: u8 = 0x80;
/// The byte that is written before the three bytes of any other content.
const OTHER_BYTE: u8 = 0x81;

/// Writes a cell's content, cluster bit and width (24 bits): one byte for ASCII or a tail, four bytes otherwise.
fn write_word(out: &mut Vec<u8>, word: u32) {
    match word {
        0..=0x7f => out.push(word as u8),
        TAIL_WORD => out.push(TAIL_BYTE),
        _ => out.extend([OTHER_BYTE, word as u8, (word >> 8) as u8, (word >> 16) as u8]),
    }
}

/// Writes a color in four bytes.
fn write_color(out: &mut Vec<u8>, color: Color) {
    out.extend(match color {
        Color::Default => [0; 4],
        Color::Indexed(index) => [1, index, 0, 0],
        Color::Rgb(Rgb { r, g, b }) => [2, r, g, b],
    });
}

fn write_style(out: &mut Vec<u8>, style: &Style) {
    write_color(out, style.foreground);
    write_color(out, style.background);
    write_color(out, style.underline_color);
    number(out, style.attrs.bits() as u64);
    out.push(style.underline as u8);
    number(out, style.size.bits().into());
}

/// Reads the format that this file writes. Its methods return `None` if the data is truncated or invalid.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u16> {
        self.number()?.try_into().ok()
    }

    /// Reads a number of items, each of which is at least one byte long.
    fn count(&mut self) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.0.len()).then_some(count)
    }

    fn word(&mut self) -> Option<u32> {
        Some(match self.byte()? {
            TAIL_BYTE => TAIL_WORD,
            OTHER_BYTE => {
                let bytes = self.take(3)?;
                u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])
            }
            ascii => ascii.into(),
        })
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn color(&mut self) -> Option<Color> {
        Some(match *self.take(4)? {
            [1, index, ..] => Color::Indexed(index),
            [2, r, g, b] => Color::Rgb(Rgb { r, g, b }),
            _ => Color::Default,
        })
    }

    fn style(&mut self) -> Option<Style> {
        Some(Style {
            foreground: self.color()?,
            background: self.color()?,
            underline_color: self.color()?,
            attrs: Attrs::from_bits_retain(self.small()?),
            underline: match self.byte()? {
                1 => Underline::Single,
                2 => Underline::Double,
                3 => Underline::Curly,
                4 => Underline::Dotted,
                5 => Underline::Dashed,
                _ => Underline::None,
            },
            size: TextSize::from_bits(self.number()? as u32),
        })
    }
}
