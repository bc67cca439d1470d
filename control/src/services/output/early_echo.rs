//! The echo of keys that were typed while the shell went from editing a command's line to running the command.
//!
//! A shell's editor turns the terminal's echo off, and the shell turns it on again before it runs a command. Whether a key in
//! between is echoed depends on when the kernel delivers it. Once the terminal echoes a key, it echoes all later ones. So it
//! shows the last keys, and the output begins with them.

use std::ops::Range;

/// What the terminal shows for a key. `None`: it depends on the terminal's settings and on the line.
fn echo_of(key: u8) -> Option<([u8; 2], usize)> {
    match key {
        // The terminal turns Enter into a line end (ICRNL, ONLCR).
        b'\r' | b'\n' => Some((*b"\r\n", 2)),
        b'\t' | 0x20..=0x7e | 0x80.. => Some(([key, 0], 1)),
        // Signals, and keys that edit the line or stop the output (stty(1): intr, erase, eof, start, stop, susp, rprnt, werase, kill,
        // lnext, quit).
        0x03 | 0x04 | 0x08 | 0x11..=0x13 | 0x15..=0x17 | 0x1a | 0x1c | 0x7f => None,
        // ECHOCTL
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

/// The most bytes of echo that are expected.
const MOST: usize = 4096;

/// The echo of keys that the terminal may or may not echo.
#[derive(Default)]
pub(super) struct EarlyEcho {
    bytes: Vec<u8>,
    /// Where the echo of each key begins.
    keys: Vec<usize>,
    /// The place of the first key that was surely echoed before the command began, and the size of the shell's output then.
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

    /// Appends keys that the terminal echoes before the command begins, after `position` bytes of the shell's output.
    pub(super) fn push_certain(&mut self, input: &[u8], position: usize) {
        let place = self.bytes.len();
        self.certain.get_or_insert((place, position));
        self.push(input);
    }

    /// The command begins. `before`: the shell's output before that.
    pub(super) fn begin(&mut self, before: &[u8]) {
        let Some((place, position)) = self.certain.take() else { return };
        let (before, certain) = (&before[position.min(before.len())..], &self.bytes[place..]);
        // The shell may print something after the echo, such as a title.
        let is_whole = before[sequences(before)..].starts_with(certain);
        let ends = self.keys.iter().copied().chain([self.bytes.len()]).filter(|&end| end > place);
        let mut shown = ends.filter(|end| is_whole || before.ends_with(&certain[..end - place]));
        if let Some(end) = shown.next_back() {
            // What was typed before it has been shown, or never will be.
            self.keys.retain(|&key| key >= end);
            self.keys.iter_mut().for_each(|key| *key -= end);
            self.bytes.drain(..end);
        }
    }

    /// The position of the shell's output has changed.
    pub(super) fn reset_position(&mut self) {
        if let Some((_, position)) = &mut self.certain {
            *position = 0;
        }
    }

    /// The place of the echo that an output begins with.
    pub(super) fn shown(&self, output: &[u8]) -> Range<usize> {
        let start = sequences(output);
        let shown = self.ends().find(|end| output[start..].starts_with(end)).map_or(0, <[u8]>::len);
        start..start + shown
    }

    /// Whether an output may be the beginning of the echo, more of which may come.
    pub(super) fn may_continue(&self, output: &[u8]) -> bool {
        let output = &output[sequences(output)..];
        self.ends().any(|end| end.len() > output.len() && end.starts_with(output))
    }

    /// What the terminal shows if it echoes all keys from a certain one on, the longest first.
    fn ends(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.iter().map(|&key| &self.bytes[key..])
    }
}

/// The size of the escape sequences that an output begins with. fish sets the title right before it runs a command.
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
            // Half of a key is none.
            (b"[[A", 0..0, false),
            (b"", 0..0, true),
            (b"^", 0..0, true),
            (b"^[[", 0..0, true),
            (b"[", 0..0, true),
            (b"A", 0..1, false),
            // A title and a color come first.
            (b"\x1b]0;x\x07\x1b[0;1m[A1", 12..14, false),
            (b"\x1b]0;x\x07", 6..6, true),
            (b"\x1b]0;x", 0..0, false),
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
        // What is shown after Ctrl+C is unknown.
        assert_eq!((early(b"a\x03b").shown(b"ab"), early(b"a\x03b").shown(b"b")), (0..1, 0..0));
    }

    #[test]
    fn what_was_echoed_before_the_command_began_is_not_expected_again() {
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
