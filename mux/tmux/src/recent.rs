//! The last lines that a pane has printed. After a pause they show which lines of tmux's history are missing here.
//!
//! Lines are compared by their visible characters without spaces, because tmux stores other escape sequences, and
//! spaces in place of tabs.

/// The maximum number of stored bytes of output.
const BYTES: usize = 16 << 10;
/// The number of lines that are compared.
const LINES: usize = 8;

/// The visible characters of a line.
type Key = Vec<u8>;

/// The end of a pane's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recent {
    bytes: Vec<u8>,
    /// Whether output before `bytes` was dropped, so that the first line is incomplete.
    is_cut: bool,
}

/// The last lines before output was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastLines(Vec<Key>);

impl Recent {
    /// Adds output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let from = bytes.len().saturating_sub(BYTES);
        self.bytes.extend_from_slice(&bytes[from..]);
        self.is_cut |= from > 0;
        // Removes half of the bytes at once, so that each byte moves about once.
        if self.bytes.len() > 2 * BYTES {
            self.bytes.drain(..self.bytes.len() - BYTES);
            self.is_cut = true;
        }
    }

    /// Takes the last complete lines. `None` if there is no text, or if the program moves the cursor to fixed positions:
    /// such a program fills the screen, and its output is not the history.
    pub(crate) fn take(&mut self) -> Option<LastLines> {
        let Self { bytes, is_cut } = std::mem::take(self);
        let (mut lines, _) = keys(&bytes)?;
        if is_cut && !lines.is_empty() {
            lines.remove(0);
        }
        let last = lines.split_off(lines.len().saturating_sub(LINES));
        last.iter().any(|line| !line.is_empty()).then_some(LastLines(last))
    }
}

impl LastLines {
    /// The number of captured lines up to the last line that was printed before. `None` if no captured line is known:
    /// tmux has dropped the known lines from its history, or shows them with other characters.
    pub(crate) fn known_in<'t>(&self, lines: impl Iterator<Item = &'t [u8]>) -> Option<usize> {
        let key = |line: &[u8]| keys(line).map(|(_, key)| key).unwrap_or_default();
        let captured: Vec<Key> = lines.map(key).collect();
        let found = captured.windows(self.0.len()).rposition(|part| part == self.0);
        found.map(|at| at + self.0.len())
    }
}

/// The complete lines of output, and the incomplete last line. `None` if the output moves the cursor to fixed positions,
/// or shows the alternate screen.
fn keys(bytes: &[u8]) -> Option<(Vec<Key>, Key)> {
    let (mut lines, mut line) = (Vec::new(), Key::new());
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\n' => lines.push(std::mem::take(&mut line)),
            // The program writes the line again.
            b'\r' if !rest.is_empty() && !rest.starts_with(b"\n") && !rest.starts_with(b"\r") => {
                line.clear();
            }
            0x1b => rest = after_escape(rest)?,
            0..=b' ' | 0x7f => {}
            byte => line.push(byte),
        }
    }
    Some((lines, line))
}

/// The text after an escape sequence, whose first byte was consumed. `None` for the sequences that [`keys`] refuses.
fn after_escape(text: &[u8]) -> Option<&[u8]> {
    let Some((&first, rest)) = text.split_first() else { return Some(text) };
    match first {
        b'[' => {
            let length = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            let Some(length) = length else { return Some(&[]) };
            let (parameters, last) = (&rest[..length], rest[length]);
            let is_screen = matches!(parameters, b"?47" | b"?1047" | b"?1049");
            let moves = matches!(last, b'H' | b'd' | b'f') || is_screen;
            (!moves).then(|| &rest[length + 1..])
        }
        // OSC, DCS, APC, PM and SOS end with BEL or ST.
        b']' | b'P' | b'_' | b'^' | b'X' => {
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
            let Some(end) = end else { return Some(&[]) };
            let is_st = rest[end..].starts_with(b"\x1b\\");
            Some(&rest[end + if is_st { 2 } else { 1 }..])
        }
        // Character sets have one more byte.
        b'(' | b')' | b'*' | b'+' | b'#' | b'%' => Some(rest.get(1..).unwrap_or_default()),
        _ => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(output: &[u8], captured: &[&str]) -> Option<usize> {
        let mut recent = Recent::default();
        recent.push(output);
        let last = recent.take()?;
        last.known_in(captured.iter().map(|line| line.as_bytes()))
    }

    #[test]
    fn the_last_complete_lines_are_found_in_the_history() {
        let captured = ["one", "two", "three", "four", "five"];
        assert_eq!(known(b"one\r\ntwo\r\nthr", &captured), Some(2));
        assert_eq!(known(b"zero\r\n", &captured), None);
        // The edited line has other characters in tmux.
        assert_eq!(known(b"onf\x08e\r\n", &captured), None);
        assert_eq!(known(b"four\r\nfive\r\n", &captured), Some(5), "nothing is missing");
        // If the lines occur several times, use the last position.
        assert_eq!(known(b"y\r\ny\r\n", &["y", "y", "y", "z"]), Some(3));
    }

    #[test]
    fn escape_sequences_and_spaces_are_no_part_of_a_line() {
        let captured = ["\x1b[31mred\x1b[39m  text", "100%", "next"];
        let output = b"\x1b]2;title\x07\x1b[1;31mred\x1b[m\ttext\r\n 10%\r 99%\r100%\r\r\n\x1b(B";
        assert_eq!(known(output, &captured), Some(2));
    }

    #[test]
    fn a_program_that_fills_the_screen_has_no_lines() {
        for output in [
            &b""[..],
            b"no end of a line",
            b"\r\n\r\n",
            b"a\r\n\x1b[2;1Hb\r\nc\r\n",
            b"a\r\n\x1b[?1049h",
            b"a\r\n\x1b[?1049l",
        ] {
            assert_eq!(known(output, &["a", "b", "c"]), None, "{output:?}");
        }
    }

    #[test]
    fn long_output_is_cut_at_a_line() {
        let mut recent = Recent::default();
        for number in 0..10_000 {
            recent.push(format!("{number}\r\n").as_bytes());
            assert!(recent.bytes.len() <= 2 * BYTES);
        }
        let captured: Vec<String> = (9_000..10_050).map(|number| number.to_string()).collect();
        let captured = captured.iter().map(|line| line.as_bytes());
        assert_eq!(recent.take().unwrap().known_in(captured), Some(1000));
        recent.push(&vec![b'x'; 3 * BYTES]);
        assert_eq!(recent.take(), None);
        // Only the end of a cut line is known.
        let mut long = vec![b'x'; 3 * BYTES];
        long.extend_from_slice(b"\r\nend\r\n");
        recent.push(&long);
        assert_eq!(recent.take().unwrap().0, [b"end".to_vec()]);
    }
}
