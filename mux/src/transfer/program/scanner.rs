//! Splits a terminal's input into control sequences.

/// Maximum bytes of a sequence or a string. Longer sequences and strings are dropped.
const CAP: usize = 32 << 10;

/// A part of the input that matters to a transfer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// The text of an OSC.
    Osc(Vec<u8>),
    /// The text of a DCS.
    Dcs(Vec<u8>),
    /// The text of a CSI sequence, with its final byte.
    Csi(Vec<u8>),
    /// Ctrl+C.
    Interrupt,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
    /// In a string, which begins with this byte after ESC.
    String(u8),
    /// After an ESC in a string.
    StringEscape(u8),
}

/// Keeps unfinished sequences between two reads.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
    text: Vec<u8>,
    is_too_long: bool,
}

impl Scanner {
    /// Scans the next byte. Returns what it completes.
    pub(super) fn next(&mut self, byte: u8) -> Option<Received> {
        match self.state {
            State::Ground => match byte {
                0x1b => self.begin(State::Escape),
                0x03 => return Some(Received::Interrupt),
                _ => {}
            },
            State::Escape => match byte {
                b'[' => self.begin(State::Csi),
                b']' | b'P' | b'_' | b'^' | b'X' => self.begin(State::String(byte)),
                0x1b => {}
                0x03 => {
                    self.state = State::Ground;
                    return Some(Received::Interrupt);
                }
                _ => self.state = State::Ground,
            },
            State::Csi => match byte {
                0x1b => self.begin(State::Escape),
                0x20..=0x3f => self.push(byte),
                0x40..=0x7e => {
                    self.push(byte);
                    return self.end(Received::Csi);
                }
                _ => self.state = State::Ground,
            },
            State::String(kind) => match byte {
                0x1b => self.state = State::StringEscape(kind),
                0x07 => return self.end_string(kind),
                _ => self.push(byte),
            },
            State::StringEscape(kind) => match byte {
                b'\\' => return self.end_string(kind),
                _ => {
                    // ESC ends the string and begins another sequence.
                    self.begin(State::Escape);
                    return self.next(byte);
                }
            },
        }
        None
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.text.clear();
        self.is_too_long = false;
    }

    fn push(&mut self, byte: u8) {
        if self.text.len() < CAP {
            self.text.push(byte);
        } else {
            self.is_too_long = true;
        }
    }

    fn end_string(&mut self, kind: u8) -> Option<Received> {
        match kind {
            b']' => self.end(Received::Osc),
            b'P' => self.end(Received::Dcs),
            _ => {
                self.begin(State::Ground);
                None
            }
        }
    }

    fn end(&mut self, received: fn(Vec<u8>) -> Received) -> Option<Received> {
        self.state = State::Ground;
        let text = std::mem::take(&mut self.text);
        match received(text) {
            _ if self.is_too_long => None,
            // Ctrl+C in the kitty keyboard protocol.
            Received::Csi(text) if text == b"99;5u" => Some(Received::Interrupt),
            received => Some(received),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(input: &[u8]) -> Vec<Received> {
        let mut scanner = Scanner::default();
        input.iter().filter_map(|byte| scanner.next(*byte)).collect()
    }

    #[test]
    fn sequences_and_strings_are_found_among_keys() {
        let input = b"ab\x1b]5113;a\x1b\\c\x1b[?62;4c\x1bP>|x\x07\x1b_apc\x1b\\\x1b[99;5u\x03\xff";
        let expected = [
            Received::Osc(b"5113;a".to_vec()),
            Received::Csi(b"?62;4c".to_vec()),
            Received::Dcs(b">|x".to_vec()),
            Received::Interrupt,
            Received::Interrupt,
        ];
        assert_eq!(received(input), expected);
    }

    #[test]
    fn incomplete_sequences_do_not_hide_later_ones() {
        for cut in [&b"\x1b]abc\x1b"[..], b"\x1b[12", b"\x1b", b"\x1b\x1b", b"\x1bPabc\x1b"] {
            let input = [cut, b"\x1b[c"].concat();
            assert_eq!(received(&input), [Received::Csi(b"c".to_vec())], "{cut:?}");
        }
    }

    #[test]
    fn long_strings_are_dropped() {
        let long = [b"\x1b]".to_vec(), vec![b'a'; CAP + 1], b"\x07\x1b]b\x07".to_vec()].concat();
        assert_eq!(received(&long), [Received::Osc(b"b".to_vec())]);
    }
}
