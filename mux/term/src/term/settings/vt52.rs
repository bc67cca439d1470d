//! VT52 mode (DECANM): the state that it changes, its sequences, and the return to ANSI mode.
//!
//! Owns the ANSI state to restore. The mode itself is [`Modes::VT52`]. Sources: DEC STD 070 appendix A "VT52
//! emulation", VT100 user guide "VT52 compatible mode", and xterm for the question which state survives.

use crate::Modes;
use crate::grid::style::Style;
use crate::term::rendition::charset::Charsets;
use crate::term::settings::modes::DecModes;
use crate::term::{Allow, Term};

/// The modes that do not exist in VT52 mode.
const MODES: Modes =
    Modes::AUTO_WRAP.union(Modes::ORIGIN).union(Modes::INSERT).union(Modes::NEW_LINE);
const DEC_MODES: DecModes = DecModes::REVERSE_WRAP
    .union(DecModes::REVERSE_WRAP_ANY)
    .union(DecModes::LEFT_RIGHT)
    .union(DecModes::NATIONAL);

/// The state of ANSI mode that VT52 mode changes.
#[derive(Clone, Debug)]
pub(crate) struct AnsiState {
    pub modes: Modes,
    pub dec: DecModes,
    pub style: Style,
    pub protected: bool,
    pub charsets: Charsets,
    /// The left and right margin. The next field is the number of columns of the screen to which they apply.
    pub left: usize,
    pub right: usize,
    cols: usize,
}

impl Term {
    /// Whether the terminal is in VT52 mode.
    #[inline]
    pub(crate) fn is_vt52(&self) -> bool {
        self.modes.contains(Modes::VT52)
    }

    /// The state of ANSI mode. In VT52 mode, the state that leaving the mode would restore now.
    pub(crate) fn ansi_state(&self) -> AnsiState {
        let cols = self.grid.cols();
        let Some(ansi) = &self.ansi else {
            return AnsiState {
                modes: self.modes,
                dec: self.dec,
                style: *self.pen.style(),
                protected: self.pen.is_protected(),
                charsets: self.charsets,
                left: self.left,
                right: self.right,
                cols,
            };
        };
        let (left, right) = if ansi.cols == cols { (ansi.left, ansi.right) } else { (0, cols) };
        AnsiState {
            modes: (self.modes - MODES - Modes::VT52) | (ansi.modes & MODES),
            dec: (self.dec - DEC_MODES) | (ansi.dec & DEC_MODES),
            left,
            right,
            cols,
            ..(**ansi).clone()
        }
    }

    /// Resets DECANM, which enters VT52 mode.
    pub(crate) fn enter_vt52(&mut self) {
        self.ansi = Some(Box::new(self.ansi_state()));
        self.modes.remove(MODES);
        self.modes.insert(Modes::VT52);
        self.follow_editor();
        self.dec.remove(DEC_MODES);
        *self.pen.style_mut() = Style::default();
        self.pen.set_protected(false);
        self.charsets = Charsets::vt52();
        (self.left, self.right) = (0, self.grid.cols());
        self.cursor.wrap_pending = false;
        if self.allow.contains(Allow::WINDOW_OPS) {
            self.request_size(None, Some(80));
        }
    }

    /// Whether a VT52's `ESC ]` (print the screen, which has no effect) begins an OSC: a command of the pane's own shell
    /// runs. If the command leaves VT52 mode behind, the mark by which the shell reports the end is an OSC.
    pub(crate) fn awaits_shell(&self) -> bool {
        self.commands.has_before()
    }

    /// `ESC <`: leaves VT52 mode. The terminal is then a VT100, at level 1.
    pub(crate) fn leave_vt52(&mut self) {
        let ansi = self.ansi_state();
        if self.ansi.take().is_none() {
            return;
        }
        self.modes = ansi.modes;
        self.follow_editor();
        self.dec = ansi.dec;
        *self.pen.style_mut() = ansi.style;
        self.pen.set_protected(ansi.protected);
        self.charsets = ansi.charsets;
        (self.left, self.right) = (ansi.left, ansi.right);
        self.cursor.wrap_pending = false;
        self.conformance.level = 1;
    }

    /// Handles `ESC` and a character in VT52 mode.
    pub(crate) fn esc_vt52(&mut self, intermediates: &[u8], end: u8) {
        match (intermediates, end) {
            ([], b'<') => self.leave_vt52(),
            ([], b'=') => self.modes.insert(Modes::APP_KEYPAD), // alternate keypad
            ([], b'>') => self.modes.remove(Modes::APP_KEYPAD),
            ([], b'A') => self.move_up(1),
            ([], b'B') => self.move_down(1),
            ([], b'C') => self.move_right(1),
            ([], b'D') => self.move_left(1),
            ([], b'F') => self.charsets.gl = 1, // graphics
            ([], b'G') => self.charsets.gl = 0,
            ([], b'H') => self.move_to(1, 1),
            ([], b'I') => self.reverse_index(),
            ([], b'J') => self.erase_in_display(0),
            ([], b'K') => self.erase_in_line(0),
            ([], b'Z') => self.reply(b"\x1b/Z"), // identify: a VT100 in VT52 mode
            _ => tracing::debug!(?intermediates, end, "unknown VT52 sequence"),
        }
        self.end_operation();
    }

    /// `ESC Y`: moves the cursor to a row and a column, counted from 0. Ignores a row or column that is not on the
    /// screen.
    pub(crate) fn move_vt52(&mut self, row: usize, col: usize) {
        if row < self.grid.rows() {
            self.cursor.row = row;
        }
        if col < self.grid.cols() {
            self.cursor.col = col;
        }
        self.cursor.col = self.cursor.col.min(self.row_cols() - 1);
        self.cursor.wrap_pending = false;
        self.end_operation();
    }
}
