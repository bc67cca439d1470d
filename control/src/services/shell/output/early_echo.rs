//! The echo of keys that were typed while the shell finished editing a command's line and started the command.
//!
//! A shell's editor turns the terminal's echo off, and the shell turns it on again before it runs a command. Whether a
//! key in between is echoed depends on when the kernel delivers the key. Once the terminal echoes a key, it echoes all
//! later keys. So the echo always consists of the last keys, and the output begins with it.

use std::ops::Range;

/// The text that the terminal shows for a key. `None` if the text depends on the terminal's settings and on the line.
fn echo_of(key: u8) -> Option<([u8; 2], usize)> {
    match key {
        // The terminal turns Enter into a line end (ICRNL, ONLCR).
        b'\r' | b'\n' => Some((*b"\r\n", 2)),
        b'\t' | 0x20..=0x7e | 0x80.. => Some(([key, 0], 1)),
        // Keys that send signals, edit the line or stop the output (stty(1): intr, erase, eof, start, stop, susp,
        // rprnt, werase, kill, lnext, quit).
        0x03 | 0x04 | 0x08 | 0x11..=0x13 | 0x15..=0x17 | 0x1a | 0x1c | 0x7f => None,
        // With ECHOCTL, the terminal shows other control characters like this: Ctrl+A as `^A`.
        _ => Some(([b'^', key ^ 0x40], 2)),
    }
}

/// The echo of each key of an input, up to the first key whose echo is unknown.
fn echoes(input: &[u8]) -> impl Iterator<Item = ([u8; 2], usize)> {
    input.iter().map_while(|&key| echo_of(key))
}

/// Appends the echo of input, up to the first key whose echo is unknown.
pub(super) fn append(echo: &mut Vec<u8>, input: &[u8]) {
    echoes(input).for_each(|(shown, length)| echo.extend_from_slice(&shown[..length]));
}

/// The maximum number of bytes of echo that are expected.
const MOST: usize = 4096;

/// The echo of keys if the terminal echoes them, which is uncertain.
#[derive(Default)]
pub(super) struct EarlyEcho {
    bytes: Vec<u8>,
    /// The offset in `bytes` where the echo of each key begins.
    keys: Vec<usize>,
    /// The offset in `bytes` of the first key that was certainly echoed before the command began, and the size of the
    /// shell's output at that time.
    certain: Option<(usize, usize)>,
}

impl EarlyEcho {
    /// Appends keys.
    pub(super) fn push(&mut self, input: &[u8]) {
        for (shown, length) in echoes(input) {
            if self.bytes.len() >= MOST {
                return;
            }
            self.keys.push(self.bytes.len());
            self.bytes.extend_from_slice(&shown[..length]);
        }
    }

    /// Appends keys that the terminal certainly echoes before the command begins. `position`: the size of the shell's
    /// output so far.
    pub(super) fn push_certain(&mut self, input: &[u8], position: usize) {
        let place = self.bytes.len();
        self.certain.get_or_insert((place, position));
        self.push(input);
    }

    /// Notes that the command begins. `before`: the shell's output before the command.
    pub(super) fn begin(&mut self, before: &[u8]) {
        let Some((place, position)) = self.certain.take() else { return };
        let (before, certain) = (&before[position.min(before.len())..], &self.bytes[place..]);
        // The shell may print something between the echo and the command's start, such as a title.
        let is_whole = before[sequences(before)..].starts_with(certain);
        let ends = self.keys.iter().copied().chain([self.bytes.len()]).filter(|&end| end > place);
        let mut shown = ends.filter(|end| is_whole || before.ends_with(&certain[..end - place]));
        if let Some(end) = shown.next_back() {
            // Earlier keys have been echoed already, or never will be.
            self.keys.retain(|&key| key >= end);
            self.keys.iter_mut().for_each(|key| *key -= end);
            self.bytes.drain(..end);
        }
    }

    /// Notes that the shell's output was cut at the front, so that positions in it start at 0 again.
    pub(super) fn reset_position(&mut self) {
        if let Some((_, position)) = &mut self.certain {
            *position = 0;
        }
    }

    /// The offset in an output where the echo begins. `output`: the bytes that arrived together with the command's
    /// beginning. They may be output that was on its way when a key was typed, such as the trace of a command
    /// (`set -x`). The echo follows its last line.
    pub(super) fn position(&self, output: &[u8]) -> usize {
        if self.may_continue(output) || !self.shown(output).is_empty() {
            return 0;
        }
        memchr::memrchr(b'\n', output).map_or(0, |at| at + 1)
    }

    /// The range of the echo at the beginning of an output, after any escape sequences.
    pub(super) fn shown(&self, output: &[u8]) -> Range<usize> {
        let start = sequences(output);
        let whole = |end| match echoed(&output[start..], end) {
            Echoed::Whole(length) => Some(length),
            Echoed::Part | Echoed::No => None,
        };
        start..start + self.ends().find_map(whole).unwrap_or_default()
    }

    /// Whether an output may be an incomplete echo, so that more of the echo may follow.
    pub(super) fn may_continue(&self, output: &[u8]) -> bool {
        let output = &output[sequences(output)..];
        self.ends().any(|end| matches!(echoed(output, end), Echoed::Part))
    }

    /// The possible echoes: the terminal echoes all keys from one of them on. The longest comes first.
    fn ends(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.iter().map(|&key| &self.bytes[key..])
    }
}

/// The way in which an output begins with an echo.
enum Echoed {
    /// The output begins with the whole echo. Contains the echo's length in the output, including the escape sequences
    /// between keys.
    Whole(usize),
    /// The output is the beginning of the echo.
    Part,
    No,
}

/// Compares an output with the echo of keys. The shell may write escape sequences between the keys.
fn echoed(output: &[u8], echo: &[u8]) -> Echoed {
    let (mut length, mut rest) = (0, echo);
    while let Some((&key, after)) = rest.split_first() {
        if output.get(length) != Some(&key) && rest.len() < echo.len() {
            length += sequences(&output[length..]);
        }
        match output.get(length) {
            Some(&byte) if byte == key => (length, rest) = (length + 1, after),
            Some(_) => return Echoed::No,
            None => return Echoed::Part,
        }
    }
    Echoed::Whole(length)
}

/// The size of the escape sequences at the beginning of an output. fish, for example, sets the title and returns to the
/// first column right before it runs a command.
fn sequences(output: &[u8]) -> usize {
    let mut size = 0;
    loop {
        let length = match &output[size..] {
            [0x1b, b'[', rest @ ..] => {
                rest.iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 3)
            }
            [0x1b, b']', rest @ ..] => memchr::memchr(0x07, rest).map(|at| at + 3),
            [0x1b, b'(', _, ..] => Some(3),
            [0x1b, b'=' | b'>', ..] => Some(2),
            [b'\r', b'\n', ..] => None,
            [b'\r', ..] => Some(1),
            _ => None,
        };
        let Some(length) = length else { return size };
        size += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn early(keys: &[u8]) -> EarlyEcho {
        let mut early = EarlyEcho::default();
        early.push(keys);
        early
    }

    #[test]
    fn an_output_begins_with_the_last_keys_or_with_none() {
        let up = early(b"\x1b[A");
        for (output, shown, may_continue) in [
            (&b"^[[A1"[..], 0..4, false),
            (b"[A1", 0..2, false),
            (b"A1", 0..1, false),
            (b"1", 0..0, false),
            // An incomplete echo of a key does not count.
            (b"[[A", 0..0, false),
            (b"", 0..0, true),
            (b"^", 0..0, true),
            (b"^[[", 0..0, true),
            (b"[", 0..0, true),
            (b"A", 0..1, false),
            // A title and a color precede the echo.
            (b"\x1b]0;x\x07\x1b[0;1m[A1", 12..14, false),
            (b"\x1b]0;x\x07", 6..6, true),
            (b"\x1b]0;x", 0..0, false),
            // fish writes this before a command runs, between any two keys.
            (b"\x1b]0;x\x07\x1b[m\r[A1", 10..12, false),
            (b"\x1b]0;x\x07\x1b[m\r", 10..10, true),
            (b"[\x1b]0;x\x07\x1b[m\rA1", 0..12, false),
            (b"[\x1b]0;x\x07\x1b[m\r", 0..0, true),
            (b"[\x1b[m\rB", 0..0, false),
        ] {
            assert_eq!(
                (up.shown(output), up.may_continue(output)),
                (shown, may_continue),
                "{output:?}"
            );
        }
        assert!(!early(b"").may_continue(b""));
        assert_eq!((early(b"aa").shown(b"a"), early(b"aa").may_continue(b"a")), (0..1, true));
        assert_eq!(early(b"aa").shown(b"ab"), 0..1);
        // The text that the terminal shows after Ctrl+C is unknown.
        assert_eq!((early(b"a\x03b").shown(b"ab"), early(b"a\x03b").shown(b"b")), (0..1, 0..0));
    }

    #[test]
    fn an_echo_follows_output_that_was_on_its_way() {
        let up = early(b"\x1b[A");
        for (output, position) in [
            (&b"+ sleep 1\r\n[A"[..], 11),
            (b"+ sleep 1\r\n", 11),
            (b"+ sleep", 0),
            (b"[A+ sleep 1\r\n", 0),
            (b"^[", 0),
            (b"", 0),
        ] {
            assert_eq!(up.position(output), position, "{output:?}");
        }
        assert_eq!(early(b"").position(b"a\r\n"), 3);
    }

    #[test]
    fn text_echoed_before_the_command_is_not_expected_again() {
        let mut seen = early(b"x");
        seen.push_certain(b"ls", 3);
        seen.push_certain(b"\r", 5);
        seen.begin(b"ls ls\r\nhook\r\n");
        assert_eq!(seen.shown(b"ls\r\n"), 0..0);
        let mut half = early(b"");
        half.push_certain(b"ls", 3);
        half.begin(b"ls l");
        assert_eq!((half.shown(b"s1"), half.shown(b"ls1")), (0..1, 0..0));
        let mut late = early(b"");
        late.push_certain(b"ls", 3);
        late.begin(b"ls ");
        assert_eq!(late.shown(b"ls1"), 0..2);
    }
}
