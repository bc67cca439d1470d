//! XTGETTCAP: the terminal description of this terminal, queried by the names of terminfo and termcap.
//!
//! Owns the tables of keys, and reads everything else from the terminfo entry, so that a program gets the same values
//! over `ssh`, where the entry is missing. As in xterm (its `xtermcap.c`), a key's value is what the key currently
//! sends: cursor keys follow DECCKM, Backspace follows DECBKM, Delete follows mode 1037. Function keys beyond the last
//! real key are keys with modifiers, as in terminfo's `xterm+pcfkeys`. Sources: terminfo(5); user_caps(5) for the names
//! with modifiers.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::Modes;
use crate::hex::{Case, hex, unhex};
use crate::term::Term;
use crate::term::settings::keyboard::function_key_number;

/// The terminfo entry. `mux/tests/terminfo.rs` checks it against the engine and the key encoder.
const ENTRY: &str = include_str!("../../../../../assets/terminfo/unterm.terminfo");

/// Values that the entry does not contain, because they depend on who asks: the name of a description that every host
/// has, and `RGB`, with which curses would take the 256 color numbers for direct colors.
const OTHERS: &[(&str, &str)] = &[
    ("TN", "xterm-256color"),
    ("name", "xterm-256color"),
    ("Co", "256"),
    ("RGB", "8/8/8"),
    ("kB", "\x1b[Z"),
];

/// The capabilities of the entry by name. A flag has an empty value, a number decimal digits.
static CAPABILITIES: LazyLock<FxHashMap<&str, String>> = LazyLock::new(|| {
    let fields = ENTRY.lines().filter_map(|line| line.strip_prefix('\t')?.strip_suffix(','));
    fields
        .map(|field| match field.split_once(['=', '#']) {
            Some((name, value)) if field[name.len()..].starts_with('=') => (name, unescape(value)),
            Some((name, value)) => (name, decimal(value)),
            None => (field, String::new()),
        })
        .collect()
});

/// The bytes of a string of terminfo(5): `\E`, `^X`, `\n`, three octal digits, and a backslash before any other
/// character, which then stands for itself. All are ASCII.
fn unescape(value: &str) -> String {
    let mut out = String::new();
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        out.push(match (c, rest.as_str().as_bytes()) {
            ('^', [b'?', ..]) => '\x7f',
            ('^', [letter, ..]) => char::from(letter & 0x1f),
            ('\\', [b'E' | b'e', ..]) => '\x1b',
            ('\\', [b'n', ..]) => '\n',
            ('\\', [b'r', ..]) => '\r',
            ('\\', [b't', ..]) => '\t',
            ('\\', [b'b', ..]) => '\x08',
            ('\\', [b'f', ..]) => '\x0c',
            ('\\', [b's', ..]) => ' ',
            ('\\', [a @ b'0'..=b'7', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                rest.nth(1);
                char::from((a & 1) << 6 | (b & 7) << 3 | c & 7)
            }
            ('\\', [other, ..]) => char::from(*other),
            _ => {
                out.push(c);
                continue;
            }
        });
        rest.next();
    }
    out
}

/// A number of terminfo(5), decimal or hexadecimal, in decimal digits.
fn decimal(number: &str) -> String {
    match number.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16)) {
        Some(Ok(number)) => number.to_string(),
        _ => number.to_owned(),
    }
}

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
    /// XTGETTCAP: replies once per name; names are in hexadecimal. A reply repeats the digits of a known name as they were
    /// asked, because programs look for them. If one of them is a lower-case letter, the value's are lower case too;
    /// xterm writes all in upper case, kitty all in lower case.
    pub(crate) fn report_capabilities(&mut self, names: &[u8]) {
        if memchr::memchr_iter(b';', names).count() >= NAMES_CAP {
            return self.caps.dropped("XTGETTCAP", NAMES_CAP);
        }
        for digits in names.split(|&b| b == b';') {
            let name = unhex(digits).and_then(|name| String::from_utf8(name).ok());
            let value = name.and_then(|name| self.capability(&name));
            // The digits of a known name are harmless.
            match (value, std::str::from_utf8(digits)) {
                (Some(value), Ok(digits)) if value.is_empty() => {
                    self.reply_text(format!("\x1bP1+r{digits}\x1b\\"));
                }
                (Some(value), Ok(digits)) => {
                    let is_lower = digits.bytes().any(|digit| digit.is_ascii_lowercase());
                    let value = hex(&value, if is_lower { Case::Lower } else { Case::Upper });
                    self.reply_text(format!("\x1bP1+r{digits}={value}\x1b\\"));
                }
                _ => self.reply(b"\x1bP0+r\x1b\\"),
            }
        }
    }

    fn capability(&self, name: &str) -> Option<String> {
        if let Some((_, value)) = OTHERS.iter().find(|(own, _)| *own == name) {
            return Some((*value).to_owned());
        }
        self.key_capability(name).or_else(|| CAPABILITIES.get(name).cloned())
    }

    /// The bytes that a key sends now.
    fn key_capability(&self, name: &str) -> Option<String> {
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
        let asked = hex(name, Case::Lower);
        let question = format!("{bytes}\x1bP+q{asked}\x1b\\");
        Parser::new().advance(&mut term, question.as_bytes());
        let reply = String::from_utf8(term.take_replies()).expect("ASCII");
        let reply = reply.strip_suffix("\x1b\\").expect("an end");
        if reply == "\x1bP0+r" {
            return None;
        }
        let reply = reply.strip_prefix(&format!("\x1bP1+r{asked}")).expect(name);
        let reply = reply.strip_prefix('=').unwrap_or_default();
        String::from_utf8(unhex(reply.as_bytes()).expect("hexadecimal")).ok()
    }

    #[test]
    fn every_capability_of_the_entry_is_reported() {
        for (name, expected) in [
            ("Ms", "\x1b]52;%p1%s;%p2%s\x07"),
            ("Pst", "\x1b]7501;%p1%s\x1b\\"),
            ("Smulx", "\x1b[4:%p1%dm"),
            ("xr", "\x1bP>\\|[ -~]+\x1b\\\\"),
            ("cub1", "\x08"),
            ("kcbt", "\x1b[Z"),
            ("cuf", "\x1b[%p1%dC"),
            ("flash", "\x1b[?5h$<100/>\x1b[?5l"),
            ("oc", "\x1b]104\x07"),
            ("colors", "256"),
            ("pairs", "65536"),
            ("it", "8"),
            ("Tc", ""),
            ("am", ""),
        ] {
            assert_eq!(value("", name).as_deref(), Some(expected), "{name}");
        }
        assert!(CAPABILITIES.len() > 250);
        let mut names: Vec<_> = CAPABILITIES.keys().collect();
        names.sort_unstable();
        for name in names {
            let value = value("", name).expect(name);
            let is_key = KEYS.iter().any(|key| key.1 == *name) || name.starts_with('k');
            assert!(is_key || value == CAPABILITIES[name], "{name}");
        }
    }

    #[test]
    fn a_reply_repeats_the_digits_of_the_question() {
        for (asked, expected) in [
            ("4D73", "4D73=1B5D35323B25703125733B257032257307"),
            ("4d73", "4d73=1b5d35323b25703125733b257032257307"),
            // Without letters, the digits are xterm's.
            ("5365", "5365=1B5B2071"),
            ("5463", "5463"),
        ] {
            let mut term = Term::new(Size::cells(10, 4), Options::default());
            Parser::new().advance(&mut term, format!("\x1bP+q{asked}\x1b\\").as_bytes());
            let reply = String::from_utf8(term.take_replies()).expect("ASCII");
            assert_eq!(reply, format!("\x1bP1+r{expected}\x1b\\"));
        }
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
