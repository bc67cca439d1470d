//! XTGETTCAP: the terminal description of this terminal, queried by the names of terminfo and termcap.
//!
//! Owns the tables. As in xterm (its `xtermcap.c`), a key's value is what the key currently sends: cursor keys follow
//! DECCKM, Backspace follows DECBKM, Delete follows mode 1037. Function keys beyond the last real key are keys with
//! modifiers, as in terminfo's `xterm+pcfkeys`. Sources: terminfo(5); user_caps(5) for the names with modifiers; `Tc`,
//! `RGB` and `Smulx` as tmux and neovim query them.

use crate::Modes;
use crate::hex::{hex, unhex};
use crate::keyboard::function_key_number;
use crate::term::Term;

/// Constant values. A boolean capability has an empty value.
const FIXED: &[(&str, &str)] = &[
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
    ("kcbt", "\x1b[Z"),
    ("kB", "\x1b[Z"),
];

/// A key, by the form of its sequence.
#[derive(Clone, Copy)]
enum Key {
    /// `CSI X`, or `SS3 X` if DECCKM is set.
    Cursor(char),
    /// `CSI n ~`.
    Editing(u32),
    /// F1 to F35.
    Function(u32),
    Backspace,
    Delete,
}

/// The names in termcap and terminfo, the key, and whether Shift is down.
const KEYS: &[(&str, &str, Key, bool)] = &[
    ("ku", "kcuu1", Key::Cursor('A'), false),
    ("kd", "kcud1", Key::Cursor('B'), false),
    ("kr", "kcuf1", Key::Cursor('C'), false),
    ("kl", "kcub1", Key::Cursor('D'), false),
    ("kh", "khome", Key::Cursor('H'), false),
    ("@7", "kend", Key::Cursor('F'), false),
    ("K1", "ka1", Key::Cursor('H'), false),
    ("K2", "kb2", Key::Cursor('E'), false),
    ("K4", "kc1", Key::Cursor('F'), false),
    ("K3", "ka3", Key::Editing(5), false),
    ("K5", "kc3", Key::Editing(6), false),
    ("kI", "kich1", Key::Editing(2), false),
    ("kD", "kdch1", Key::Delete, false),
    ("kP", "kpp", Key::Editing(5), false),
    ("kN", "knp", Key::Editing(6), false),
    ("kb", "kbs", Key::Backspace, false),
    ("kR", "kri", Key::Cursor('A'), true),
    ("kF", "kind", Key::Cursor('B'), true),
    ("%i", "kRIT", Key::Cursor('C'), true),
    ("#4", "kLFT", Key::Cursor('D'), true),
    ("#2", "kHOM", Key::Cursor('H'), true),
    ("*7", "kEND", Key::Cursor('F'), true),
    ("#3", "kIC", Key::Editing(2), true),
    ("*4", "kDC", Key::Editing(3), true),
    ("%e", "kPRV", Key::Editing(5), true),
    ("%c", "kNXT", Key::Editing(6), true),
    ("", "kUP", Key::Cursor('A'), true),
    ("", "kDN", Key::Cursor('B'), true),
];
/// The last function key that a keyboard may have, as in X and kitty's protocol.
const LAST_KEY: u32 = 35;
/// Maximum names in one query.
const NAMES_CAP: usize = 256;

impl Term {
    /// XTGETTCAP: replies once per name; names are in hexadecimal.
    pub(crate) fn report_capabilities(&mut self, names: &[u8]) {
        if memchr::memchr_iter(b';', names).count() >= NAMES_CAP {
            return self.caps.dropped("XTGETTCAP", NAMES_CAP);
        }
        for name in names.split(|&b| b == b';') {
            // A known name comes from the tables here, so repeating it is safe.
            let name = unhex(name).and_then(|name| String::from_utf8(name).ok());
            match name.as_deref().and_then(|name| Some((name, self.capability(name)?))) {
                Some((name, value)) if value.is_empty() => {
                    self.reply_text(format!("\x1bP1+r{}\x1b\\", hex(name)));
                }
                Some((name, value)) => {
                    self.reply_text(format!("\x1bP1+r{}={}\x1b\\", hex(name), hex(&value)));
                }
                None => self.reply(b"\x1bP0+r\x1b\\"),
            }
        }
    }

    fn capability(&self, name: &str) -> Option<String> {
        if let Some((_, value)) = FIXED.iter().find(|(own, _)| *own == name) {
            return Some((*value).to_owned());
        }
        if let Some(number) = function_key(name) {
            let (number, modifiers) = numbered_key(number);
            return Some(self.sends(Key::Function(number), modifiers));
        }
        // A digit after the name of a shifted key stands for other modifiers, in the encoding of their parameter.
        let (base, modifiers) = match name.as_bytes() {
            [b'k', .., digit @ b'3'..=b'8'] if name.len() > 3 => {
                (&name[..name.len() - 1], Some(digit - b'0'))
            }
            _ => (name, None),
        };
        let (_, _, key, shift) = KEYS.iter().find(|(termcap, terminfo, _, shift)| {
            *terminfo == base && (*shift || modifiers.is_none())
                || *termcap == name && !name.is_empty()
        })?;
        Some(self.sends(*key, modifiers.or(shift.then_some(2))))
    }

    /// The bytes a key sends with modifiers, which are encoded as their parameter.
    fn sends(&self, key: Key, modifiers: Option<u8>) -> String {
        let is_set = |mode| self.modes.contains(mode);
        match (key, modifiers) {
            (Key::Cursor(last), Some(modifiers)) => format!("\x1b[1;{modifiers}{last}"),
            (Key::Cursor(last), None) if is_set(Modes::APP_CURSOR) => format!("\x1bO{last}"),
            (Key::Cursor(last), None) => format!("\x1b[{last}"),
            (Key::Editing(number), Some(modifiers)) => format!("\x1b[{number};{modifiers}~"),
            (Key::Editing(number), None) => format!("\x1b[{number}~"),
            (Key::Function(number @ 1..=4), modifiers) => {
                let last = ['P', 'Q', 'R', 'S'][number as usize - 1];
                match modifiers {
                    Some(modifiers) => format!("\x1b[1;{modifiers}{last}"),
                    None => format!("\x1bO{last}"),
                }
            }
            (Key::Function(number), modifiers) => {
                self.sends(Key::Editing(function_key_number(number)), modifiers)
            }
            (Key::Backspace, _) if is_set(Modes::BACKSPACE_SENDS_BS) => "\x08".to_owned(),
            (Key::Backspace, _) => "\x7f".to_owned(),
            (Key::Delete, _) if is_set(Modes::DELETE_SENDS_DEL) => "\x7f".to_owned(),
            (Key::Delete, _) => self.sends(Key::Editing(3), modifiers),
        }
    }
}

/// The function key for a number, and its modifiers as their parameter. Keyboards have at most 35 function keys; higher
/// numbers repeat F1 to F12 with Control, with Shift and Control, with Alt, and with Shift and Alt.
fn numbered_key(number: u32) -> (u32, Option<u8>) {
    let modifiers = match number {
        ..=LAST_KEY => return (number, None),
        36 => 5,
        37..=48 => 6,
        49..=60 => 3,
        _ => 4,
    };
    ((number - 1) % 12 + 1, Some(modifiers))
}

/// The number of a function key: `kf1` to `kf63`; in termcap `k1` to `k9`, `k;`, `F1` to `F9`, `FA` to `FZ`, `Fa` to
/// `Fr`.
fn function_key(name: &str) -> Option<u32> {
    if let Some(digits) = name.strip_prefix("kf") {
        let number = digits.parse().ok().filter(|number| (1..=63).contains(number))?;
        return digits.starts_with(|c| c != '0' && c != '+').then_some(number);
    }
    Some(match name.as_bytes() {
        [b'k', digit @ b'1'..=b'9'] => *digit as u32 - b'0' as u32,
        b"k;" => 10,
        [b'F', digit @ b'1'..=b'9'] => *digit as u32 - b'0' as u32 + 10,
        [b'F', letter @ b'A'..=b'Z'] => *letter as u32 - b'A' as u32 + 20,
        [b'F', letter @ b'a'..=b'r'] => *letter as u32 - b'a' as u32 + 46,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Parser, Size};

    /// The reply for a name after `bytes`, without its frame.
    fn value(bytes: &str, name: &str) -> Option<String> {
        let mut term = Term::new(Size::cells(10, 4), Options::default());
        let question = format!("{bytes}\x1bP+q{}\x1b\\", hex(name).to_lowercase());
        Parser::new().advance(&mut term, question.as_bytes());
        let reply = String::from_utf8(term.take_replies()).expect("ASCII");
        let reply = reply.strip_suffix("\x1b\\").expect("an end");
        if reply == "\x1bP0+r" {
            return None;
        }
        let reply = reply.strip_prefix(&format!("\x1bP1+r{}=", hex(name))).expect(name);
        String::from_utf8(unhex(reply.as_bytes()).expect("hexadecimal")).ok()
    }

    #[test]
    fn keys_are_what_they_send_now() {
        for (termcap, terminfo, plain, application) in [
            ("ku", "kcuu1", "\x1b[A", "\x1bOA"),
            ("kd", "kcud1", "\x1b[B", "\x1bOB"),
            ("kr", "kcuf1", "\x1b[C", "\x1bOC"),
            ("kl", "kcub1", "\x1b[D", "\x1bOD"),
            ("kh", "khome", "\x1b[H", "\x1bOH"),
            ("@7", "kend", "\x1b[F", "\x1bOF"),
            ("kP", "kpp", "\x1b[5~", "\x1b[5~"),
            ("kN", "knp", "\x1b[6~", "\x1b[6~"),
            ("kI", "kich1", "\x1b[2~", "\x1b[2~"),
            ("kD", "kdch1", "\x1b[3~", "\x1b[3~"),
            ("kb", "kbs", "\x7f", "\x7f"),
            ("%i", "kRIT", "\x1b[1;2C", "\x1b[1;2C"),
            ("#2", "kHOM", "\x1b[1;2H", "\x1b[1;2H"),
            ("k1", "kf1", "\x1bOP", "\x1bOP"),
            ("k5", "kf5", "\x1b[15~", "\x1b[15~"),
            ("k;", "kf10", "\x1b[21~", "\x1b[21~"),
            ("F2", "kf12", "\x1b[24~", "\x1b[24~"),
            ("FA", "kf20", "\x1b[34~", "\x1b[34~"),
            ("FP", "kf35", "\x1b[56~", "\x1b[56~"),
            ("FQ", "kf36", "\x1b[24;5~", "\x1b[24;5~"),
            ("FR", "kf37", "\x1b[1;6P", "\x1b[1;6P"),
            ("FZ", "kf45", "\x1b[20;6~", "\x1b[20;6~"),
            ("Fc", "kf48", "\x1b[24;6~", "\x1b[24;6~"),
            ("Fd", "kf49", "\x1b[1;3P", "\x1b[1;3P"),
            ("Fh", "kf53", "\x1b[15;3~", "\x1b[15;3~"),
            ("Fo", "kf60", "\x1b[24;3~", "\x1b[24;3~"),
            ("Fp", "kf61", "\x1b[1;4P", "\x1b[1;4P"),
            ("Fr", "kf63", "\x1b[1;4R", "\x1b[1;4R"),
            ("Co", "colors", "256", "256"),
        ] {
            for name in [termcap, terminfo] {
                assert_eq!(value("", name).as_deref(), Some(plain), "{name}");
                assert_eq!(value("\x1b[?1h", name).as_deref(), Some(application), "{name}");
            }
        }
        assert_eq!(value("\x1b[?67h", "kbs").as_deref(), Some("\x08"));
        assert_eq!(value("\x1b[?1037h", "kdch1").as_deref(), Some("\x7f"));
        assert_eq!(value("", "kUP").as_deref(), Some("\x1b[1;2A"));
        assert_eq!(value("", "kUP5").as_deref(), Some("\x1b[1;5A"));
        assert_eq!(value("", "kDC3").as_deref(), Some("\x1b[3;3~"));
        for unknown in
            ["kf0", "kf64", "kf01", "kf+1", "kcuu3", "kpp5", "kUP2", "kUP9", "Fs", "", "5"]
        {
            assert_eq!(value("", unknown), None, "{unknown}");
        }
        for number in 1..=63 {
            assert!(value("", &format!("kf{number}")).is_some());
        }
    }
}
