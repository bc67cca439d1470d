//! Operations on rectangles: DECCRA, DECFRA, DECERA, DECSERA, DECCARA, DECRARA and the checksum DECRQCRA.
//!
//! Source: DEC STD 070, "Rectangular area operations", and xterm's behavior if DEC STD 070 leaves a choice. Page
//! numbers are ignored, because there is only one page.

use crate::grid::Scratch;
use crate::grid::cell::{Cell, Content, Width};
use crate::grid::style::{Attrs, Style, Underline};
use crate::params::Params;
use crate::term::screen::block::Block;
use crate::term::{Allow, Term};
use crate::unicode::props;

/// The bits of XTCHECKSUM (xterm ctlseqs). Each selects a deviation from DEC's convention.
mod checksum {
    /// Do not negate the sum.
    pub const POSITIVE: u16 = 1 << 0;
    /// Ignore attributes.
    pub const WITHOUT_ATTRIBUTES: u16 = 1 << 1;
    /// Include trailing blanks.
    pub const WITH_BLANKS: u16 = 1 << 2;
    /// Include cells that were never written. They count as blanks.
    pub const WITH_UNWRITTEN: u16 = 1 << 3;
    /// Use whole code points instead of their low eight bits.
    pub const CODE_POINTS: u16 = 1 << 4;
}

/// The number of parameters that describe the rectangle in DECCARA and DECRARA. Attributes follow.
const RECTANGLE_PARAMS: usize = 4;

/// Applies one attribute parameter of DECCARA or DECRARA to a style.
fn change_attribute(style: &mut Style, attribute: u16, reverse: bool) {
    const ALL: Attrs = Attrs::BOLD.union(Attrs::BLINK).union(Attrs::REVERSE).union(Attrs::HIDDEN);
    let flag = match attribute {
        1 | 22 => Attrs::BOLD,
        5 | 25 => Attrs::BLINK,
        7 | 27 => Attrs::REVERSE,
        8 | 28 => Attrs::HIDDEN,
        0 => ALL,
        4 | 24 => Attrs::empty(),
        _ => return,
    };
    let underline = matches!(attribute, 0 | 4 | 24);
    if reverse {
        if attribute > 8 {
            return;
        }
        style.attrs ^= flag;
        if underline {
            style.underline = match style.underline {
                Underline::None => Underline::Single,
                _ => Underline::None,
            };
        }
        return;
    }
    let on = (1..=8).contains(&attribute);
    style.attrs.set(flag, on);
    if underline {
        style.underline = if on { Underline::Single } else { Underline::None };
    }
}

impl Term {
    /// The rectangle in four parameters, beginning at index `first`: top, left, bottom and right, counted from 1.
    /// Missing parameters mean the page's edges. If DECOM is set, the numbers are relative to region and margins. The
    /// rectangle is clipped. `None` if nothing of it remains.
    pub(crate) fn rectangle(&self, params: &Params, first: usize) -> Option<Block> {
        let (rows, cols) = (self.end_row(), self.end_col());
        let (top, left) = self.corner(params, first);
        let side = |i: usize, offset: usize, all: usize| match params.get(first + i) {
            0 => all,
            end => (end as usize + offset).min(all),
        };
        let bottom = side(2, self.first_row(), rows);
        let right = side(3, self.first_col(), cols);
        (top < bottom && left < right).then_some(Block { top, left, bottom, right })
    }

    /// The corner in two parameters, beginning at index `first`. It may be outside the screen.
    fn corner(&self, params: &Params, first: usize) -> (usize, usize) {
        let top = params.count(first) - 1 + self.first_row();
        let left = params.count(first + 1) - 1 + self.first_col();
        (top, left)
    }

    /// DECCRA. Parameters 0–3 are the source, and 5 and 6 the corner of the target.
    pub(crate) fn copy_rectangle(&mut self, params: &Params) {
        let Some(source) = self.rectangle(params, 0) else { return };
        let (top, left) = self.corner(params, 5);
        if top >= self.end_row() || left >= self.end_col() {
            return;
        }
        self.grid.copy_block(source, top, left, self.seq);
    }

    /// DECERA: fills the rectangle with blanks in the pen's colors. Protected cells are erased too.
    pub(crate) fn erase_rectangle(&mut self, params: &Params) {
        let Some(block) = self.rectangle(params, 0) else { return };
        self.grid.fill_block(block, self.seq, self.pen.blank());
    }

    /// DECFRA: fills the rectangle with the character in parameter 0, in the pen's attributes.
    pub(crate) fn fill_rectangle(&mut self, params: &Params) {
        let Some(block) = self.rectangle(params, 1) else { return };
        let code = params.get(0);
        let shown = match code {
            0x20..=0x7e | 0xa0..=0xff => Some(self.charsets.look_up(code as u8)),
            // Accept characters beyond Latin-1 too, like xterm.
            _ => char::from_u32(code as u32).filter(|c| code >= 0x100 && props(*c).width() == 1),
        };
        let Some(shown) = shown else { return };
        let mut pen = self.pen.clone();
        pen.set_link(None);
        let fill = |grid: &mut _, table| Cell(pen.bits(grid, table) | shown as u64);
        self.grid.fill_block(block, self.seq, fill);
    }

    /// DECSERA: blanks characters that DECSCA does not protect. The cells keep their attributes.
    pub(crate) fn erase_rectangle_selectively(&mut self, params: &Params) {
        let Some(block) = self.rectangle(params, 0) else { return };
        let kept = self.protection == crate::term::screen::edit::Protection::Dec;
        for row in block.top..block.bottom {
            for edge in [block.left, block.right] {
                // If an edge splits a protected wide character, the character stays whole.
                let cells = self.grid.row(row);
                if cells.get(edge).is_some_and(|cell| !(kept && cell.is_protected())) {
                    self.grid.part_wide(row, edge, edge, self.seq);
                }
            }
            for col in block.left..block.right {
                let cell = self.grid.row(row)[col];
                if cell.is_multicell() && !(kept && cell.is_protected()) {
                    self.grid.clear_multicells(row..row + 1, col..col + 1, self.seq);
                }
            }
            let (cells, meta) = self.grid.row_mut(row);
            for cell in &mut cells[block.left..block.right] {
                if !(kept && cell.is_protected()) {
                    *cell = cell.blanked();
                }
            }
            meta.revision = self.seq;
        }
    }

    /// DECSACE. With the value 2, DECCARA and DECRARA change rectangles, otherwise streams of text.
    pub(crate) fn select_change_extent(&mut self, extent: u16) {
        self.conformance.extent = extent;
    }

    /// DECCARA and DECRARA. Parameters from index 4 on are attributes as in SGR, without colors.
    pub(crate) fn change_rectangle(&mut self, params: &Params, reverse: bool) {
        let Some(block) = self.rectangle(params, 0) else { return };
        let exact = self.conformance.extent == 2;
        let values = params.values().get(RECTANGLE_PARAMS..).unwrap_or_default();
        // No attributes mean the same as a single 0.
        let attributes = if values.is_empty() { &[0][..] } else { values };
        // If DECOM is set, a stream continues in the next row at the margins (xterm).
        let (first, last) = (self.first_col(), self.end_col());
        for row in block.top..block.bottom {
            let start = if exact || row == block.top { block.left } else { first };
            let end = if exact || row + 1 == block.bottom { block.right } else { last };
            self.change_row(row, start, end, |style| {
                for attribute in attributes {
                    change_attribute(style, *attribute, reverse);
                }
            });
        }
    }

    /// Changes the style of columns `start..end`, also of cells that were never written (xterm, Windows Terminal).
    fn change_row(&mut self, row: usize, start: usize, end: usize, change: impl Fn(&mut Style)) {
        let slot = self.grid.slot(row);
        let table = self.grid.table_of(slot);
        let mut col = start;
        while col < end {
            let cell = self.grid.slot_cells(slot)[col];
            let same = |other: &&Cell| other.style_id() == cell.style_id();
            let count = self.grid.slot_cells(slot)[col..end].iter().take_while(same).count();
            let mut style = self.grid.tables(table).view().style(cell.style_id());
            change(&mut style);
            let id = self.grid.intern_style(table, &style);
            let (cells, meta) = self.grid.slot_mut(slot);
            for cell in &mut cells[col..col + count] {
                *cell = cell.with_ids(id, cell.link_id(), cell.cluster_id());
            }
            meta.occ = meta.occ.max((col + count) as u16);
            meta.revision = self.seq;
            col += count;
        }
    }

    /// DECRQCRA. Parameter 0 identifies the request, 1 is the page, and 2–5 are the rectangle. Requires
    /// [`Allow::CHECKSUM_REPORTS`], because a program could read the screen by checksums of single cells.
    pub(crate) fn report_checksum(&mut self, params: &Params) {
        if !self.allow.contains(Allow::CHECKSUM_REPORTS) {
            tracing::debug!("DECRQCRA refused");
            return;
        }
        let sum = self.rectangle(params, 2).map_or(0, |block| self.checksum(block));
        self.reply_text(format!("\x1bP{}!~{sum:04X}\x1b\\", params.get(0)));
    }

    /// XTCHECKSUM: selects the convention for DECRQCRA.
    pub(crate) fn select_checksum(&mut self, bits: u16) {
        if self.allow.contains(Allow::CHECKSUM_REPORTS) {
            self.conformance.checksum = bits;
        }
    }

    /// The checksum of a rectangle, in the convention that XTCHECKSUM selected. DEC's convention is the negated sum of
    /// character codes and attribute weights. It omits trailing blanks of a row, except in the row's first cell.
    fn checksum(&self, block: Block) -> u16 {
        let bits = self.conformance.checksum;
        let has = |bit: u16| bits & bit != 0;
        let mut scratch = Scratch::default();
        let (mut total, mut trimmed, mut waiting) = (0u32, 0u32, 0u32);
        let mut first = true;
        for row in block.top..block.bottom {
            let line = self.grid.live_top() + row as u64;
            let Some(view) = self.grid.read(line, &mut scratch) else { continue };
            for col in block.left..block.right {
                let cell = view.cells.get(col).copied().unwrap_or_default();
                let is_written = !cell.is_blank() || cell.is_tail();
                let style = view.tables.style(cell.style_id());
                if !is_written && !has(checksum::WITH_BLANKS | checksum::WITH_UNWRITTEN) {
                    continue;
                }
                let code = match cell.content() {
                    Content::Empty => ' ' as u32,
                    Content::Char(c) => c as u32,
                    Content::Cluster(id) => view
                        .tables
                        .cluster(id as u16)
                        .map_or(0, |text| text.chars().map(|c| c as u32).sum()),
                };
                let code = match code {
                    _ if cell.width() == Width::Tail => continue,
                    code if has(checksum::CODE_POINTS) => code,
                    code => code & 0xff,
                };
                let mut value = code;
                // A printed space does not count as a blank.
                let mut drawn = is_written;
                if !has(checksum::WITHOUT_ATTRIBUTES) {
                    for (is_on, weight) in [
                        (cell.is_protected(), 0x4),
                        (style.attrs.contains(Attrs::HIDDEN), 0x8),
                        (style.underline != Underline::None, 0x10),
                        (style.attrs.contains(Attrs::REVERSE), 0x20),
                        (style.attrs.contains(Attrs::BLINK), 0x40),
                        (style.attrs.contains(Attrs::BOLD), 0x80),
                    ] {
                        value += if is_on { weight } else { 0 };
                        drawn |= is_on;
                    }
                }
                total = total.wrapping_add(value);
                if first || value != ' ' as u32 || drawn {
                    trimmed = trimmed.wrapping_add(value.wrapping_add(waiting));
                    waiting = 0;
                } else if has(checksum::WITH_BLANKS) {
                    waiting = waiting.wrapping_add(value);
                }
                first = has(checksum::WITH_BLANKS);
            }
            if !has(checksum::WITH_BLANKS) {
                waiting = 0;
                first = false;
            }
        }
        let sum = if has(checksum::WITH_BLANKS) { total } else { trimmed };
        let sum = if has(checksum::POSITIVE) { sum } else { sum.wrapping_neg() };
        sum as u16
    }
}
