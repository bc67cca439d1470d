//! Splits the bytes of the control mode into lines.

/// The maximum length of a line in bytes. tmux sends a few KiB of output in a line. The rest of a longer line is
/// dropped.
pub(crate) const LINE_CAP: usize = 1 << 20;

/// Collects lines.
#[derive(Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    is_too_long: bool,
}

/// A step through the bytes.
pub(crate) enum Step {
    /// A complete line, without its end. `None`: the line was longer than [`LINE_CAP`].
    Line(Option<Vec<u8>>),
    /// All bytes were consumed, and the line is not complete.
    Partial,
}

impl Lines {
    /// Consumes bytes up to the end of a line. Returns the number of bytes consumed.
    pub(crate) fn step(&mut self, bytes: &[u8]) -> (usize, Step) {
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if self.partial.len() + part.len() > LINE_CAP {
            self.is_too_long = true;
            self.partial = Vec::new();
        }
        if !self.is_too_long {
            self.partial.extend_from_slice(part);
        }
        let Some(end) = end else { return (bytes.len(), Step::Partial) };
        if std::mem::take(&mut self.is_too_long) {
            return (end + 1, Step::Line(None));
        }
        let mut line = std::mem::take(&mut self.partial);
        // The pty between tmux and the client may add a CR.
        while line.last() == Some(&b'\r') {
            line.pop();
        }
        (end + 1, Step::Line(Some(line)))
    }

    /// Whether no byte of the next line has arrived.
    pub(crate) fn is_at_start(&self) -> bool {
        self.partial.is_empty() && !self.is_too_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in pieces {
            let mut rest = *piece;
            while !rest.is_empty() {
                let (taken, step) = lines.step(rest);
                rest = &rest[taken..];
                if let Step::Line(line) = step {
                    found.push(line);
                }
            }
        }
        found
    }

    #[test]
    fn lines_end_at_a_newline_wherever_the_bytes_are_split() {
        let whole = b"%begin 1 2 1\r\n\n%output %0 a\r\n";
        let expected = lines(&[whole]);
        assert_eq!(expected.len(), 3);
        assert_eq!(expected[0].as_deref(), Some(&b"%begin 1 2 1"[..]));
        for at in 0..whole.len() {
            assert_eq!(lines(&[&whole[..at], &whole[at..]]), expected, "{at}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_alone() {
        let long = vec![b'x'; LINE_CAP / 2 + 1];
        let found = lines(&[&long, &long, &long, b"\nnext\n"]);
        assert_eq!(found, [None, Some(b"next".to_vec())]);
    }
}
