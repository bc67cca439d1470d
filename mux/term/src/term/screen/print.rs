//! Prints characters into cells.
//!
//! Text arrives in runs, so that modes are checked once per run. Text that needs more checks (joining a cluster, insert
//! mode, character sets) is printed one character at a time.

use crate::grid::cell::{CLUSTER, Cell, HEAD, SHOWN, TAIL, WIDE};
use crate::grid::row::{SHORT, WRAPPED};
use crate::grid::{part_wide, write_ascii};
use crate::term::Term;
use crate::unicode::cluster::Joined;
use crate::unicode::{Class, Props, is_ideograph, may_join, props, props_of, stops};
use crate::work;
use crate::{Color, Modes};

/// Whether the next character may join this cell's cluster. This quick test rules out most cells: nothing joins a
/// character below U+0600, so the test ends at a space, a letter or an empty cell before the cursor.
#[inline]
fn may_join_next(cell: Cell) -> bool {
    cell.0 & (SHOWN & !WIDE) >= 0x600
}

/// The range of C1 controls in Unicode.
const C1_FIRST: char = '\u{80}';
const C1_LAST: char = '\u{9f}';

/// The code point of a UTF-8 character. `bytes` are its bytes, without the bits that encode the length.
#[inline(always)]
fn scalar(bytes: [u8; 4]) -> u32 {
    let [a, b, c, d] = bytes.map(|byte| byte as u32 & 0x3f);
    a << 18 | b << 12 | c << 6 | d
}

/// How to write characters that each begin a cell.
struct Heads {
    /// The bits of the characters' cells, without the character itself.
    bits: u64,
    /// The classes of characters that may join, or need the slow path, after each class. See [`stops`].
    stops: &'static [u16; 16],
    ambiguous_wide: bool,
}

/// The result of [`Heads::write`].
struct Written {
    columns: usize,
    bytes: usize,
    /// The class of the last character.
    class: Class,
}

impl Heads {
    /// Writes characters from the start of `bytes` to `cells`. Stops at the end of `cells`, at a character that joins
    /// the one before it (`before` is the class before the first), or when only `beyond` bytes remain. Also stops when
    /// fewer than four bytes remain, so that one read covers a character of any length.
    #[inline]
    fn write(&self, cells: &mut [Cell], bytes: &[u8], beyond: usize, before: Class) -> Written {
        let (mut col, mut left) = (0, bytes);
        if before == Class::Prepend {
            return Written { columns: 0, bytes: 0, class: before };
        }
        let mut before = Props::of(before);
        let next = |left: &[u8]| left.first_chunk().copied().filter(|_| left.len() > beyond);
        'text: while let Some([a, b, c, d]) = next(left) {
            if a < 0x80 {
                let Some(cell) = cells.get_mut(col) else { break };
                *cell = Cell(self.bits | a as u64);
                col += 1;
                left = &left[1..];
                before = Props::NARROW;
                continue;
            }
            let (code, len) = match a {
                ..0xe0 => (scalar([0, 0, a & 0x1f, b]), 2),
                0xf0.. => (scalar([a & 7, b, c, d]), 4),
                _ => {
                    let (mut code, mut ahead) = (scalar([0, a & 0xf, b, c]), d);
                    while is_ideograph(code)
                        && let Some([cell, tail]) = cells.get_mut(col..col + 2)
                    {
                        *cell = Cell(self.bits | code as u64 | WIDE);
                        *tail = Cell(self.bits | TAIL);
                        col += 2;
                        left = &left[3..];
                        before = Props::WIDE;
                        let Some([a, b, c, d]) = next(left) else { break 'text };
                        if ahead >> 4 != 14 {
                            continue 'text;
                        }
                        (code, ahead) = (scalar([0, a & 0xf, b, c]), d);
                    }
                    (code, 3)
                }
            };
            let props = props_of(code).widened(self.ambiguous_wide);
            let width = props.width();
            if width == 0 || props.is_stopped(self.stops, before) {
                break;
            }
            let bits = self.bits | code as u64;
            let Some(place) = cells.get_mut(col..col + width) else { break };
            // Write the second half without a branch for the width: for a narrow character, the next line overwrites
            // it.
            place[width - 1] = Cell(self.bits | TAIL);
            place[0] = Cell(bits | if width == 2 { WIDE } else { 0 });
            col += width;
            left = &left[len..];
            before = props;
            if before.class() == Class::Prepend {
                break;
            }
        }
        let bytes = bytes.len() - left.len();
        work::add(bytes);
        Written { columns: col, bytes, class: before.class() }
    }
}

impl Term {
    /// Prints the first `len` of `bytes`, all of which must be 0x20–0x7e. Further bytes are not printed, but make this
    /// faster.
    #[inline]
    pub(crate) fn print_ascii(&mut self, bytes: &[u8], len: usize) {
        let text = &bytes[..len];
        let (col, end) = (self.cursor.col, self.cursor.col + text.len());
        let slot = self.grid.slot(self.cursor.row);
        if end >= self.right
            || self.cursor.wrap_pending
            || !self.prints_plainly()
            || text.is_empty()
            || self.grid.slot_meta(slot).needs_care()
        {
            return self.print_ascii_carefully(text);
        }
        let table = self.grid.table_of(slot);
        let bits = self.pen.bits(&mut self.grid, table);
        let (cells, meta) = self.grid.slot_mut(slot);
        if col > 0 && may_join_next(cells[col - 1]) {
            return self.print_ascii_carefully(text);
        }
        if cells[end].is_tail() {
            cells[end] = cells[end].blanked();
        }
        if col > 0 && cells[col].is_tail() {
            cells[col - 1] = cells[col - 1].blanked();
        }
        work::add(text.len());
        write_ascii(&mut cells[col..], bytes, len, bits);
        meta.revision = self.seq;
        meta.occ = meta.occ.max(end as u16);
        self.cursor.col = end;
        self.printed_to = self.cursor.key();
        self.last_printed = text[text.len() - 1] as char;
    }

    /// Prints the whole rows of text at the start of `bytes` (printable ASCII and CR LF) that only scroll through the
    /// screen's last row. Returns their length. Checks everything that printing depends on once for all rows.
    pub(crate) fn print_rows(&mut self, bytes: &[u8]) -> usize {
        let rows = self.grid.rows();
        let whole = self.top == 0 && self.bottom == rows && self.scrolls_whole_rows();
        let last_row = self.cursor.row + 1 == rows && whole;
        let plain = self.prints_plainly() && self.pen.style().background == Color::Default;
        if !last_row || !plain || self.cursor.col != 0 {
            return 0;
        }
        let meta = self.grid.meta(rows - 1);
        if meta.occ != 0 || meta.flags != 0 {
            return 0;
        }
        let wraps = self.modes.contains(Modes::AUTO_WRAP);
        self.grid.append(bytes, wraps, self.seq, |grid, table| self.pen.bits(grid, table))
    }

    /// Like [`Term::print_ascii`], but works at any cursor position and in any mode.
    fn print_ascii_carefully(&mut self, text: &[u8]) {
        if !self.prints_plainly() {
            for &byte in text {
                self.print_char(byte as char);
            }
            return;
        }
        let mut rest = text;
        if self.may_join_ascii()
            && let Some((&first, others)) = text.split_first()
        {
            self.print_char(first as char);
            rest = others;
        }
        let Some(&last) = rest.last() else { return };
        while !rest.is_empty() {
            if self.cursor.wrap_pending {
                if self.modes.contains(Modes::AUTO_WRAP) {
                    self.wrap();
                    rest = &rest[self.print_rows(rest)..];
                } else {
                    self.cursor.wrap_pending = false;
                    if self.cursor.col + 1 == self.line_end(self.cursor.col) {
                        // Every further character overwrites the last column.
                        rest = &rest[rest.len() - 1..];
                    }
                }
            }
            let slot = self.grid.slot(self.cursor.row);
            if self.grid.slot_meta(slot).has_multicells()
                && let Some((&first, others)) = rest.split_first()
            {
                self.print_char(first as char);
                rest = others;
                continue;
            }
            let col = self.cursor.col;
            let stop = self.line_end(col);
            let (now, later) = rest.split_at(rest.len().min(stop - col));
            let table = self.grid.table_of(slot);
            let bits = self.pen.bits(&mut self.grid, table);
            let (cells, meta) = self.grid.slot_mut(slot);
            let end = col + now.len();
            part_wide(cells, col, end);
            work::add(now.len());
            write_ascii(&mut cells[col..], rest, now.len(), bits);
            meta.revision = self.seq;
            meta.occ = meta.occ.max(end as u16);
            if end == stop {
                meta.flags &= !WRAPPED;
            }
            self.advance_to(end, stop);
            rest = later;
        }
        self.last_printed = last as char;
    }

    /// Prints text without C0 controls and DEL, up to the first C1 control. Returns the remaining text, which begins
    /// with that control.
    pub(crate) fn print_run<'a>(&mut self, text: &'a str) -> &'a str {
        self.print_run_of(text.as_bytes(), text)
    }

    /// Like `Term::print_run`, for a text that is a prefix of `bytes`. Further bytes are not printed, but make this
    /// faster.
    pub(crate) fn print_run_of<'a>(&mut self, bytes: &[u8], text: &'a str) -> &'a str {
        let plainly = self.prints_plainly();
        let mut rest = text;
        loop {
            if plainly {
                rest = self.print_fast(&bytes[text.len() - rest.len()..], rest);
            }
            let mut chars = rest.chars();
            match chars.next() {
                None | Some(C1_FIRST..=C1_LAST) => return rest,
                Some(c) => self.print_char(c),
            }
            rest = chars.as_str();
        }
    }

    /// Prints characters into the cursor's row, as long as each begins a new cell or joins a cell that was begun here.
    /// Returns the remaining text. `text` is a prefix of `bytes`.
    fn print_fast<'a>(&mut self, bytes: &[u8], text: &'a str) -> &'a str {
        let slot = self.grid.slot(self.cursor.row);
        if self.cursor.wrap_pending || self.grid.slot_meta(slot).has_multicells() {
            return text;
        }
        let start = self.cursor.col;
        let cols = self.line_end(start);
        let graphemes = self.modes.contains(Modes::GRAPHEMES);
        let ambiguous_wide = self.ambiguous_wide;
        let mut before = Class::Other;
        if start > 0 && may_join_next(self.grid.slot_cells(slot)[start - 1]) {
            before = self.class_before();
        }
        let table = self.grid.table_of(slot);
        let bits = self.pen.bits(&mut self.grid, table);
        let (mut cells, _) = self.grid.slot_mut(slot);
        let cuts = cells[start].is_tail();
        let mut col = start;
        let mut rest = text;
        // The cell that was printed last, and the text from that cell's first character on.
        let (mut head, mut head_rest) = (start, text);
        // The column after the last cell that was changed. If a cluster becomes narrow, it no longer uses its second
        // cell.
        let mut reach = start;
        let heads = Heads { bits, stops: stops(graphemes), ambiguous_wide };
        loop {
            let left = &bytes[text.len() - rest.len()..];
            let done = heads.write(&mut cells[col..cols], left, left.len() - rest.len(), before);
            if let Some((at, _)) = rest[..done.bytes].char_indices().next_back() {
                col += done.columns;
                head = col - 1 - cells[col - 1].is_tail() as usize;
                head_rest = &rest[at..];
                rest = &rest[done.bytes..];
                before = done.class;
            }
            // The next character joins, does not fit in the line, or is the last one of the text.
            let mut chars = rest.chars();
            let Some(c) = chars.next() else { break };
            work::add(1);
            let props = props(c).widened(ambiguous_wide);
            let (class, mut width) = (props.class(), props.width());
            // C1 controls end the run, and a character that joins a cell of earlier text takes the slow path.
            if (C1_FIRST..=C1_LAST).contains(&c) {
                break;
            }
            if width == 0 || graphemes && may_join(before, class) {
                if !graphemes || col == start {
                    break;
                }
                let known = head_rest.len() - rest.len();
                let so_far = Joined { end: known, columns: col - head, last: before };
                let joined = self.join_ahead(slot, head, head_rest, so_far);
                (cells, _) = self.grid.slot_mut(slot);
                match joined {
                    Some(Joined { end, .. }) if end == known => {}
                    Some(Joined { end, columns, last }) => {
                        if head + columns < col {
                            // The second half of this character, and of a character that it has covered, is now empty.
                            reach = reach.max((col + 1).min(cells.len()));
                            part_wide(cells, col, col);
                            cells[col - 1] = cells[col - 1].blanked();
                        }
                        col = head + columns;
                        before = last;
                        rest = &head_rest[end..];
                        continue;
                    }
                    None => break,
                }
                if width == 0 {
                    break;
                }
            }
            if graphemes && class == Class::Regional {
                width = 2;
            }
            if col + width > cols {
                break;
            }
            cells[col] = Cell(bits | c as u64);
            if width == 2 {
                cells[col].0 |= WIDE;
                cells[col + 1] = Cell(bits | TAIL);
            }
            (head, head_rest) = (col, rest);
            col += width;
            before = class;
            rest = chars.as_str();
        }
        if col == start {
            return rest;
        }
        if cuts {
            cells[start - 1] = cells[start - 1].blanked();
        }
        if cells.get(col).is_some_and(|cell| cell.is_tail()) {
            cells[col] = cells[col].blanked();
        }
        let end = col.max(reach);
        let meta = self.grid.slot_mut(slot).1;
        meta.revision = self.seq;
        meta.occ = meta.occ.max(end as u16);
        if col == cols {
            meta.flags &= !WRAPPED;
        }
        self.advance_to(col, cols);
        self.last_printed = head_rest.chars().next().unwrap_or('\0');
        rest
    }

    /// Prints one character that is not a control, in any mode.
    pub(crate) fn print_char(&mut self, c: char) {
        work::add(1);
        let c = self.charsets.map(c);
        let props = props(c).widened(self.ambiguous_wide);
        let (class, width) = (props.class(), props.width());
        if self.join(c, class, width) {
            return;
        }
        if width > 0 {
            let half_flag = class == Class::Regional && self.modes.contains(Modes::GRAPHEMES);
            self.put(Cell(c as u64), if half_flag { 2 } else { width });
            self.last_printed = c;
        }
    }

    /// DEL. Ignored, unless GL selects a 96-character set, which contains a character at this code.
    pub(crate) fn delete(&mut self) {
        if self.charsets.prints_delete() {
            self.print_char('\x7f');
        }
    }

    /// Prints `shown`, which is the content of a cell and `width` columns wide, at the cursor.
    pub(crate) fn put(&mut self, shown: Cell, width: usize) {
        if let Some(width) = self.make_room(width) {
            self.write_cell(shown, width);
        }
    }

    /// Moves the cursor to a position at which content of `width` columns fits. Returns the number of columns that the
    /// content uses there, or `None` if it must not be printed.
    #[inline]
    pub(crate) fn make_room(&mut self, width: usize) -> Option<usize> {
        let wraps = self.modes.contains(Modes::AUTO_WRAP);
        if self.cursor.wrap_pending {
            self.cursor.wrap_pending = false;
            if wraps {
                self.wrap();
            }
        }
        if !self.pass_multicells(width, false) {
            return None;
        }
        // If the screen or the space between the margins is one column wide, wide characters become narrow.
        let mut stop = self.line_end(self.cursor.col);
        let width = width.min(stop);
        if self.cursor.col + width > stop {
            if !wraps {
                // xterm prints nothing at such a position.
                return None;
            }
            self.leave_head();
            if !self.pass_multicells(width, false) {
                return None;
            }
            stop = self.line_end(self.cursor.col);
        }
        let width = width.min(stop - self.cursor.col);
        if self.modes.contains(Modes::INSERT) && self.is_between_margins() {
            self.insert_cells(self.cursor.row, self.cursor.col, width);
        }
        Some(width)
    }

    /// Writes `shown` into the `width` columns that [`Term::make_room`] has returned.
    #[inline]
    pub(crate) fn write_cell(&mut self, shown: Cell, width: usize) {
        let (col, stop) = (self.cursor.col, self.line_end(self.cursor.col));
        let slot = self.grid.slot(self.cursor.row);
        let table = self.grid.table_of(slot);
        if self.grid.slot_meta(slot).has_multicells() {
            self.grid.overwrite_multicells(self.cursor.row, col, col + width, self.seq);
        }
        let bits = self.pen.bits(&mut self.grid, table);
        let (cells, meta) = self.grid.slot_mut(slot);
        let end = col + width;
        part_wide(cells, col, end);
        let shown = bits | shown.0;
        if width == 2 {
            cells[col] = Cell(shown | WIDE);
            cells[col + 1] = Cell(bits | TAIL);
        } else {
            cells[col] = Cell(shown);
        }
        meta.revision = self.seq;
        meta.occ = meta.occ.max(end as u16);
        if end == stop {
            meta.flags &= !WRAPPED;
        }
        self.advance_to(end, stop);
    }

    /// Moves the cursor after the printed text. The line ends before column `stop`.
    #[inline]
    pub(crate) fn advance_to(&mut self, end: usize, stop: usize) {
        self.cursor.wrap_pending = end == stop;
        self.cursor.col = end.min(stop - 1);
        self.printed_to = self.cursor.key();
    }

    /// Moves to the next line, because a wide character does not fit in the last column. The last column keeps its
    /// content (xterm, kitty).
    pub(crate) fn leave_head(&mut self) {
        let seq = self.seq;
        let stop = self.line_end(self.cursor.col);
        let slot = self.grid.slot(self.cursor.row);
        if stop == self.grid.cols() && self.grid.slot_cells(slot)[stop - 1].ascii() == Some(b' ') {
            let table = self.grid.table_of(slot);
            let blank = self.pen.blank()(&mut self.grid, table);
            let (cells, meta) = self.grid.slot_mut(slot);
            cells[stop - 1] = Cell(blank.0 | HEAD);
            meta.occ = meta.occ.max(stop as u16);
            meta.revision = seq;
        }
        self.wrap();
    }

    /// Moves to the start of the next line, which continues the current line.
    pub(crate) fn wrap(&mut self) {
        let row = self.cursor.row;
        // Only whole rows can form one line of text. Between margins, each row is a separate line.
        let whole = self.scrolls_whole_rows() && !self.grid.meta(row).is_double();
        if whole {
            let meta = self.grid.meta_mut(row);
            meta.flags = meta.flags & !SHORT | WRAPPED;
            meta.revision = self.seq;
        }
        self.index();
        self.cursor.col = self.left;
        self.cursor.wrap_pending = false;
        let row = self.cursor.row;
        if whole && self.grid.meta(row).is_double() && row > 0 {
            self.grid.meta_mut(row - 1).flags &= !WRAPPED;
        }
    }

    /// Whether a run of text may be printed without checking each character.
    #[inline]
    fn prints_plainly(&self) -> bool {
        !self.modes.contains(Modes::INSERT) && self.charsets.is_plain()
    }

    /// REP (ECMA-48 8.3.103): prints the preceding character again, but not more often than the screen has cells. Like
    /// xterm, does nothing after a control or another sequence. Repeats the whole cluster. xterm has no clusters, and
    /// repeats nothing after a combining mark.
    pub(crate) fn repeat(&mut self, count: usize) {
        let c = self.last_printed;
        if c == '\0' {
            return;
        }
        let count = self.capped_repeat(count, props(c).widened(self.ambiguous_wide).width());
        if let Some((cluster, width)) =
            self.cluster_before().filter(|(text, _)| text.starts_with(c))
        {
            self.repeat_cluster(&cluster, width, count);
        } else if c.is_ascii() {
            let run = [c as u8; 64];
            for start in (0..count).step_by(run.len()) {
                self.print_ascii(&run, run.len().min(count - start));
            }
        } else {
            for _ in 0..count {
                self.print_char(c);
            }
        }
    }

    /// The smallest number of repetitions with the same result as `count`, for a character of `width` columns: one full
    /// screen, plus the rest in its last line. Without this limit, six bytes could request 65,535 repetitions.
    fn capped_repeat(&self, count: usize, width: usize) -> usize {
        let full = self.grid.cols() * self.grid.rows();
        let line = ((self.right - self.left) / width.max(1)).max(1);
        count.min(full + count.saturating_sub(full) % line)
    }

    /// Prints `count` cells of a cluster.
    fn repeat_cluster(&mut self, cluster: &str, width: usize, count: usize) {
        // The cluster's id. It is valid for one table, in one generation.
        let mut known = None;
        for _ in 0..count {
            work::add(1);
            let Some(width) = self.make_room(width) else { return };
            let table = self.grid.table_of(self.grid.slot(self.cursor.row));
            let id = match known {
                Some((place, id)) if place == (table, self.grid.generation()) => id,
                _ => {
                    work::add(cluster.len());
                    let Some(id) = self.grid.intern_cluster(table, cluster) else { return };
                    known = Some(((table, self.grid.generation()), id));
                    id
                }
            };
            self.write_cell(Cell(CLUSTER | id as u64), width);
        }
    }
}
