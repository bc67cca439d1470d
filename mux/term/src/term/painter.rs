//! Writes rows as the bytes that print them, cell for cell.
//!
//! An erased cell may have any look (half of an overwritten wide character keeps its own), but erasing sets only a
//! background. To reproduce other looks, the painter prints a wide character over the cell and overwrites its other
//! half.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use crate::LineSize;
use crate::grid::RowView;
use crate::grid::cell::{Cell, Content, PromptRole, Width};
use crate::grid::link::Link;
use crate::grid::row::{INPUT, MARK, OUTPUT, PROMPT};
use crate::grid::style::Style;
use crate::term::rendition::sgr::rendition_of;
use crate::unicode::{Class, props};

/// A character of two columns.
const WIDE: &str = "日";

/// The attributes a cell is printed with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub style: Style,
    pub link: Option<Arc<Link>>,
    pub role: PromptRole,
    pub protected: bool,
}

impl Look {
    /// Whether erasing alone produces it: a background and nothing else.
    fn is_erased(&self) -> bool {
        let style = Style { background: self.style.background, ..Style::default() };
        self.style == style && self.link.is_none() && self.role == PromptRole::Output
    }
}

/// How to leave the role of a prompt or an input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reset {
    /// By a soft reset (DECSTR), while only rows have been painted and no other state is set.
    Soft,
    /// By the end of a command that has already ended (OSC 133 D).
    End,
    /// Not possible: a command is running.
    Never,
}

/// How a row continues in the next row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// The row does not continue.
    No,
    /// By wrapping into the next row, which is still empty.
    Below,
    /// By wrapping from the row above, which is still empty, and moving it down.
    Moved,
    /// By wrapping on a screen of one row, which scrolls.
    Scrolls,
}

/// Writes rows. Between rows protection is off and positions count from the screen's corner.
pub(crate) struct Painter {
    out: String,
    cols: usize,
    rows: usize,
    /// See [`crate::Options::ambiguous_wide`].
    ambiguous_wide: bool,
    look: Look,
    pub reset: Reset,
    /// Where the cursor is, if that is known and no wrap is pending.
    at: Option<(usize, usize)>,
}

impl Painter {
    pub fn new(cols: usize, rows: usize, ambiguous_wide: bool) -> Self {
        Self {
            out: String::new(),
            cols,
            rows,
            ambiguous_wide,
            look: Look::default(),
            reset: Reset::Soft,
            at: None,
        }
    }

    pub fn finish(self) -> Vec<u8> {
        self.out.into_bytes()
    }

    /// Writes bytes that may move the cursor anywhere.
    pub fn raw(&mut self, text: &str) {
        self.at = None;
        self.out.push_str(text);
    }

    /// Writes bytes that leave the cursor where it is.
    pub fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes an OSC, which leaves the cursor where it is.
    pub fn osc(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = write!(self.out, "\x1b]{text}\x1b\\");
    }

    /// CUP.
    pub fn go(&mut self, row: usize, col: usize) {
        if self.at != Some((row, col)) {
            let _ = write!(self.out, "\x1b[{};{}H", row + 1, col + 1);
            self.at = Some((row, col));
        }
    }

    /// Sets the look of what is printed next.
    pub fn look(&mut self, look: &Look) {
        if *look == self.look {
            return;
        }
        if look.role != self.look.role {
            match look.role {
                PromptRole::Prompt => self.osc(format_args!("133;P")),
                PromptRole::Input => self.osc(format_args!("633;G")),
                // No mark sets only the output role.
                PromptRole::Output if self.reset == Reset::Soft => {
                    self.out.push_str("\x1b[!p");
                    self.look = Look::default();
                }
                PromptRole::Output => self.osc(format_args!("133;D")),
            }
        }
        if look.style != self.look.style {
            let _ = write!(self.out, "\x1b[{}m", rendition_of(&look.style));
        }
        if look.link != self.look.link {
            match &look.link {
                None => self.osc(format_args!("8;;")),
                Some(link) if link.id.is_empty() => self.osc(format_args!("8;;{}", link.uri)),
                Some(link) => self.osc(format_args!("8;id={};{}", link.id, link.uri)),
            }
        }
        if look.protected != self.look.protected {
            let _ = write!(self.out, "\x1b[{}\"q", look.protected as u8);
        }
        self.look = look.clone();
    }

    /// Whether the painter can leave this look again.
    fn may_take(&self, look: &Look) -> bool {
        look.role == PromptRole::Output || self.reset != Reset::Never
    }

    /// Sets the look of a new terminal.
    pub fn plain(&mut self) {
        self.look(&Look::default());
    }

    /// Writes the marks of a row that belong to no command, before or after the row is painted.
    pub fn marks(&mut self, row: usize, flags: u16) {
        for (mark, letter) in [(PROMPT, 'A'), (INPUT, 'B'), (OUTPUT, 'C')] {
            if flags & mark != 0 {
                self.mark(row, 0, format_args!("{letter}"));
            }
        }
        if flags & MARK != 0 {
            self.go(row, 0);
            self.osc(format_args!("1337;SetMark"));
        }
    }

    /// Writes an OSC 133 at a cell of a row.
    pub fn mark(&mut self, row: usize, col: usize, mark: std::fmt::Arguments<'_>) {
        self.go(row, col);
        self.osc(format_args!("133;{mark}"));
        // Undo its effect on the pen.
        self.look.role = PromptRole::Prompt;
        self.plain();
    }

    /// Sets the size of a row's characters. Any size but single ends the row's wrap.
    pub fn size(&mut self, row: usize, size: LineSize) {
        let end = match size {
            LineSize::Single => return,
            LineSize::DoubleTop => '3',
            LineSize::DoubleBottom => '4',
            LineSize::DoubleWidth => '6',
        };
        self.go(row, 0);
        let _ = write!(self.out, "\x1b#{end}");
    }

    /// Paints a row of history on the empty screen, with the output of `images`, and scrolls it off.
    pub fn history_row(&mut self, view: &RowView<'_>, images: impl FnOnce(&mut Self)) {
        match (view.meta.is_wrapped(), self.rows) {
            (false, _) if is_plain_text(view) => {
                // Most rows, so they take no further looks at their cells.
                self.go(0, 0);
                self.ascii(view.cells);
                self.at = None;
            }
            (false, _) => self.row(0, view, Wrap::No),
            (true, 1) => return self.row(0, view, Wrap::Scrolls),
            (true, _) => self.row(0, view, Wrap::Below),
        }
        images(self);
        self.multicells(0, view);
        self.plain();
        self.size(0, view.meta.line_size());
        self.raw("\x1b[S");
    }

    /// Paints the multicell characters that begin in a row, over the rows below as well.
    pub fn multicells(&mut self, row: usize, view: &RowView<'_>) {
        if !view.meta.has_multicells() {
            return;
        }
        for (col, cell) in view.cells.iter().enumerate() {
            if !cell.is_multicell() || cell.multicell_offset() != (0, 0) {
                continue;
            }
            let look = look_of(view, *cell);
            self.go(row, col);
            self.look(&look);
            let size = look.style.size;
            let (numerator, denominator) = size.raw_fraction();
            let (vertical, horizontal) = (size.vertical() as u8, size.horizontal() as u8);
            self.osc(format_args!(
                "66;s={}:w={}:n={numerator}:d={denominator}:v={vertical}:h={horizontal};{}",
                size.scale(),
                size.width(),
                text_of(view, *cell, &mut [0; 4])
            ));
            self.at = None;
        }
    }

    /// Paints a row on an empty row of the screen.
    pub fn row(&mut self, row: usize, view: &RowView<'_>, wrap: Wrap) {
        let last = self.cols - 1;
        if wrap == Wrap::No {
            return self.cells(row, view, self.cols, None);
        }
        if wrap == Wrap::Moved {
            self.row(row - 1, view, Wrap::Below);
            return self.raw(&format!("\x1b[{};{}r\x1b[T\x1b[r", row, row + 1));
        }
        let end = cell_at(view, last);
        let below = (row + 1).min(self.rows - 1);
        if end.width() == Width::Head {
            self.cells(row, view, last, None);
            self.go(row, last);
            self.look(&look_of(view, end));
            self.out.push_str(WIDE);
        } else if end.is_blank() && last > 0 && wrap != Wrap::Scrolls {
            self.go(row, last - 1);
            self.look(&look_of(view, end));
            self.out.push_str(WIDE);
            self.out.push('x');
            self.at = None;
            self.cells(row, view, last, Some(last - 1));
        } else {
            self.cells(row, view, self.cols, None);
            // When this returns, the row has scrolled away.
            if wrap == Wrap::Scrolls {
                self.multicells(row, view);
            }
            // A multicell character at the row's end has left the wrap pending.
            let is_pending = wrap == Wrap::Scrolls && end.is_multicell();
            if !is_pending && !self.print_last(row, view) {
                self.blank_last(row, &look_of(view, end));
            }
            // Keep the current look: changing it may end the pending wrap.
            self.out.push('x');
        }
        self.at = None;
        self.plain();
        self.go(below, 0);
        self.out.push_str("\x1b[2K");
    }

    /// Paints the columns before `end` of a row that is empty except at `dirty`, which is always written.
    fn cells(&mut self, row: usize, view: &RowView<'_>, end: usize, mut dirty: Option<usize>) {
        let is_odd = |col: usize| {
            let cell = cell_at(view, col);
            cell != Cell::EMPTY
                && cell.is_blank()
                && cell.width() == Width::Narrow
                && !look_of(view, cell).is_erased()
        };
        // Erased cells with odd looks at the end: each becomes the second half of a character that is overwritten next.
        let odd = (0..end).rev().take_while(|&col| is_odd(col)).count();
        let mut stop = end - odd;
        if stop == 0 {
            stop = end;
        } else if odd > 0 {
            for col in (stop..end).rev() {
                self.go(row, col - 1);
                self.look(&look_of(view, cell_at(view, col)));
                self.out.push_str(WIDE);
                self.at = None;
            }
            dirty = Some(stop - 1);
        }
        // Some cells have a different width in mode 2027 than their character alone, so they are printed in that mode.
        // Narrower ones come first, because they are wide for a moment. Wider ones (half a flag) follow from right to
        // left, so that no printed character precedes them that they could join.
        let is_ascii = |col: usize| view.cells.get(col).is_none_or(|it| it.ascii().is_some());
        let (narrow, wide): (Vec<usize>, Vec<usize>) = (0..stop)
            .filter(|&col| !is_ascii(col) && self.needs_clusters(view, cell_at(view, col)))
            .partition(|&col| !cell_at(view, col).is_wide());
        for col in narrow.into_iter().chain(wide.into_iter().rev()) {
            let cell = cell_at(view, col);
            self.go(row, col);
            self.look(&look_of(view, cell));
            self.whole_content(view, cell);
        }
        let mut col = 0;
        while col < stop {
            let cell = cell_at(view, col);
            let ascii = ascii_run(view, col..stop);
            if ascii > 0 {
                self.go(row, col);
                self.look(&look_of(view, cell));
                self.ascii(&view.cells[col..col + ascii]);
                col += ascii;
                self.at = (col < self.cols).then_some((row, col));
                continue;
            }
            let look = look_of(view, cell);
            if cell.is_tail() || cell.is_multicell() {
                col += 1;
            } else if self.needs_clusters(view, cell) {
                if dirty == Some(col) {
                    self.go(row, col);
                    self.look(&look);
                    self.whole_content(view, cell);
                }
                if !cell.is_wide() {
                    dirty = Some(col + 1);
                }
                col += 1;
            } else if !cell.is_blank() {
                let width = 1 + cell.is_wide() as usize;
                self.go(row, col);
                self.look(&look);
                if self.content(view, cell) {
                    dirty = Some(col + width);
                }
                col += width;
                self.at = (col < self.cols).then_some((row, col));
            } else if look.is_erased() || col + 1 >= stop {
                let len = (col..stop)
                    .take_while(|&other| {
                        let blank = cell_at(view, other);
                        if blank == cell {
                            return other == col || look.is_erased();
                        }
                        let own = look_of(view, blank);
                        blank.is_blank()
                            && own.style.background == look.style.background
                            && own.is_erased()
                    })
                    .count();
                let touched = dirty.is_some_and(|dirty| (col..col + len).contains(&dirty));
                if touched || look.style != Style::default() {
                    self.go(row, col);
                    let background = look.style.background;
                    self.look(&Look {
                        style: Style { background, ..Style::default() },
                        ..Look::default()
                    });
                    let _ = write!(self.out, "\x1b[{len}X");
                }
                col += len;
            } else {
                self.go(row, col);
                self.look(&look);
                self.out.push_str(WIDE);
                self.at = None;
                col += 1;
                dirty = Some(col);
            }
        }
    }

    /// Prints cells of [`ascii_run`].
    fn ascii(&mut self, cells: &[Cell]) {
        let mut text = [0; 128];
        for cells in cells.chunks(text.len()) {
            text.iter_mut().zip(cells).for_each(|(byte, cell)| *byte = cell.code() as u8);
            self.out.push_str(std::str::from_utf8(&text[..cells.len()]).unwrap_or_default());
        }
    }

    /// Prints a cell's content. Returns true if that may have left something in the next cell.
    fn content(&mut self, view: &RowView<'_>, cell: Cell) -> bool {
        let mut buffer = [0; 4];
        let text = text_of(view, cell, &mut buffer);
        let mut chars = text.chars();
        let Some(first) = chars.next() else { return false };
        let rest = chars.as_str();
        self.out.push(first);
        let width = 1 + cell.is_wide() as usize;
        if rest.is_empty() || self.width(first) == width && rest.chars().all(takes_none) {
            self.out.push_str(rest);
            return false;
        }
        // Print the rest with mode 2027 on, then turn it off again, since the next cell might join by chance.
        let _ = write!(self.out, "\x1b[?2027h{rest}\x1b[?2027l");
        self.width(first) > width
    }

    /// The columns a character takes while mode 2027 is off.
    fn width(&self, c: char) -> usize {
        props(c).widened(self.ambiguous_wide).width()
    }

    /// Whether mode 2027 shows a cell in a different width than its character alone, such as half a flag.
    fn needs_clusters(&self, view: &RowView<'_>, cell: Cell) -> bool {
        if cell.ascii().is_some() || cell.is_tail() || cell.is_multicell() {
            return false;
        }
        let mut buffer = [0; 4];
        let text = text_of(view, cell, &mut buffer);
        let mut chars = text.chars();
        let Some(first) = chars.next() else { return false };
        let (alone, width) = (self.width(first), 1 + cell.is_wide() as usize);
        let can_widen = !chars.as_str().is_empty() && props(first).class() != Class::Regional;
        chars.all(takes_none) && (alone > width || alone < width && !can_widen)
    }

    /// Puts the cursor after the last cell of a screen row. Prints that cell again if it can, to leave a wrap pending.
    pub fn behind(&mut self, row: usize, view: &RowView<'_>) {
        let last = self.cols - 1;
        if view.meta.is_wrapped() || !self.print_last(row, view) {
            self.go(row, last);
        }
    }

    /// Prints a row's last character so that a wrap is pending. Returns false if there is no character.
    fn print_last(&mut self, row: usize, view: &RowView<'_>) -> bool {
        let last = self.cols - 1;
        let start = last - (last > 0 && cell_at(view, last).is_tail()) as usize;
        let cell = cell_at(view, start);
        let look = look_of(view, cell);
        if cell.is_blank() || cell.is_multicell() || !self.may_take(&look) {
            return false;
        }
        self.go(row, start);
        self.look(&look);
        self.whole_content(view, cell);
        true
    }

    /// Leaves a row's last cell blank, with any look, so that a wrap is pending: prints a space and erases it by DECSERA,
    /// which keeps looks. That needs level 4 and an unprotected cell; otherwise the space stays.
    fn blank_last(&mut self, row: usize, look: &Look) {
        self.go(row, self.cols - 1);
        if self.may_take(look) {
            self.look(look);
        }
        let (row, col) = (row + 1, self.cols);
        let _ = write!(self.out, " \x1b[{row};{col};{row};{col}${{");
        self.at = None;
    }

    /// Prints a cell's content, in mode 2027 if needed.
    fn whole_content(&mut self, view: &RowView<'_>, cell: Cell) {
        if self.needs_clusters(view, cell) {
            let mut buffer = [0; 4];
            let text = text_of(view, cell, &mut buffer);
            let _ = write!(self.out, "\x1b[?2027h{text}\x1b[?2027l");
        } else {
            self.content(view, cell);
        }
        self.at = None;
    }
}

fn takes_none(c: char) -> bool {
    props(c).width() == 0
}

/// The text of a cell: its cluster, its character, or nothing. `buffer` stores the character.
fn text_of<'a>(view: &RowView<'a>, cell: Cell, buffer: &'a mut [u8; 4]) -> &'a str {
    match cell.content() {
        Content::Empty => "",
        Content::Char(c) => c.encode_utf8(buffer),
        Content::Cluster(id) => view.tables.cluster(id as u16).map_or("", |text| text),
    }
}

/// Whether a row is not empty, and consists of printable ASCII characters in the default look, without gaps.
fn is_plain_text(view: &RowView<'_>) -> bool {
    // Use no branch per cell, so that the compiler can test several cells at once.
    !view.cells.is_empty()
        && view.cells.iter().fold(true, |all, cell| all & (cell.0.wrapping_sub(0x20) < 0x5f))
}

/// The number of ASCII characters at the beginning of these columns that are one cell each and look the same. Most text
/// consists of such cells, which need no look and no string of their own.
fn ascii_run(view: &RowView<'_>, cols: Range<usize>) -> usize {
    let cells = view.cells.get(cols.start..cols.end.min(view.cells.len())).unwrap_or_default();
    let Some(first) = cells.first() else { return 0 };
    let is_alike = |cell: &&Cell| {
        let is_ascii = !cell.is_blank() && cell.ascii().is_some() && !cell.is_multicell();
        is_ascii && cell.attributes() == first.attributes()
    };
    cells.iter().take_while(is_alike).count()
}

/// A cell of a row. A piece of an image counts as blank, since images are written separately.
fn cell_at(view: &RowView<'_>, col: usize) -> Cell {
    let cell = view.cells.get(col).copied().unwrap_or_default();
    if cell.tile().is_some() { cell.blanked() } else { cell }
}

fn look_of(view: &RowView<'_>, cell: Cell) -> Look {
    Look {
        style: view.tables.style(cell.style_id()),
        link: view.tables.link(cell.link_id()).cloned(),
        role: cell.prompt_role(),
        protected: cell.is_protected(),
    }
}
