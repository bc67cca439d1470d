//! DECRQSS: reports settings as the parameters of the sequence that sets them.
//!
//! Source: DEC STD 070 "Request selection or setting"; xterm ctlseqs, DCS $ q.

use crate::term::Term;

impl Term {
    /// DECRQSS. The name of a setting is the end of the sequence that sets it.
    pub(crate) fn report_setting(&mut self, setting: &[u8]) {
        match self.setting(setting) {
            // Send no reply: a VT100 does not support this query (xterm).
            _ if setting == b"\"p" && self.conformance.level < 2 => {}
            Some(value) => self.reply_text(format!("\x1bP1$r{value}\x1b\\")),
            None => self.reply(b"\x1bP0$r\x1b\\"),
        }
    }

    fn setting(&self, setting: &[u8]) -> Option<String> {
        let (rows, level) = (self.size.rows, self.conformance.level);
        Some(match setting {
            b"m" => format!("{}m", self.rendition()),             // SGR
            b"r" => format!("{};{}r", self.top + 1, self.bottom), // DECSTBM
            b"s" if level >= 4 => format!("{};{}s", self.left + 1, self.right), // DECSLRM
            b"t" => format!("{}t", rows.max(24)),                 // DECSLPP
            b"*|" => format!("{rows}*|"),                         // DECSNLS
            b"$|" => format!("{}$|", self.size.cols),             // DECSCPP
            b" q" => format!("{} q", self.cursor_style()),        // DECSCUSR
            b"\"q" => format!("{}\"q", self.pen.is_protected() as u8), // DECSCA
            b"\"p" if level >= 2 => {
                format!("{};{}\"p", 60 + level, 1 - self.conformance.eight_bit as u8) // DECSCL
            }
            b"*x" => format!("{}*x", self.conformance.extent), // DECSACE
            // There is no status line, so the main display is the active one.
            b"$}" => "0$}".to_owned(), // DECSASD
            b"$~" => "0$~".to_owned(), // DECSSDT
            b">t" => {
                let bits = self.title_modes();
                let modes: Vec<String> = (0..4).map(|i| (bits >> i & 1).to_string()).collect();
                format!(">{}t", modes.join(";")) // XTSMTITLE
            }
            [b'>', number @ .., last @ (b'm' | b'f')] => {
                let is_number = number.iter().all(u8::is_ascii_digit);
                let number =
                    std::str::from_utf8(number).ok().filter(|_| is_number)?.parse().ok()?;
                self.key_resource(number, *last == b'm')? // XTQMODKEYS, XTQFMTKEYS
            }
            _ => return None,
        })
    }
}
