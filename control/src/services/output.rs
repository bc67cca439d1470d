//! The output of one command, cut out of the bytes of a pane, as text.
//!
//! Bytes, not the screen: what scrolled away, was cleared, or lay in wrapped rows is all there. Text that only flows
//! comes back byte for byte; output that moves the cursor comes back as the screen would show it.

use unterm_term::{LineId, Options, Parser, ScreenKind, Size, Term};

use super::shell::Marks;

/// The most bytes of output that are kept; of more, the oldest are dropped.
const KEPT: usize = 8 << 20;
/// The most lines kept of output that moves the cursor.
const LINES: usize = 100_000;

/// What has come of a command so far.
pub struct Capture {
    begin: Vec<u8>,
    end: Vec<u8>,
    echo: String,
    /// The output, from its beginning if that was seen; else everything since the command was typed.
    raw: Vec<u8>,
    /// No end mark begins before here.
    searched: usize,
    has_begun: bool,
    is_cut: bool,
}

/// The end of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct End {
    /// The exit code, where the shell told.
    pub exit_code: Option<i32>,
    /// Where in the bytes the output ends.
    length: usize,
}

impl Capture {
    /// Waits for these marks.
    pub fn new(marks: &Marks) -> Self {
        Self {
            begin: marks.begin(),
            end: marks.end().into_bytes(),
            echo: marks.echo(),
            raw: Vec::new(),
            searched: 0,
            has_begun: false,
            is_cut: false,
        }
    }

    /// Adds what the pane's program wrote. Returns the end once it is there.
    pub fn push(&mut self, bytes: &[u8]) -> Option<End> {
        self.raw.extend_from_slice(bytes);
        if !self.has_begun {
            let from = self.searched.saturating_sub(self.begin.len());
            if let Some(at) = memchr::memmem::find(&self.raw[from..], &self.begin) {
                self.raw.drain(..from + at + self.begin.len());
                self.searched = 0;
                self.has_begun = true;
            }
        }
        let end = self.find_end();
        if end.is_none() && self.raw.len() > KEPT + KEPT / 4 {
            let excess = self.raw.len() - KEPT;
            self.raw.drain(..excess);
            self.searched = self.searched.saturating_sub(excess);
            self.is_cut = true;
        }
        end
    }

    /// The end mark and the line end behind it, with the exit code between them.
    fn find_end(&mut self) -> Option<End> {
        let from = self.searched;
        let Some(at) = memchr::memmem::find(&self.raw[from..], &self.end) else {
            self.searched = self.raw.len().saturating_sub(self.end.len());
            return None;
        };
        let length = from + at;
        self.searched = length;
        let rest = &self.raw[length + self.end.len()..];
        let line = &rest[..memchr::memchr2(b'\r', b'\n', rest)?];
        let exit_code = str::from_utf8(line).ok().and_then(|line| line.trim().parse().ok());
        Some(End { exit_code, length })
    }

    /// Whether the command has been reached by the shell.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Some of the pane's bytes were missed.
    pub fn gap(&mut self) {
        self.is_cut = true;
    }

    /// Bytes that have come and are kept.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether some of the output was dropped or missed.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The output up to its end, or up to now, as a terminal of this size shows it; without its last line end.
    pub fn text(&self, end: Option<&End>, size: Size) -> String {
        let raw = &self.raw[..end.map_or(self.raw.len(), |end| end.length)];
        if self.has_begun {
            // An unfinished end mark is none of the output.
            let raw = match end {
                Some(_) => raw,
                None => &raw[..raw.len() - partial(raw, &self.end)],
            };
            let mut text = flowing(raw).unwrap_or_else(|| rendered(raw, size));
            if text.ends_with('\n') {
                text.pop();
            }
            return text;
        }
        // Something between us and the shell (another multiplexer) dropped the begin mark: what follows the echo of the
        // typed line is the best there is.
        let text = rendered(raw, size);
        let echo = text.rfind(&self.echo).and_then(|at| Some(at + text[at..].find('\n')? + 1));
        match (echo, end) {
            (from, Some(_)) => text[from.unwrap_or(0)..].trim_start_matches('\n').to_owned(),
            (_, None) => String::new(),
        }
    }
}

/// How many of the last bytes of `raw` begin `mark`.
fn partial(raw: &[u8], mark: &[u8]) -> usize {
    let longest = mark.len().min(raw.len());
    (1..=longest).rev().find(|&n| raw.ends_with(&mark[..n])).unwrap_or(0)
}

/// Output that only flows, as text: colours and titles dropped, line ends as `\n`. `None`: it moves the cursor.
fn flowing(raw: &[u8]) -> Option<String> {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'\r' => {
                // Terminals write a line end as CR LF; some programs make that CR CR LF.
                let returns = rest.iter().take_while(|&&byte| byte == b'\r').count();
                if rest.get(returns) != Some(&b'\n') {
                    return None;
                }
                rest = &rest[returns..];
                continue;
            }
            0x1b => {
                rest = skip_escape(after)?;
                continue;
            }
            b'\n' | b'\t' | 0x20..=0x7e | 0x80.. => text.push(byte),
            // NUL, BEL and DEL do nothing.
            0 | 0x07 | 0x7f => {}
            _ => return None,
        }
        rest = after;
    }
    Some(
        String::from_utf8(text)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
    )
}

/// What follows an escape sequence that changes no text before or after it (ECMA-48, xterm ctlseqs).
fn skip_escape(rest: &[u8]) -> Option<&[u8]> {
    let (&kind, rest) = rest.split_first()?;
    match kind {
        b'[' => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            let (parameters, after) = (&rest[..end], &rest[end + 1..]);
            let is_harmless = match rest[end] {
                b'm' => true,
                // Nothing is right of a cursor that never moved back.
                b'K' => matches!(parameters, b"" | b"0"),
                b'h' | b'l' => match parameters.strip_prefix(b"?") {
                    Some(modes) => modes.split(|&byte| byte == b';').all(|mode| {
                        !matches!(mode, b"47" | b"1047" | b"1049" | b"3" | b"6" | b"7")
                    }),
                    None => false,
                },
                _ => false,
            };
            is_harmless.then_some(after)
        }
        // Strings: OSC ends also with BEL.
        b']' => {
            let end = memchr::memchr2(0x07, 0x1b, rest)?;
            if rest[end] == 0x07 {
                Some(&rest[end + 1..])
            } else {
                rest[end + 1..].strip_prefix(b"\\")
            }
        }
        b'P' | b'_' | b'^' | b'X' => {
            let end = memchr::memmem::find(rest, b"\x1b\\")?;
            Some(&rest[end + 2..])
        }
        // ASCII as G0, and the keypad's modes.
        b'(' => rest.strip_prefix(b"B"),
        b'=' | b'>' => Some(rest),
        _ => None,
    }
}

/// Output as a screen of this size shows it at the end, with what scrolled out of it; wrapped rows joined.
fn rendered(raw: &[u8], size: Size) -> String {
    let mut term = Term::new(size, Options { scrollback: LINES, ..Options::default() });
    let mut parser = Parser::new();
    for slice in raw.chunks(64 << 10) {
        parser.advance(&mut term, slice);
        // Nobody is there to hear them.
        term.take_replies();
        term.take_events();
    }
    let first = match term.screen() {
        ScreenKind::Main => term.oldest(),
        ScreenKind::Alternate => term.live_top(),
    };
    let last = term.live_top().0 + u64::from(term.size().rows);
    let mut text = String::new();
    for line in (first.0..last).map(LineId) {
        term.row_text(line, &mut text);
        if !term.is_wrapped(line) {
            text.push('\n');
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

#[cfg(test)]
mod tests;
