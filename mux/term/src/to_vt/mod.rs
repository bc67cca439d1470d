//! A terminal as the bytes that make another one like it: for hand-over, mirrors and raw views.
//!
//! Owns the order in which the state is written; [`painter`] writes rows, [`state`] the rest. It uses only sequences that
//! any program may send, so nothing is trusted that comes this way: what shows a command to be the shell's (its nonce) is
//! not in it. Whoever feeds the bytes to a terminal throws away the replies and events that come of it.
//!
//! What is written: both screens, history, wrapped lines, styles, links, clusters, multicell
//! characters, protection, prompt marks and roles,
//! commands with their exit codes, cursors and saved cursors, tab stops, margins, modes and saved modes, character sets,
//! keyboard flags, titles and their stack, working directory, colours and those put aside, looks put aside, pointer shapes,
//! progress, program statuses, user variables, remote host, tab colour; kitty's images with frames, animation and
//! placements, the pieces of other images in cells, sixel's color registers.
//!
//! What is not, since no sequence makes it: text that reflow left in one column and that needs two; that the last row of a
//! screen wraps whose every row does; a wrap that is pending inside a row, in VT52 mode, or at level 2 and below behind a
//! cell that was erased since; a row all of whose cells were erased in a look that is more than a background; a look of
//! its own that half of a wide character or a part of a multicell character has; that a row wraps beside a multicell
//! character that begins above it and goes on below it, and such a character where the rows at the screen's foot all wrap;
//! a multicell character of more rows than the screen, or whose first row is no longer kept; the single shift a saved cursor may have in it; the character that REP would
//! repeat, and the one a mark would join; the link and role of a saved cursor, which nothing restores; that a row of
//! double width wraps into the next; that a row wraps before its end, or behind a
//! multicell character in its last column; a command's nonce, `seq`s, and what
//! its prompt said but for its `aid`.
//!
//! Of images: the number (`I`) of one that has an id as well, loops played, the order of overlapping placements on one
//! level, parents among placements of one image that have no id. An image in cells becomes one for each row, in the frame
//! that is shown, to the pixel of the image or of the screen, whichever is finer; those in rows that wrap on a screen of
//! one row are left out. Colours of sixel's registers are whole percents.
//!
//! What is not complete is not written either: images and notifications that come in chunks, files in parts, a command
//! line announced for a command that does not run yet, questions (OSC 52) that wait for an answer.

mod painter;
mod state;

use crate::grid::{Grid, Scratch};
use crate::modes::DecModes;
use crate::term::{ScreenKind, Term};
use painter::Wrap;
pub(crate) use painter::{Look, Painter};

impl Term {
    /// The bytes that make a terminal of the same size and options equal to this one: fed to one parser from its start.
    /// What no sequence makes (the module `to_vt` lists it) is left out. Takes time and memory in proportion to history and
    /// images.
    pub fn to_vt(&self) -> Vec<u8> {
        let mut painter = Painter::new(self.grid.cols(), self.grid.rows(), self.ambiguous_wide);
        // RIS, and modes that cells are printed in: wrapping, each character for itself.
        painter.raw("\x1bc\x1b[?7h\x1b[?2027l");
        self.write_saved_layout_modes(&mut painter);
        if self.dec.contains(DecModes::COLUMNS_132) {
            painter.raw("\x1b[?40h\x1b[?3h\x1b[?40l");
            let (cols, rows) = (self.grid.cols(), self.grid.rows());
            painter.raw(&format!("\x1b[8;{rows};{cols}t"));
        }
        // DECNCSM needs a level that may have been left since.
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
        // The screen that is hidden in the end is painted first.
        if self.screen == ScreenKind::Main {
            painter.raw("\x1b[?47h");
            self.write_screen(&mut painter, alternate, ScreenKind::Alternate);
            painter.raw("\x1b[?47l");
            self.write_screen(&mut painter, main, ScreenKind::Main);
        } else {
            self.write_screen(&mut painter, main, ScreenKind::Main);
            painter.raw("\x1b[?47h");
            self.write_screen(&mut painter, alternate, ScreenKind::Alternate);
        }
        self.write_state(&mut painter);
        painter.finish()
    }

    /// History and screen of one of the two grids, to the empty screen that is shown.
    fn write_screen(&self, painter: &mut Painter, grid: &Grid, screen: ScreenKind) {
        let mut scratch = Scratch::default();
        let live = grid.live_top();
        let oldest = grid.oldest();
        let placed = self.write_images(painter, screen);
        for line in oldest..live {
            let Some(view) = grid.read(line, &mut scratch) else { continue };
            if screen == ScreenKind::Main {
                self.write_marks(painter, 0, line, view.meta.flags);
            }
            painter.history_row(&view, |painter| {
                self.write_row_images(painter, screen, &placed, 0, (line, oldest), &view);
            });
        }
        let rows = grid.rows();
        let wraps = |row: usize| grid.meta(row).is_wrapped();
        // Rows at the foot that wrap: the last one leaves no room below it to wrap into, so these are painted from the
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
        // When no row moves any more.
        for row in 0..rows {
            let line = live + row as u64;
            let Some(view) = grid.read(line, &mut scratch) else { continue };
            painter.multicells(row, &view);
            self.write_row_images(painter, screen, &placed, row, (line, oldest), &view);
        }
        self.write_hung_images(painter, screen);
        painter.plain();
        for row in 0..rows {
            painter.size(row, grid.meta(row).line_size());
        }
    }
}
