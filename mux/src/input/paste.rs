//! Pasted text and focus.

use unterm_term::Modes;

/// The bytes of a paste: line ends become CR, as Enter sends them; when bracketed (mode 2004), wrapped in `CSI 200 ~` and
/// `CSI 201 ~`. Control characters other than tab and line ends are dropped, C0, DEL and C1 alike, so that no text can
/// end the bracket or press a key.
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

/// The bytes that tell a program of focus (mode 1004), empty when it did not ask.
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
    fn no_text_can_leave_its_bracket_or_press_a_key() {
        let text = "a\x1b[201~\nrm -rf\x03\x04\x7f\u{9b}201~\u{85}b";
        let bytes = encode_paste(text, Modes::BRACKETED_PASTE);
        assert_eq!(bytes, b"\x1b[200~a[201~\rrm -rf201~b\x1b[201~");
        for code in (0..0x20).chain(0x7f..0xa0).filter(|code| ![9, 10, 13].contains(code)) {
            let text = char::from_u32(code).unwrap().to_string();
            assert_eq!(encode_paste(&text, Modes::empty()), b"", "U+{code:04X}");
        }
    }

    #[test]
    fn focus_is_told_when_asked_for() {
        assert_eq!(encode_focus(true, Modes::FOCUS_EVENTS), b"\x1b[I");
        assert_eq!(encode_focus(false, Modes::FOCUS_EVENTS), b"\x1b[O");
        assert_eq!(encode_focus(true, Modes::empty()), b"");
    }
}
