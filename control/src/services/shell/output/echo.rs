//! The terminal's echo of input that was typed while a command runs.
//!
//! The terminal echoes an input once, after the output that was on its way when the input was typed. Programs print whole
//! lines as a rule, so the echo is expected where the output ended then, and at the beginnings of lines after that. How
//! the stream is split into reads makes no difference.
//!
//! The bytes do not say who wrote them. So output is taken for the echo in one case: a line that begins with the same text
//! follows the place where the output ended then, within [`BEFORE_KEYS`] bytes ([`BEFORE_LINE`] for an input that ends
//! with Enter), and no echo precedes that line. This occurs if the line was on its way when the input was typed, if the
//! terminal writes the echo inside a line, or if a program turns the echo off before the terminal handles the input.

use std::collections::VecDeque;

use super::early_echo::append;

/// The maximum number of inputs whose echo is expected.
const MOST: usize = 1024;
/// The maximum number of bytes of output before the echo of a line that was entered.
const BEFORE_LINE: usize = 4096;
/// The maximum number of bytes of output before the echo of other keys, which are short and therefore ambiguous.
const BEFORE_KEYS: usize = 256;

/// The echo that is expected.
#[derive(Default)]
pub(super) struct Echo {
    /// The echo of each input, in order.
    inputs: VecDeque<Vec<u8>>,
    /// The offset in the output at or after which the first of them is expected.
    at: usize,
}

/// The place of an echo in an output.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// The whole echo begins at this offset.
    Whole(usize),
    /// The output ends with the beginning of the echo, at this offset.
    Part(usize),
    /// The output is too short to decide.
    Later,
    /// The echo is not there.
    Nowhere,
}

impl Echo {
    /// Expects the echo of an input at the end of an output of this length, or later.
    pub(super) fn expect(&mut self, input: &[u8], length: usize) {
        let mut echo = Vec::new();
        append(&mut echo, input);
        if echo.is_empty() || self.inputs.len() >= MOST {
            return;
        }
        if self.inputs.is_empty() {
            self.at = length;
        }
        self.inputs.push_back(echo);
    }

    /// Notes that `length` bytes were removed from the output before the expected echo.
    pub(super) fn shift(&mut self, length: usize) {
        self.at = self.at.saturating_sub(length);
    }

    /// Removes the echo that has arrived. Returns the offset of the first removed byte.
    pub(super) fn remove(&mut self, output: &mut Vec<u8>) -> Option<usize> {
        let mut first = None;
        while let Some(echo) = self.inputs.front() {
            match place(&output[self.at.min(output.len())..], echo) {
                Place::Whole(offset) => {
                    self.at += offset;
                    output.drain(self.at..self.at + echo.len());
                    first.get_or_insert(self.at);
                }
                Place::Nowhere => {}
                Place::Part(_) | Place::Later => break,
            }
            self.inputs.pop_front();
        }
        first
    }

    /// The length of the output without the beginning of an echo at its end.
    pub(super) fn length_before(&self, output: &[u8]) -> usize {
        let at = self.at.min(output.len());
        match self.inputs.front().map(|echo| place(&output[at..], echo)) {
            Some(Place::Part(offset)) => at + offset,
            _ => output.len(),
        }
    }
}

/// Finds an echo in the output after the input was typed.
fn place(output: &[u8], echo: &[u8]) -> Place {
    let most = if echo.ends_with(b"\n") { BEFORE_LINE } else { BEFORE_KEYS };
    let is_beginning = |at: usize| at == 0 || matches!(output[at - 1], b'\r' | b'\n');
    for at in (0..output.len().min(most)).filter(|&at| is_beginning(at)) {
        let length = (output.len() - at).min(echo.len());
        if output[at..at + length] == echo[..length] {
            return if length == echo.len() { Place::Whole(at) } else { Place::Part(at) };
        }
    }
    if output.len() < most { Place::Later } else { Place::Nowhere }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output without the echo of the inputs, which were typed after its first `length` bytes. Checks that the reads
    /// make no difference.
    fn without(inputs: &[&[u8]], length: usize, output: &str) -> String {
        let mut texts: Vec<_> = (length..=output.len())
            .flat_map(|first| (first..=output.len()).map(move |second| [first, second]))
            .map(|cuts| {
                let mut raw = output.as_bytes()[..length].to_vec();
                let mut echo = Echo::default();
                inputs.iter().for_each(|input| echo.expect(input, raw.len()));
                let mut from = length;
                for to in cuts.into_iter().chain([output.len()]) {
                    raw.extend_from_slice(&output.as_bytes()[from..to]);
                    echo.remove(&mut raw);
                    from = to;
                }
                String::from_utf8(raw).unwrap()
            })
            .collect();
        texts.dedup();
        assert_eq!(texts.len(), 1, "{inputs:?} {output:?}: {texts:?}");
        texts.remove(0)
    }

    #[test]
    fn an_echo_is_removed_wherever_the_reads_end() {
        for (inputs, length, output, expected) in [
            (&[&b"ls\r"[..]][..], 0, "ls\r\nout\r\n", "out\r\n"),
            (&[b"ls\r"], 0, "out\r\nls\r\nmore\r\n", "out\r\nmore\r\n"),
            (&[b"ls\r"], 3, "50%ls\r\nmore\r\n", "50%more\r\n"),
            (&[b"ls\r"], 0, "details\r\nls\r\nmore", "details\r\nmore"),
            (&[b"l", b"s", b"\r"], 0, "lout\r\ns\r\nmore", "out\r\nmore"),
            (&[b"l", b"s", b"\r"], 0, "out\r\nls\r\nmore", "out\r\nmore"),
            (&[b"a", b"b"], 0, "10%\ra20%\rb30%\r\n", "10%\r20%\r30%\r\n"),
            // A program that repeats its input.
            (&[b"hi\r"], 0, "hi\r\nhi\r\n", "hi\r\n"),
            // The terminal did not echo.
            (&[b"ls\r"], 0, "out\r\nless\r\nl", "out\r\nless\r\nl"),
            (&[b"\x03"], 0, "^C\r\n", "^C\r\n"),
        ] {
            assert_eq!(without(inputs, length, output), expected, "{output:?}");
        }
    }

    #[test]
    fn an_echo_that_never_comes_is_given_up() {
        let mut echo = Echo::default();
        echo.expect(b"ls\r", 0);
        let mut raw = b"out\r\n".repeat(BEFORE_LINE / 5 + 1);
        assert_eq!(echo.remove(&mut raw), None);
        let length = raw.len();
        raw.extend_from_slice(b"ls\r\n");
        assert_eq!((echo.remove(&mut raw), raw.len()), (None, length + 4));
    }

    #[test]
    fn the_beginning_of_an_echo_is_not_shown_yet() {
        let mut echo = Echo::default();
        echo.expect(b"ls\r", 0);
        let mut raw = b"out\r\nl".to_vec();
        assert_eq!((echo.remove(&mut raw), echo.length_before(&raw)), (None, 5));
        raw.extend_from_slice(b"ess");
        assert_eq!((echo.remove(&mut raw), echo.length_before(&raw)), (None, raw.len()));
    }
}
