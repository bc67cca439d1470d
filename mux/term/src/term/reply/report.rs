//! Replies: the terminal's reports to its program.
//!
//! Every reply is fixed text with numbers. A report that echoes text is a way to type into a shell (CVE-2003-0063 and
//! similar). Only these texts that a program wrote are sent back, because their protocols require it:
//!
//! - OSC 21: the name of an unknown key, if it is 1 to 32 of `a`–`z`, `0`–`9` and `_` (kitty, "Color control");
//! - OSC 99: the identifiers of notifications, if they are 1 to 128 of `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `-`, `+` and
//!   `.`, and lists of them separated by `,` (kitty, "Desktop notifications");
//! - OSC 5522: the identifier of a request, at most 128 of `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `-`, `+` and `.` (kitty,
//!   "Copying all data types to the clipboard");
//! - OSC 5113: the identifiers of a session and of a file, at most 128 of `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `:`, `.`, `/`,
//!   `@` and `-` (kitty, "File transfer over the TTY"). The terminal's owner writes these replies;
//! - XTGETTCAP: the hexadecimal digits of the name of a known capability (xterm, neovim);
//! - the letter of a clipboard in OSC 52, one of `c`, `p`, `q`, `s` and `0`–`7` (xterm).
//!
//! None of these can hold a control character, a space, or anything else that is more than a word to a shell. Other
//! texts are sent only if the terminal's owner allows it: titles (XTWINOPS 20 and 21, [`crate::Allow::TITLE_REPORTS`])
//! without control characters, and clipboard contents in base64 (OSC 52 and 5522).

use crate::params::Params;
use crate::term::Term;

/// Name and version for XTVERSION.
const VERSION: &str = concat!("Unterm ", env!("CARGO_PKG_VERSION"));

impl Term {
    /// Queues a reply made of fixed text and numbers.
    pub(crate) fn reply_text(&mut self, text: String) {
        self.reply(text.as_bytes());
    }

    /// DA1: a VT500-class terminal with 132 columns (1), printer port (2, nothing attached: see DSR 15), sixel (4),
    /// selective erase (6), replacement sets (9), technical characters (15), locator port (16 and 29, nothing attached:
    /// see DSR 55), state interrogation (17), windows (18), horizontal scrolling (21), color (22), rectangles (28) and
    /// clipboard access (52).
    pub(crate) fn report_primary_attributes(&mut self) {
        self.reply(b"\x1b[?65;1;2;4;6;9;15;16;17;18;21;22;28;29;52c");
    }

    /// DECRQLP: there is no locator (DEC VT330 manual, "Locator input model").
    pub(crate) fn report_locator(&mut self) {
        self.reply(b"\x1b[0&w");
    }

    /// DECRQDE: reports rows and columns, and that the window shows the page from its first cell.
    pub(crate) fn report_displayed_extent(&mut self) {
        let size = self.size;
        self.reply_text(format!("\x1b[{};{};1;1;1\"w", size.rows, size.cols));
    }

    /// DA2: a VT520-class terminal, the xterm patch whose behavior it follows, no options.
    pub(crate) fn report_secondary_attributes(&mut self) {
        self.reply(b"\x1b[>64;383;0c");
    }

    /// DA3: the unit id, as xterm reports it.
    pub(crate) fn report_tertiary_attributes(&mut self) {
        self.reply(b"\x1bP!|00000000\x1b\\");
    }

    /// XTVERSION.
    pub(crate) fn report_version(&mut self) {
        self.reply_text(format!("\x1bP>|{VERSION}\x1b\\"));
    }

    /// DSR: 5 status, 6 cursor position (CPR).
    pub(crate) fn report_status(&mut self, what: u16) {
        match what {
            5 => self.reply(b"\x1b[0n"),
            6 => {
                let (row, col) = self.reported_cursor();
                self.reply_text(format!("\x1b[{row};{col}R"));
            }
            _ => tracing::debug!(what, "unknown status report"),
        }
    }

    /// DSR with `?`, each from the conformance level that introduced it (DEC STD 070; xterm).
    pub(crate) fn report_private_status(&mut self, params: &Params) {
        let level = self.conformance.level;
        match params.get(0) {
            6 => {
                let (row, col) = self.reported_cursor();
                let page = if level >= 4 { ";1" } else { "" };
                self.reply_text(format!("\x1b[?{row};{col}{page}R")); // DECXCPR
            }
            15 if level >= 2 => self.reply(b"\x1b[?13n"), // printer: none
            25 if level >= 2 => self.reply(b"\x1b[?20n"), // user-defined keys: unlocked
            26 if level >= 4 => self.reply(b"\x1b[?27;1;0;0n"), // keyboard: North American, ready, LK201
            26 if level == 3 => self.reply(b"\x1b[?27;1;0n"),
            26 if level == 2 => self.reply(b"\x1b[?27;1n"),
            53 | 55 if level >= 3 => self.reply(b"\x1b[?53n"), // locator: none
            56 if level >= 3 => self.reply(b"\x1b[?57;0n"),    // type of the locator: none
            62 if level >= 4 => self.reply(b"\x1b[0000*{"),    // DECMSR: no space for macros
            63 if level >= 4 => self.reply_text(format!("\x1bP{}!~0000\x1b\\", params.get(1))), // DECCKSR
            75 if level >= 4 => self.reply(b"\x1b[?70n"), // data integrity: no errors
            85 if level >= 4 => self.reply(b"\x1b[?83n"), // sessions: only this one
            996 => self.report_color_scheme(),            // contour's DSR: dark or light colors
            998 => self.report_visibility(), // rockorager's DSR: whether the pane may be visible
            what => tracing::debug!(what, "unknown private status report"),
        }
    }

    /// Row and column from 1, relative to region and margins if DECOM is set.
    fn reported_cursor(&self) -> (usize, usize) {
        let row = self.cursor.row.saturating_sub(self.first_row());
        (row + 1, self.cursor.col.saturating_sub(self.first_col()) + 1)
    }

    /// DECRQM for ANSI modes.
    pub(crate) fn report_mode(&mut self, mode: u16) {
        let state = self.ansi_mode_state(mode) as u8;
        self.reply_text(format!("\x1b[{mode};{state}$y"));
    }

    /// DECRQM for private modes.
    pub(crate) fn report_private_mode(&mut self, mode: u16) {
        let state = self.private_mode_state(mode) as u8;
        self.reply_text(format!("\x1b[?{mode};{state}$y"));
    }

    /// Mode 2031 and DSR 996: 1 dark, 2 light.
    pub(crate) fn report_color_scheme(&mut self) {
        let scheme = if self.palette.is_dark() { 1 } else { 2 };
        self.reply_text(format!("\x1b[?997;{scheme}n"));
    }

    /// Mode 2033 and DSR 998: 1 potentially visible, 2 not visible.
    pub(crate) fn report_visibility(&mut self) {
        self.reply(if self.is_visible { b"\x1b[?999;1n" } else { b"\x1b[?999;2n" });
    }

    /// Mode 2048: rows, columns, height and width in pixels.
    pub(crate) fn report_size(&mut self) {
        let (rows, cols) = (self.size.rows, self.size.cols);
        let (width, height) = self.size.pixels();
        self.reply_text(format!("\x1b[48;{rows};{cols};{height};{width}t"));
    }
}
