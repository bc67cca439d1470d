//! The output of one command, extracted from a pane's bytes as text.
//!
//! Uses the bytes rather than the screen, so that text is complete even if it scrolled away, was cleared since or wrapped.
//! Output that never moves the cursor is returned byte for byte. Other output is returned as the screen would show it.

mod early_echo;
mod echo;

use std::{borrow::Cow, ops::Range, sync::Arc};

use unterm_term::{LineId, Options, Parser, ScreenKind, Size, Term, unescape_command_line};

use self::{early_echo::EarlyEcho, echo::Echo};
use super::kind::Marks;

/// The maximum number of bytes of output that are kept. Beyond it, the oldest bytes are dropped.
const KEPT: usize = 8 << 20;
/// The longest sequence that counts as a mark of shell integration.
const LONGEST_MARK: usize = 512;
/// The maximum number of lines that are kept if the output moves the cursor.
const LINES: usize = 100_000;

/// The nonce of the marks around output that a separate terminal renders.
const MARKED: &str = "output";

/// The marks before and after a command's output.
pub enum Framing {
    /// The documented marker. It was typed together with the command.
    Marker(Marks),
    /// The marks of shell integration (OSC 133 C and D), which carry the pane's nonce.
    Block {
        /// The nonce.
        nonce: Arc<str>,
        /// The typed line. If the shell reports a different line, the mark belongs to another command.
        line: String,
    },
}

/// The output of a command so far.
pub struct Capture {
    framing: Framing,
    begin: Vec<u8>,
    end: Vec<u8>,
    /// The output since the command's start, if the start was seen. Otherwise all bytes since the command was typed.
    raw: Vec<u8>,
    /// End marks begin only at or after this offset.
    searched: usize,
    has_begun: bool,
    /// The mark by which the pane's own shell reports that a line begins to run.
    line_mark: Option<Vec<u8>>,
    /// Whether that mark precedes the command's own begin mark.
    is_line_marked: bool,
    is_nested: bool,
    has_inner_prompt: bool,
    is_cut: bool,
    /// The terminal's echo of input that was typed since the command's beginning arrived.
    echo: Echo,
    /// The echo of keys that were typed before the command's beginning arrived.
    early: EarlyEcho,
    /// The offset where that echo begins.
    early_at: usize,
}

/// The end of a command's output.
#[derive(Debug, PartialEq, Eq)]
pub struct End {
    /// The exit code, if the shell reported it.
    pub exit_code: Option<i32>,
    /// The length of the output in bytes.
    length: usize,
}

/// The start of every shell integration mark.
const SEMANTIC: &[u8] = b"\x1b]133;";

impl Capture {
    /// A capture that waits for these marks.
    pub fn new(framing: Framing) -> Self {
        let (begin, end) = match &framing {
            Framing::Marker(marks) => (marks.begin(), marks.end().into_bytes()),
            Framing::Block { nonce, .. } => (line_mark(nonce), SEMANTIC.to_vec()),
        };
        Self {
            framing,
            begin,
            end,
            raw: Vec::new(),
            searched: 0,
            has_begun: false,
            line_mark: None,
            is_line_marked: false,
            is_nested: false,
            has_inner_prompt: false,
            is_cut: false,
            echo: Echo::default(),
            early: EarlyEcho::default(),
            early_at: 0,
        }
    }

    /// Watches for the mark by which the pane's own shell, whose marks carry `nonce`, reports that a line begins to run.
    pub fn watch_line(&mut self, nonce: &str) {
        self.line_mark = Some(line_mark(nonce));
    }

    /// Whether the pane's own shell runs the command: it reported that a line begins to run, and then the command began.
    pub fn is_line_marked(&self) -> bool {
        self.is_line_marked
    }

    /// Records input that was typed after the command's line. `is_echoed`: whether the terminal itself echoes it. The
    /// echo is not output of the command, so it is removed. Until the command begins, a shell may turn the echo on before
    /// the input arrives.
    pub fn expect_echo(&mut self, input: &[u8], is_echoed: bool) {
        match (self.has_begun, is_echoed) {
            (false, true) => return self.early.push_certain(input, self.raw.len()),
            (false, false) => return self.early.push(input),
            (true, false) => return,
            (true, true) => {}
        }
        if self.early.may_continue(&self.raw[self.early_at.min(self.raw.len())..]) {
            return self.early.push(input);
        }
        let shown = self.early_range(&self.raw);
        self.early = EarlyEcho::default();
        self.searched = self.searched.saturating_sub(shown.len());
        self.echo.shift(shown.len());
        self.raw.drain(shown);
        self.echo.expect(input, self.raw.len());
    }

    /// The range of the echo of early keys in the output.
    fn early_range(&self, raw: &[u8]) -> Range<usize> {
        let at = self.early_at.min(raw.len());
        let shown = self.early.shown(&raw[at..]);
        at + shown.start..at + shown.end
    }

    /// Appends bytes of the pane's program. Call [`Capture::end`] afterwards.
    pub fn push(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        if let Some(first) = self.echo.remove(&mut self.raw) {
            self.searched = self.searched.min(first);
        }
        while !self.has_begun {
            let from = self.searched.saturating_sub(self.begin.len());
            let Some(at) = memchr::memmem::find(&self.raw[from..], &self.begin) else { break };
            self.has_begun = match &self.framing {
                Framing::Marker(_) => true,
                Framing::Block { line, .. } => is_of(&self.raw[..from + at], line),
            };
            if self.has_begun {
                let before = &self.raw[..from + at];
                let mark = self.line_mark.as_deref();
                self.is_line_marked =
                    mark.is_some_and(|mark| memchr::memmem::find(before, mark).is_some());
                self.early.begin(before);
            } else {
                self.early.reset_position();
            }
            self.raw.drain(..from + at + self.begin.len());
            self.searched = 0;
            if self.has_begun {
                self.early_at = self.early.position(&self.raw);
            }
        }
    }

    /// The next end mark in the bytes so far. If the mark turns out to be another command's, call this again.
    pub fn end(&mut self) -> Option<End> {
        let end = match self.framing {
            Framing::Marker(_) => self.find_marker(),
            Framing::Block { .. } => self.find_block_end(),
        };
        if end.is_none() && self.raw.len() > KEPT + KEPT / 4 {
            let excess = self.raw.len() - KEPT;
            self.raw.drain(..excess);
            self.searched = self.searched.saturating_sub(excess);
            self.echo.shift(excess);
            self.early = EarlyEcho::default();
            self.early_at = 0;
            self.is_cut = true;
        }
        end
    }

    /// The end marker and the line end after it, with the exit code between them.
    fn find_marker(&mut self) -> Option<End> {
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
        self.searched += self.end.len();
        Some(End { exit_code, length })
    }

    /// Finds the next end mark that contains the pane's own nonce: `OSC 133 ; D ; code ; nonce`.
    fn find_block_end(&mut self) -> Option<End> {
        let Framing::Block { nonce, .. } = &self.framing else { return None };
        if !self.has_begun {
            self.searched = self.raw.len();
            return None;
        }
        let own = format!(";nonce={nonce}");
        loop {
            let from = self.searched;
            let Some(at) = memchr::memmem::find(&self.raw[from..], SEMANTIC) else {
                self.searched = self.raw.len().saturating_sub(SEMANTIC.len()).max(from);
                return None;
            };
            let length = from + at;
            self.searched = length;
            let rest = &self.raw[length + SEMANTIC.len()..];
            // If no end is found, the mark is incomplete, or it is too long to be a mark.
            let end = match memchr::memchr2(0x07, 0x1b, &rest[..rest.len().min(LONGEST_MARK)]) {
                Some(end) => end,
                None if rest.len() < LONGEST_MARK => return None,
                None => 0,
            };
            let mark = &rest[..end];
            self.searched = length + SEMANTIC.len() + end;
            let Some(mark) = mark.strip_suffix(own.as_bytes()) else { continue };
            match mark.split_first() {
                Some((b'C', _)) => self.is_nested = true,
                Some((b'A' | b'P', _)) => self.has_inner_prompt = true,
                Some((b'D', code)) => {
                    let code = str::from_utf8(code).ok().map(|code| code.trim_start_matches(';'));
                    let exit_code = code.and_then(|code| code.parse().ok());
                    return Some(End { exit_code, length });
                }
                _ => {}
            }
        }
    }

    /// The last end mark with the pane's own nonce. If the program around the command has ended, and the command's own
    /// mark can't arrive any longer, this mark belongs to that program.
    pub fn outer_end(&self, nonce: &str) -> Option<End> {
        let own = format!(";nonce={nonce}");
        let length = memchr::memmem::rfind(&self.raw, b"\x1b]133;D")?;
        let rest = &self.raw[length..];
        let mark = &rest[..memchr::memchr(0x07, rest)?];
        mark.ends_with(own.as_bytes()).then_some(End { exit_code: None, length })
    }

    /// Whether a shell inside the command has started commands of its own. Their end marks look like the command's own.
    pub fn is_nested(&self) -> bool {
        self.is_nested
    }

    /// Whether a shell inside the command has shown a prompt.
    pub fn has_inner_prompt(&self) -> bool {
        self.has_inner_prompt
    }

    /// Whether the output before the command's start contains a prompt after the first `position` bytes.
    pub fn has_prompt_behind(&self, position: usize) -> bool {
        let raw = &self.raw[position.min(self.raw.len())..];
        [&b"\x1b]133;A;"[..], b"\x1b]133;P;k=i;"]
            .into_iter()
            .any(|mark| memchr::memmem::find(raw, mark).is_some())
    }

    /// Whether the shell has started the command.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Records that some of the pane's bytes were missed.
    pub fn gap(&mut self) {
        self.is_cut = true;
    }

    /// The number of bytes that are kept.
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether part of the output was dropped or missed.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The output as a terminal of this size shows it, without the last line end. If `end` is `None`, returns the
    /// output so far.
    pub fn shown(&self, end: Option<&End>, size: Size) -> Shown {
        let so_far = || self.echo.length_before(&self.raw);
        let raw = &self.raw[..end.map_or_else(so_far, |end| end.length)];
        if self.has_begun {
            let at = self.early_at.min(raw.len());
            let shown = match end.is_none() && self.early.may_continue(&raw[at..]) {
                true => at..raw.len(),
                false => self.early_range(raw),
            };
            let raw = match shown.is_empty() {
                true => Cow::Borrowed(raw),
                false => Cow::Owned([&raw[..shown.start], &raw[shown.end..]].concat()),
            };
            let raw = &*raw;
            // The bytes may end with the first part of an end mark, which is not output.
            let raw = match (end, &self.framing) {
                (Some(_), Framing::Block { .. }) => without_eol_mark(raw, size.cols),
                (Some(_), Framing::Marker(_)) => raw,
                (None, _) => &raw[..raw.len() - partial(raw, &self.end)],
            };
            let mut shown = shown_on_screen(raw, size);
            if shown.text.ends_with('\n') {
                shown.text.pop();
            }
            return shown;
        }
        // The begin mark is missing: a program in between, such as another multiplexer, has dropped it. The best guess
        // is the text after the echo of the typed line.
        let Framing::Marker(marks) = &self.framing else { return Shown::default() };
        let text = rendered(raw, size).text;
        let echo = text.rfind(&marks.echo()).and_then(|at| Some(at + text[at..].find('\n')? + 1));
        let text = match (echo, end) {
            (from, Some(_)) => text[from.unwrap_or(0)..].trim_start_matches('\n').to_owned(),
            (_, None) => String::new(),
        };
        Shown { text, is_cut: false }
    }
}

/// The mark by which a shell with this nonce reports that a line begins to run.
fn line_mark(nonce: &str) -> Vec<u8> {
    format!("\x1b]133;C;nonce={nonce}\x07").into_bytes()
}

/// Whether the command that begins after these bytes was typed as `line`. Compares the first letters and digits of
/// `line` with those of the line that the shell reports (OSC 633 E). True if the shell reports no line.
fn is_of(before: &[u8], line: &str) -> bool {
    const MARK: &[u8] = b"\x1b]633;E;";
    const COMPARED: usize = 60;
    let Some(at) = memchr::memmem::rfind(before, MARK) else { return true };
    let told = &before[at + MARK.len()..];
    let told = &told[..memchr::memchr2(0x07, b';', told).unwrap_or(told.len())];
    let told = unescape_command_line(told).into_iter().filter(u8::is_ascii_alphanumeric);
    let typed = line.bytes().filter(u8::is_ascii_alphanumeric);
    told.take(COMPARED).eq(typed.take(COMPARED))
}

/// Removes the text that zsh appends before it reports the end of a command (zshoptions(1), PROMPT_SP): a styled mark,
/// blanks up to the last column, and a return to the first column.
fn without_eol_mark(raw: &[u8], cols: u16) -> &[u8] {
    let raw = without_trap_traces(without_directory(raw));
    let Some(rest) = raw.strip_suffix(b"\r \r") else { return raw };
    let blanks = rest.iter().rev().take_while(|&&byte| byte == b' ').count();
    if blanks == 0 || blanks > usize::from(cols) {
        return raw;
    }
    let unstyled = |mut rest: &'_ [u8]| {
        while let Some(at) = memchr::memrchr(0x1b, rest)
            && let [0x1b, b'[', parameters @ .., b'm'] = &rest[at..]
            && parameters.iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
        {
            rest = &rest[..at];
        }
        rest.len()
    };
    let rest = &rest[..rest.len() - blanks];
    let styled = &rest[..unstyled(rest)];
    let Some(marked) = styled.strip_suffix(b"%").or_else(|| styled.strip_suffix(b"#")) else {
        // zsh is configured to use an empty mark.
        return rest;
    };
    &marked[..unstyled(marked)]
}

/// Removes the directory (OSC 7) that shells report right before the end of a command.
fn without_directory(raw: &[u8]) -> &[u8] {
    let at = memchr::memmem::rfind(raw, b"\x1b]7;");
    let report = at.filter(|&at| memchr::memchr(0x07, &raw[at..]) == Some(raw.len() - at - 1));
    report.map_or(raw, |at| &raw[..at])
}

/// Removes the traces of a user's DEBUG trap that ran at the beginning of zsh's first hook. No hook can remove these
/// traces, because they precede the hook's own first command. zsh calls the hook after it has returned to the first
/// column, and the trace's prompt names the hook (zshparam(1), PS4).
fn without_trap_traces(raw: &[u8]) -> &[u8] {
    const RETURN: &[u8] = b"\r \r";
    let Some(at) = memchr::memmem::rfind(raw, RETURN) else { return raw };
    let (before, traces) = raw.split_at(at + RETURN.len());
    let first = traces.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if memchr::memmem::find(first, b"precmd").is_some() { before } else { raw }
}

/// Output as a terminal shows it.
#[derive(Debug, Default)]
pub struct Shown {
    /// The text.
    pub text: String,
    /// Whether the beginning of the text is missing: the output erased it, or has too many lines.
    pub is_cut: bool,
}

/// The output as text: byte for byte if it never moves the cursor, otherwise as a screen of this size shows it.
pub fn visible(raw: &[u8], size: Size) -> Shown {
    shown_on_screen(without_eol_mark(raw, size.cols), size)
}

fn shown_on_screen(raw: &[u8], size: Size) -> Shown {
    match flowing(raw) {
        Some(text) => Shown { text, is_cut: false },
        None => rendered(raw, size),
    }
}

/// The length of the longest end of `raw` that is a beginning of `mark`.
fn partial(raw: &[u8], mark: &[u8]) -> usize {
    let longest = mark.len().min(raw.len());
    (1..=longest).rev().find(|&n| raw.ends_with(&mark[..n])).unwrap_or(0)
}

/// The output as text without colors and titles, and with `\n` as line end. `None` if the output moves the cursor.
fn flowing(raw: &[u8]) -> Option<String> {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'\r' => {
                // Terminals send a line end as CR LF. Some programs turn CR LF into CR CR LF.
                let returns = rest.iter().take_while(|&&byte| byte == b'\r').count();
                let is_at_start = text.last().is_none_or(|&last| last == b'\n');
                if rest.get(returns) != Some(&b'\n') && !is_at_start {
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
            // NUL, BEL and DEL have no effect.
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

/// Skips an escape sequence that changes no text, and returns the bytes after it. `None` for any other sequence
/// (ECMA-48, xterm ctlseqs).
fn skip_escape(rest: &[u8]) -> Option<&[u8]> {
    let (&kind, rest) = rest.split_first()?;
    match kind {
        b'[' => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            let (parameters, after) = (&rest[..end], &rest[end + 1..]);
            let is_harmless = match rest[end] {
                b'm' => true,
                // Erasing to the right has no effect, because there is no text to the right of a cursor that never
                // moved back.
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
        // Control strings, such as OSC and DCS. OSC may also end with BEL.
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
        // Sequences that select ASCII as G0, or set a keypad mode.
        b'(' => rest.strip_prefix(b"B"),
        b'=' | b'>' => Some(rest),
        _ => None,
    }
}

/// The output as a screen of this size shows it at the end, including rows that scrolled off. Wrapped rows are joined.
fn rendered(raw: &[u8], size: Size) -> Shown {
    let nonce = Some(MARKED.into());
    let mut term = Term::new(size, Options { scrollback: LINES, nonce, ..Options::default() });
    let mut parser = Parser::new();
    // The terminal reports whether the output of a marked command is complete.
    parser.advance(&mut term, format!("\x1b]133;A\x07\x1b]133;C;nonce={MARKED}\x07").as_bytes());
    for slice in raw.chunks(64 << 10) {
        parser.advance(&mut term, slice);
        // This terminal has no program that could read the replies.
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
    let is_cut = term.command(1).is_some_and(|command| term.is_cut(command));
    Shown { text, is_cut }
}

#[cfg(test)]
mod tests;
