//! Writes a terminal as bytes that rebuild an equal one: for hand-over, mirrors and raw views.
//!
//! Owns the order of the state; the painter writes rows, [`state`] writes the rest. It uses only sequences that any
//! program may send, so the receiver need not trust them. The nonce that authenticates a shell's commands is therefore
//! left out. Whoever feeds the bytes to a terminal must discard the replies and events they cause.
//!
//! Written: both screens, history, wrapped lines, styles, links, clusters, multicell characters, protection, prompt
//! marks and roles, commands with their exit codes, cursors and saved cursors, tab stops, margins, modes and saved
//! modes, character sets, keyboard flags, extra cursors, registered glyphs, titles and their stack, working directory, colors and the color stack, the
//! SGR stack, pointer shapes, progress, program statuses, contexts, user variables, remote host, tab color; kitty images
//! with frames, animation and placements, the pieces of other images in cells, sixel color registers.
//!
//! Not written, because no sequence produces it:
//!
//! - text that needs two columns but that a reflow, or a multicell character behind it, left in one;
//! - the wrap of a screen's last row, if every row of the screen wraps;
//! - a pending wrap in VT52 mode; at level 2 and below, a wrap that is pending inside a row or behind a cell erased since,
//!   and a cursor above or left of a region that contains the origin;
//! - a row without text, some of whose cells were erased with attributes beyond a background;
//! - different attributes of half of a wide character, or of a part of a multicell character;
//! - the wrap of a row beside a multicell character that begins above the row and continues below it, and the character
//!   itself if all rows at the bottom of the screen wrap;
//! - a multicell character with more rows than the screen, whose first row is no longer kept, or that begins in the history and
//!   continues on the screen;
//! - the single shift in a saved cursor;
//! - the character that REP would repeat, and the character that a combining mark would join;
//! - which cells a line editor drew;
//! - the link and role of a saved cursor, which nothing restores;
//! - on a screen of one row or column, a blank last cell that wraps, if it is protected or the level is below 4;
//! - the wrap of a double-width row into the next;
//! - the wrap of a row before its end, or behind a multicell character in its last column;
//! - a command's nonce and `seq`s, and its prompt's options other than `aid`;
//! - a command whose output begins above the oldest row; of commands that run inside one another and whose output
//!   begins again in the same row, all but the innermost.
//!
//! Not written for images: the number (`I`) of an image that also has an id, loops already played, the order of
//! overlapping placements on one level, and parents among placements of one image without ids. An image in cells
//! becomes one image per row, showing the current frame at the resolution of the image or the screen, whichever is
//! finer. On a screen of one row, such images in rows that wrap are left out. Sixel color registers are rounded to
//! whole percents.
//!
//! Incomplete input is not written either: chunked images, notifications and clipboard data, files in parts, a command
//! line announced for a command that has not started, and clipboard requests (OSC 52 and 5522) waiting for a reply.

mod state;

use crate::grid::{Grid, Scratch};
use crate::term::painter::{Painter, Wrap};
use crate::term::settings::modes::DecModes;
use crate::term::{ScreenKind, Term};

/// What is written of a terminal.
#[derive(Clone, Copy)]
struct Extent {
    /// The most rows of history.
    history: u64,
    has_images: bool,
}

impl Term {
    /// The bytes that make a terminal of the same size and options equal to this one, if fed to one parser from its
    /// start. The module `to_vt` lists what is left out. Takes time and memory in proportion to history and images.
    pub fn to_vt(&self) -> Vec<u8> {
        self.to_vt_with(Extent { history: u64::MAX, has_images: true })
    }

    /// Like [`Term::to_vt`], with the newest rows of history that use at most `history` bytes before they are compressed.
    /// Their text is about as long, but may be several times longer if there are many colors.
    pub fn to_vt_within(&self, history: usize, has_images: bool) -> Vec<u8> {
        let rows = |grid: &Grid| grid.rows_within(history);
        self.to_vt_with(Extent { history: rows(&self.grid).max(rows(&self.hidden)), has_images })
    }

    /// Like [`Term::to_vt`], with at most `history` rows of history and without images, for a viewer that shows what
    /// comes next.
    pub fn to_vt_text(&self, history: u64) -> Vec<u8> {
        self.to_vt_with(Extent { history, has_images: false })
    }

    fn to_vt_with(&self, extent: Extent) -> Vec<u8> {
        let mut painter = Painter::new(self.grid.cols(), self.grid.rows(), self.ambiguous_wide);
        // RIS, and the modes that cells are printed in: auto-wrap on, clusters off.
        painter.raw("\x1bc\x1b[?7h\x1b[?2027l");
        self.write_saved_layout_modes(&mut painter);
        if self.dec.contains(DecModes::COLUMNS_132) {
            painter.raw("\x1b[?40h\x1b[?3h\x1b[?40l");
            let (cols, rows) = (self.grid.cols(), self.grid.rows());
            painter.raw(&format!("\x1b[8;{rows};{cols}t"));
        }
        // DECNCSM requires a level that the terminal may have left since.
        if self.dec.contains(DecModes::KEEP_ON_COLUMNS) {
            painter.raw("\x1b[?95h");
        }
        if !self.is_lowered_last() {
            painter.raw(&format!("\x1b[{};1\"p", 60 + self.conformance.level));
        }
        self.write_texts(&mut painter);
        let (main, alternate) = match self.screen {
            ScreenKind::Main => (&self.grid, &self.hidden),
            ScreenKind::Alternate => (&self.hidden, &self.grid),
        };
        // Paint first the screen that ends up hidden.
        if self.screen == ScreenKind::Main {
            painter.raw("\x1b[?47h");
            self.write_screen(&mut painter, alternate, ScreenKind::Alternate, extent);
            painter.raw("\x1b[?47l");
            self.write_screen(&mut painter, main, ScreenKind::Main, extent);
        } else {
            self.write_screen(&mut painter, main, ScreenKind::Main, extent);
            painter.raw("\x1b[?47h");
            self.write_screen(&mut painter, alternate, ScreenKind::Alternate, extent);
        }
        self.write_state(&mut painter);
        painter.finish()
    }

    /// Writes history and screen of one of the two grids to the visible screen, which is empty.
    fn write_screen(&self, painter: &mut Painter, grid: &Grid, screen: ScreenKind, extent: Extent) {
        let mut scratch = Scratch::default();
        let live = grid.live_top();
        let oldest = grid.oldest().max(live.saturating_sub(extent.history));
        let images = extent.has_images.then(|| self.write_images(painter, screen));
        for line in oldest..live {
            let Some(view) = grid.read(line, &mut scratch) else { continue };
            if screen == ScreenKind::Main {
                self.write_marks(painter, 0, line, view.meta.flags);
            }
            painter.history_row(&view, |painter| {
                if let Some(images) = &images {
                    self.write_row_images(painter, screen, images, 0, (line, oldest), &view);
                }
            });
        }
        let rows = grid.rows();
        let wraps = |row: usize| grid.meta(row).is_wrapped();
        // Rows at the bottom that wrap: the last row has no row below it to wrap into, so these are painted from the
        // bottom up, each in the row above.
        let foot = (0..rows).rev().take_while(|&row| wraps(row)).count();
        let foot = if foot < rows { rows - foot } else { rows };
        for row in (foot..rows).rev().chain(0..foot) {
            let Some(view) = grid.read(live + row as u64, &mut scratch) else { continue };
            if screen == ScreenKind::Alternate {
                painter.marks(row, view.meta.flags);
            }
            let wrap = match wraps(row) {
                false => Wrap::No,
                true if row >= foot => Wrap::Moved,
                true if row + 1 < rows => Wrap::Below,
                true => Wrap::No,
            };
            painter.row(row, &view, wrap);
            if screen == ScreenKind::Main {
                self.write_marks(painter, row, live + row as u64, view.meta.flags);
            }
        }
        // From here on, no row moves any more.
        for row in 0..rows {
            let line = live + row as u64;
            let Some(view) = grid.read(line, &mut scratch) else { continue };
            painter.multicells(row, &view);
            if let Some(images) = &images {
                self.write_row_images(painter, screen, images, row, (line, oldest), &view);
            }
        }
        if images.is_some() {
            self.write_hung_images(painter, screen);
        }
        painter.plain();
        for row in 0..rows {
            painter.size(row, grid.meta(row).line_size());
        }
    }
}
