//! Octal escapes in the text of `%output` and of `capture-pane -C`: `\ooo` is a byte, and `\\` a backslash.

/// Decodes escapes. A backslash that begins no escape stays.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        decoded.extend_from_slice(&rest[..at]);
        let (byte, len) = escape(&rest[at..]);
        decoded.push(byte);
        rest = &rest[at + len..];
    }
    decoded.extend_from_slice(rest);
    decoded
}

/// The byte that the escape at the start of `text` stands for, and the length of the escape.
fn escape(text: &[u8]) -> (u8, usize) {
    match text {
        [_, b'\\', ..] => (b'\\', 2),
        [_, high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', ..] => {
            ((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'), 4)
        }
        _ => (b'\\', 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_stand_for_bytes() {
        for (text, expected) in [
            ("", &b""[..]),
            ("plain ü", "plain ü".as_bytes()),
            (r"\033[1m\015\012", b"\x1b[1m\r\n"),
            (r"a\134b\\c", br"a\b\c"),
            (r"\377", b"\xff"),
            // No escapes.
            (r"\", br"\"),
            (r"\03", br"\03"),
            (r"\400 \089", br"\400 \089"),
        ] {
            assert_eq!(decode(text.as_bytes()), expected, "{text}");
        }
    }
}
