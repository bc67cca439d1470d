//! Replies: what the terminal tells its program when asked.
//!
//! Every reply is a fixed text with numbers in it. None holds anything a program wrote: a report that echoes is a way
//! to type into a shell (CVE-2003-0063 and its like).

use crate::Modes;
use crate::params::Params;
use crate::term::Term;

/// Name and version for XTVERSION.
const VERSION: &str = concat!("Unterm ", env!("CARGO_PKG_VERSION"));
/// Terminal capabilities that XTGETTCAP gives: name, value (terminfo(5); `Tc`, `RGB` and `Smulx` as tmux and neovim ask).
const CAPABILITIES: &[(&str, &str)] = &[
    ("TN", "xterm-256color"),
    ("name", "xterm-256color"),
    ("Co", "256"),
    ("colors", "256"),
    ("RGB", "8/8/8"),
    ("Tc", ""),
    ("Su", ""),
    ("Smulx", "\x1b[4:%p1%dm"),
    ("Setulc", "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%dm"),
    ("indn", "\x1b[%p1%dS"),
    ("rin", "\x1b[%p1%dT"),
    ("setrgbf", "\x1b[38:2::%p1%d:%p2%d:%p3%dm"),
    ("setrgbb", "\x1b[48:2::%p1%d:%p2%d:%p3%dm"),
    ("Ss", "\x1b[%p1%d q"),
    ("Se", "\x1b[ q"),
];
/// Names one XTGETTCAP may ask for.
const CAPABILITIES_CAP: usize = 32;

impl Term {
    fn reply_text(&mut self, text: String) {
        self.reply(text.as_bytes());
    }

    /// DA1: a VT220-class terminal with sixel graphics (4), colour (22) and clipboard access (52).
    pub(crate) fn report_primary_attributes(&mut self) {
        self.reply(b"\x1b[?62;4;22;52c");
    }

    /// DA2: a VT220-class terminal, its version, no ROM cartridge.
    pub(crate) fn report_secondary_attributes(&mut self) {
        self.reply(b"\x1b[>1;10;0c");
    }

    /// DA3: the unit id, as xterm gives it.
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

    /// DSR with `?`: 6 DECXCPR, 15 printer (none), 25 keys (unlocked), 26 keyboard (North American).
    pub(crate) fn report_private_status(&mut self, what: u16) {
        match what {
            6 => {
                let (row, col) = self.reported_cursor();
                self.reply_text(format!("\x1b[?{row};{col};1R"));
            }
            15 => self.reply(b"\x1b[?13n"),
            25 => self.reply(b"\x1b[?21n"),
            26 => self.reply(b"\x1b[?27;1;0;0n"),
            996 => self.tell_color_scheme(), // contour: dark or light colours
            _ => tracing::debug!(what, "unknown private status report"),
        }
    }

    /// Row and column from 1, within the region under DECOM.
    fn reported_cursor(&self) -> (usize, usize) {
        let first = if self.modes.contains(Modes::ORIGIN) { self.top } else { 0 };
        (self.cursor.row.saturating_sub(first) + 1, self.cursor.col + 1)
    }

    /// DECRQM for ANSI modes.
    pub(crate) fn report_mode(&mut self, mode: u16) {
        let state = state(self.ansi_mode(mode));
        self.reply_text(format!("\x1b[{mode};{state}$y"));
    }

    /// DECRQM for private modes.
    pub(crate) fn report_private_mode(&mut self, mode: u16) {
        let state = state(self.private_mode(mode));
        self.reply_text(format!("\x1b[?{mode};{state}$y"));
    }

    /// XTWINOPS: reports of sizes, and the title stack. Moving, resizing and reports of titles are refused.
    pub(crate) fn window_operation(&mut self, params: &Params) {
        let size = self.size;
        let (rows, cols) = (size.rows, size.cols);
        let (width, height) = (size.cell_width, size.cell_height);
        match params.get(0) {
            11 => self.reply(b"\x1b[1t"),
            14 | 15 => {
                let what = params.get(0) - 10;
                let (h, w) = (height as u32 * rows as u32, width as u32 * cols as u32);
                self.reply_text(format!("\x1b[{what};{h};{w}t"));
            }
            16 => self.reply_text(format!("\x1b[6;{height};{width}t")),
            18 | 19 => {
                let what = params.get(0) - 10;
                self.reply_text(format!("\x1b[{what};{rows};{cols}t"));
            }
            22 if params.get(1) != 1 => self.push_title(),
            23 if params.get(1) != 1 => self.pop_title(),
            operation => tracing::debug!(operation, "window operation refused"),
        }
    }

    /// DECRQSS: the settings it knows are SGR (`m`), DECSTBM (`r`), DECSCUSR (` q`), DECSCA (`"q`), DECSCL (`"p`).
    pub(crate) fn report_setting(&mut self, setting: &[u8]) {
        let value = match setting {
            b"m" => format!("{}m", self.rendition()),
            b"r" => format!("{};{}r", self.top + 1, self.bottom),
            b" q" => format!("{} q", self.cursor_style()),
            b"\"q" => format!("{}\"q", self.pen.is_protected() as u8),
            b"\"p" => "62;1\"p".to_owned(),
            _ => {
                self.reply(b"\x1bP0$r\x1b\\");
                return;
            }
        };
        self.reply_text(format!("\x1bP1$r{value}\x1b\\"));
    }

    /// Mode 2031 and DSR 996: 1 dark, 2 light.
    pub(crate) fn tell_color_scheme(&mut self) {
        let scheme = if self.palette.is_dark() { 1 } else { 2 };
        self.reply_text(format!("\x1b[?997;{scheme}n"));
    }

    /// Mode 2048: rows, columns, height and width in pixels.
    pub(crate) fn tell_size(&mut self) {
        let (rows, cols) = (self.size.rows, self.size.cols);
        let (height, width) = (self.size.cell_height as u32, self.size.cell_width as u32);
        let (height, width) = (height * rows as u32, width * cols as u32);
        self.reply_text(format!("\x1b[48;{rows};{cols};{height};{width}t"));
    }

    /// XTGETTCAP: one reply for each name, which is in hexadecimal.
    pub(crate) fn report_capabilities(&mut self, names: &[u8]) {
        for name in names.split(|&b| b == b';').take(CAPABILITIES_CAP) {
            let known =
                CAPABILITIES.iter().find(|(own, _)| hex(own).as_bytes().eq_ignore_ascii_case(name));
            match known {
                Some((name, "")) => self.reply_text(format!("\x1bP1+r{}\x1b\\", hex(name))),
                Some((name, value)) => {
                    self.reply_text(format!("\x1bP1+r{}={}\x1b\\", hex(name), hex(value)));
                }
                None => self.reply(b"\x1bP0+r\x1b\\"),
            }
        }
    }
}

/// DECRPM's value: 0 not recognized, 1 set, 2 reset.
fn state(mode: Option<bool>) -> u8 {
    match mode {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}
