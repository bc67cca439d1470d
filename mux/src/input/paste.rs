//! Pasted text and focus changes: the bytes for both, and the risks of a pasted text.

use unterm_term::Modes;

/// The sequence that ends a bracketed paste (mode 2004), in its 7-bit and its 8-bit form.
const BRACKET_ENDS: [&str; 2] = ["\x1b[201~", "\u{9b}201~"];

/// What a text would do besides inserting text if it were pasted.
///
/// Web pages can put such text on the clipboard in place of the text shown ("pastejacking").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasteRisk {
    /// The number of line ends (CR LF counts as one). A program without bracketed paste treats each as Enter.
    pub line_ends: usize,
    /// The number of control characters other than tabs and line ends. Each would act as a key, so [`encode_paste`]
    /// drops them.
    pub controls: usize,
    /// Whether the text contains the sequence that ends a bracketed paste. The text after it would count as typed.
    pub ends_bracket: bool,
}

impl PasteRisk {
    /// The risk of a text.
    pub fn of(text: &str) -> Self {
        let mut risk = Self {
            ends_bracket: BRACKET_ENDS.iter().any(|end| text.contains(end)),
            ..Self::default()
        };
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            match char {
                '\r' => {
                    chars.next_if_eq(&'\n');
                    risk.line_ends += 1;
                }
                '\n' => risk.line_ends += 1,
                '\t' => {}
                char => risk.controls += usize::from(char.is_control()),
            }
        }
        risk
    }

    /// Whether the text has no risk.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Whether to ask the user before pasting into a program with these modes. Without bracketed paste, the program
    /// treats line ends and control characters as keys. A sequence that ends a bracketed paste is an attack on any
    /// program.
    pub fn wants_asking(self, modes: Modes) -> bool {
        self.ends_bracket || !modes.contains(Modes::BRACKETED_PASTE) && !self.is_none()
    }
}

/// Joins lines with blanks. Drops empty lines, and blanks and backslashes at the ends of lines.
pub fn join_lines(text: &str) -> String {
    let trimmed = |line: &str| line.trim().trim_end_matches('\\').trim_end().to_owned();
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.split(['\r', '\n']).peekable();
    while let Some(line) = rest.next() {
        // A backslash at the end of a line continues a shell command on the next line. On the last line it belongs to
        // the text.
        let line = if rest.peek().is_some() { trimmed(line) } else { line.trim().to_owned() };
        lines.extend(Some(line).filter(|line| !line.is_empty()));
    }
    lines.join(" ")
}

/// Encodes a paste. Line ends become CR, like the Enter key. With mode 2004, the text is wrapped in `CSI 200 ~` and
/// `CSI 201 ~` (bracketed paste). Control characters other than tab and line ends (C0, DEL and C1) are dropped, so that
/// the text cannot end the bracketed paste or act as a key.
pub fn encode_paste(text: &str, modes: Modes) -> Vec<u8> {
    let is_bracketed = modes.contains(Modes::BRACKETED_PASTE);
    let mut out = String::with_capacity(text.len() + 12);
    if is_bracketed {
        out.push_str("\x1b[200~");
    }
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\r');
            }
            '\n' => out.push('\r'),
            '\t' => out.push('\t'),
            char if char.is_control() => {}
            char => out.push(char),
        }
    }
    if is_bracketed {
        out.push_str("\x1b[201~");
    }
    out.into_bytes()
}

/// The bytes that report a focus change (mode 1004). Empty if the program has not enabled the mode.
pub fn encode_focus(focused: bool, modes: Modes) -> &'static [u8] {
    match (modes.contains(Modes::FOCUS_EVENTS), focused) {
        (false, _) => b"",
        (true, true) => b"\x1b[I",
        (true, false) => b"\x1b[O",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_become_the_enter_key() {
        for (text, bytes) in [
            ("one\ntwo", "one\rtwo"),
            ("one\r\ntwo\r\n", "one\rtwo\r"),
            ("one\rtwo", "one\rtwo"),
            ("\n\n\r\n", "\r\r\r"),
            ("a\tb ä 世界 👩‍👩‍👧", "a\tb ä 世界 👩‍👩‍👧"),
            ("", ""),
        ] {
            assert_eq!(encode_paste(text, Modes::empty()), bytes.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn pasted_text_cannot_end_the_bracket_or_press_keys() {
        let text = "a\x1b[201~\nrm -rf\x03\x04\x7f\u{9b}201~\u{85}b";
        let bytes = encode_paste(text, Modes::BRACKETED_PASTE);
        assert_eq!(bytes, b"\x1b[200~a[201~\rrm -rf201~b\x1b[201~");
        for code in (0..0x20).chain(0x7f..0xa0).filter(|code| ![9, 10, 13].contains(code)) {
            let text = char::from_u32(code).unwrap().to_string();
            assert_eq!(encode_paste(&text, Modes::empty()), b"", "U+{code:04X}");
        }
    }

    #[test]
    fn risks_are_characters_that_act_as_keys() {
        let risk =
            |line_ends, controls, ends_bracket| PasteRisk { line_ends, controls, ends_bracket };
        for (text, expected) in [
            ("", risk(0, 0, false)),
            ("one word\tand ä 世界", risk(0, 0, false)),
            ("ls\n", risk(1, 0, false)),
            ("a\r\nb\rc\n", risk(3, 0, false)),
            ("\x03\x1b[A\u{85}", risk(0, 3, false)),
            ("a\x1b[201~b\n", risk(1, 1, true)),
            ("a\u{9b}201~b", risk(0, 1, true)),
        ] {
            assert_eq!(PasteRisk::of(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_user_is_asked_if_the_paste_would_act_as_keys() {
        let asked = |text, modes| PasteRisk::of(text).wants_asking(modes);
        let (plain, bracketed) = (Modes::empty(), Modes::BRACKETED_PASTE);
        assert!(!asked("one line", plain));
        assert!(asked("two\nlines", plain));
        assert!(asked("ls\n", plain), "it would run at once");
        assert!(asked("\x04", plain));
        assert!(!asked("two\nlines\x03", bracketed));
        assert!(asked("x\x1b[201~rm -rf .", bracketed), "an attack");
    }

    #[test]
    fn lines_are_joined_by_blanks() {
        assert_eq!(join_lines("  git add . \r\n\n  git commit\n"), "git add . git commit");
        assert_eq!(join_lines("ls \\\n  -l \\\n  -a\\"), r"ls -l -a\");
        assert_eq!(join_lines("\n"), "");
    }

    #[test]
    fn focus_is_reported_when_requested() {
        assert_eq!(encode_focus(true, Modes::FOCUS_EVENTS), b"\x1b[I");
        assert_eq!(encode_focus(false, Modes::FOCUS_EVENTS), b"\x1b[O");
        assert_eq!(encode_focus(true, Modes::empty()), b"");
    }
}
