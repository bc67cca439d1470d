//! Turns bytes into calls on a [`Term`]. A scanner handles most input, and passes the remaining sequences to vte.
//!
//! The scanner owns the state between sequences, and the strings. It finds runs of text and checks their UTF-8, parses
//! common control sequences that are complete in the input, and collects the strings of OSC, DCS and APC up to a cap.
//! It passes the remaining sequences (split between reads, or unusual) to vte, one sequence at a time, in small slices.
//! Both paths call the same methods of [`Term`], so both have the same effect.

use crate::Decoding;
use crate::params::{Csi, MAX_PARAMS, Params};
use crate::scan::{ascii_run, string_run, text_run};
use crate::term::Term;
use crate::work;

/// The number of bytes to pass to vte at a time. Some loops of vte are quadratic in the length of a slice.
const VTE_SLICE: usize = 4096;
/// The maximum size of an OSC or APC string in bytes. A longer string is dropped whole.
const STRING_CAP: usize = 1 << 20;
/// The maximum size in bytes of a string that contains a sixel or iTerm2 image.
const IMAGE_CAP: usize = 64 << 20;
/// The size in bytes from which on the terminal stores a string, so that its owner can count and drop it.
const STRING_APART: usize = 64 << 10;
/// The maximum size in bytes of the string buffer that is kept between sequences.
const STRING_KEPT: usize = 4096;

/// The maximum number of bytes of a control sequence that are kept, for kitty's multiple cursors protocol, which has no
/// limit of parameters.
const CSI_CAP: usize = 16 << 10;

/// The beginning of the DCS that starts tmux's control mode (`tmux -CC`), which ends with ST.
const CONTROL_MODE: &[u8] = b"1000p";

/// The lowest final byte of an escape sequence with intermediates, and of a control sequence.
const ESC_FINAL: u8 = 0x30;
const CSI_FINAL: u8 = 0x40;
/// The first byte of a C1 control in UTF-8; the second byte is its code.
const C1_LEAD: u8 = 0xc2;
/// The number of bytes to search for C1 controls at a time.
const C1_WINDOW: usize = 128;
/// The difference between a C1 control and its equivalent after ESC (ECMA-48 5.3).
const C1_TO_FE: u8 = 0x40;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// The position inside a sequence at which the input so far ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Between sequences.
    #[default]
    Ground,
    /// After ESC. vte has received no byte of the sequence.
    Escape,
    /// After ESC and an intermediate byte, which vte has received.
    EscapeIntermediate,
    /// In a control sequence that vte is parsing.
    Csi,
    /// In a string.
    String(StringKind),
    /// In the position after ESC Y of a VT52. Contains the row once it has arrived.
    Position(Option<u8>),
    /// In tmux's control mode. Its lines are never drawn.
    Control,
}

/// The kind of a string that ends with ST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringKind {
    Osc,
    Dcs,
    Apc,
    /// PM and SOS. Their contents are ignored.
    Other,
}

impl StringKind {
    /// The name of the kind in log messages.
    fn name(self) -> &'static str {
        match self {
            Self::Osc => "string of an OSC",
            Self::Dcs => "string of a DCS",
            Self::Apc => "string of an APC",
            Self::Other => "string of a PM or SOS",
        }
    }
}

/// The state of parsing the output of one program. It exists as long as the program's output.
#[derive(Default)]
pub struct Parser {
    state: State,
    vte: vte::Parser,
    /// The last control sequence that the scanner has parsed. Stored to reuse its memory.
    csi: Csi,
    /// The string so far. If `is_apart` is set, the terminal stores it instead.
    string: Vec<u8>,
    is_apart: bool,
    /// The cap that the string has exceeded. `None` if it has not.
    overflow: Option<usize>,
    /// Whether the input ended in the first byte of a possible C1 control. Set only if C1 controls are accepted.
    ends_in_lead: bool,
    /// The incomplete UTF-8 sequence at the end of the input.
    partial: [u8; 4],
    partial_len: usize,
    /// The number of bytes to skip, because they may belong to the character that ended a sequence.
    skipped: usize,
    /// The parameters that are present in the sequence that vte is parsing.
    given: PresentParams,
    /// The image that the last string completed.
    decoding: Option<Decoding>,
}

/// Text that was checked as UTF-8 before it is printed. Checking a large window at once costs less than checking each
/// short run.
#[derive(Default)]
struct Checked<'a> {
    start: usize,
    text: &'a str,
    /// The end of the window. Bytes of the window that are not in `text` are invalid or incomplete UTF-8.
    end: usize,
}

/// The number of bytes to check at once, if there are that many.
const CHECKED: usize = 1 << 8;

impl<'a> Checked<'a> {
    #[inline]
    fn get(&mut self, bytes: &'a [u8], at: usize, len: usize) -> Option<&'a str> {
        if at + len > self.end {
            self.check(bytes, at, len);
        }
        let from = at.checked_sub(self.start)?;
        self.text.get(from..from + len)
    }

    fn check(&mut self, bytes: &'a [u8], at: usize, len: usize) {
        let mut end = bytes.len().min(at + len.max(CHECKED));
        // If the end of the window would split a character, leave that character to the next window.
        while end > at + len && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
        work::add(end - at);
        let text = simdutf8::basic::from_utf8(&bytes[at..end]).unwrap_or_default();
        *self = Self { start: at, text, end };
    }
}

impl Parser {
    /// A parser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies `bytes` to `term` as one batch, which increases its `seq` once. Calls may split sequences anywhere.
    pub fn advance(&mut self, term: &mut Term, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        term.begin_batch();
        let mut at = 0;
        while at < bytes.len() {
            let (taken, decoding) = self.apply(term, &bytes[at..]);
            at += taken;
            if let Some(mut decoding) = decoding {
                decoding.run();
                term.apply_decoded(decoding);
            }
        }
        term.end_batch();
    }

    /// Like [`Parser::advance`], but stops at an image that must be decoded first. Returns the number of bytes applied,
    /// and the image. The caller then releases its lock on the terminal, [decodes](Decoding::run) the image, passes it
    /// to [`Term::decoded`], and calls this method again with the remaining bytes.
    ///
    /// Also stops where tmux's control mode begins ([`Parser::is_in_control_mode`]).
    pub fn advance_to_image(&mut self, term: &mut Term, bytes: &[u8]) -> (usize, Option<Decoding>) {
        if bytes.is_empty() {
            return (0, None);
        }
        term.begin_batch();
        let applied = self.apply(term, bytes);
        term.end_batch();
        applied
    }

    /// Whether the next byte belongs to tmux's control mode (`ESC P 1000 p` to ST). This parser drops the mode's bytes.
    /// A client of tmux can read them first, up to [`Parser::control_mode_len`].
    pub fn is_in_control_mode(&self) -> bool {
        self.state == State::Control
    }

    /// The number of bytes at the start of `bytes` that belong to the control mode. If more bytes follow, they end it.
    pub fn control_mode_len(bytes: &[u8]) -> usize {
        memchr::memchr3(ESC, CAN, SUB, bytes).unwrap_or(bytes.len())
    }

    /// Ends the control mode without its end. The next byte is output again.
    pub fn leave_control_mode(&mut self) {
        if self.state == State::Control {
            self.state = State::Ground;
        }
    }

    /// The bytes that put a new parser into the state of this one. `None` if the input so far ends inside a sequence that
    /// is not written: wait for its end.
    pub fn resume(&self) -> Option<Vec<u8>> {
        match self.state {
            State::Ground if self.skipped == 0 => Some(self.partial[..self.partial_len].to_vec()),
            State::Control => Some([b"\x1bP", CONTROL_MODE].concat()),
            _ => None,
        }
    }

    /// Whether the input so far ends inside an escape or control sequence.
    #[cfg(test)]
    pub(crate) fn is_in_sequence(&self) -> bool {
        matches!(self.state, State::Escape | State::EscapeIntermediate | State::Csi)
    }

    fn apply(&mut self, term: &mut Term, bytes: &[u8]) -> (usize, Option<Decoding>) {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += match self.state {
                State::Ground => self.ground(term, rest),
                State::Escape => self.escape(term, rest),
                State::EscapeIntermediate => self.sequence(term, rest, ESC_FINAL),
                State::Csi => self.sequence(term, rest, CSI_FINAL),
                State::String(kind) => {
                    let len = self.string(term, rest, kind);
                    if self.decoding.is_some() || self.state == State::Control {
                        return (at + len, self.decoding.take());
                    }
                    len
                }
                State::Position(row) => self.position(term, rest[0], row),
                State::Control => self.control_mode(term, rest),
            };
        }
        (at, None)
    }

    /// Handles text and controls up to the next incomplete sequence. Returns the number of bytes handled.
    fn ground(&mut self, term: &mut Term, bytes: &[u8]) -> usize {
        let mut at = self.skip(bytes);
        if self.partial_len > 0 {
            at = self.finish_partial(term, bytes);
            term.drop_stale_prompt();
            if self.state != State::Ground {
                return at;
            }
        }
        let mut checked = Checked::default();
        while at < bytes.len() {
            match bytes[at] {
                ESC => {
                    if let [b'[', rest @ ..] = &bytes[at + 1..]
                        && !term.is_vt52()
                        && let Some(len) = parse_csi(rest, &mut self.csi)
                    {
                        term.csi(&self.csi);
                        at += 2 + len;
                        continue;
                    }
                    self.state = State::Escape;
                    at += 1;
                    if at < bytes.len() {
                        at += self.escape(term, &bytes[at..]);
                        if self.state != State::Ground {
                            return at;
                        }
                    }
                }
                0x20..=0x7e => {
                    let len = ascii_run(&bytes[at..]);
                    term.print_ascii(&bytes[at..], len);
                    at += len;
                    if let [b'\r', b'\n', ..] = bytes[at..] {
                        term.new_line();
                        at += 2;
                        at += term.print_rows(&bytes[at..]);
                    }
                    term.drop_stale_prompt();
                }
                0x7f => {
                    term.delete();
                    at += 1;
                }
                0x80.. => {
                    let len = text_run(c1_window(term, &bytes[at..]));
                    work::add(len);
                    at += match checked.get(bytes, at, len) {
                        Some(text) => len - self.characters(term, &bytes[at..], text).len(),
                        None => self.text(term, &bytes[at..at + len], at + len == bytes.len()),
                    };
                    term.drop_stale_prompt();
                    if self.state != State::Ground {
                        return at;
                    }
                }
                control => {
                    term.execute(control);
                    at += 1;
                }
            }
        }
        at
    }

    /// Prints `bytes`, which contain no C0 control. `last` means that more bytes of the last character may follow.
    /// Returns the number of bytes handled: all of them, unless a C1 control among them begins a sequence.
    fn text(&mut self, term: &mut Term, bytes: &[u8], last: bool) -> usize {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return bytes.len() - self.characters(term, bytes, text).len();
        }
        // std stops at the first invalid byte, so this loop reads each byte once.
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let (valid, error) = match std::str::from_utf8(rest) {
                Ok(_) => (rest.len(), None),
                Err(error) => (error.valid_up_to(), Some(error)),
            };
            work::add(valid + 4);
            if let Ok(text) = std::str::from_utf8(&rest[..valid]) {
                let left = self.characters(term, rest, text).len();
                if self.state != State::Ground {
                    return at + valid - left;
                }
            }
            let Some(error) = error else { break };
            match error.error_len() {
                Some(len) => {
                    term.print_run("\u{fffd}");
                    at += valid + len;
                }
                None if last => {
                    let bad = &rest[valid..];
                    self.partial[..bad.len()].copy_from_slice(bad);
                    self.partial_len = bad.len();
                    break;
                }
                None => {
                    term.print_run("\u{fffd}");
                    break;
                }
            }
        }
        bytes.len()
    }

    /// Prints `text`, a prefix of `bytes`, and executes the C1 controls in it. If a C1 control begins a sequence,
    /// returns the text after it.
    #[inline]
    fn characters<'a>(&mut self, term: &mut Term, bytes: &[u8], text: &'a str) -> &'a str {
        let mut rest = term.print_run_of(bytes, text);
        loop {
            let mut chars = rest.chars();
            let Some(control) = chars.next() else { return rest };
            rest = chars.as_str();
            if term.accepts_c1() {
                self.escape(term, &[control as u8 - C1_TO_FE]);
                if self.state != State::Ground {
                    return rest;
                }
            } else {
                term.execute(control as u8);
            }
            rest = term.print_run(rest);
        }
    }

    /// Completes the character in which the previous input ended.
    fn finish_partial(&mut self, term: &mut Term, bytes: &[u8]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            self.partial[self.partial_len] = byte;
            let partial = self.partial;
            match std::str::from_utf8(&partial[..self.partial_len + 1]) {
                Ok(text) => {
                    self.partial_len = 0;
                    self.characters(term, text.as_bytes(), text);
                    return at + 1;
                }
                Err(error) if error.error_len().is_none() => self.partial_len += 1,
                Err(_) => {
                    term.print_run("\u{fffd}");
                    self.partial_len = 0;
                    return at;
                }
            }
        }
        bytes.len()
    }

    /// Ends the current sequence at a non-ASCII character, with which `bytes` begin. Drops both, like xterm, so that a
    /// truncated sequence swallows no more text.
    fn end_at_character(&mut self, bytes: &[u8]) -> usize {
        self.state = State::Ground;
        self.skipped = match bytes[0] {
            0xc0..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf7 => 3,
            _ => 0,
        };
        1 + self.skip(&bytes[1..])
    }

    /// Counts the bytes at the start of `bytes` that belong to the character that ended a sequence.
    fn skip(&mut self, bytes: &[u8]) -> usize {
        let more = bytes.iter().take(self.skipped).take_while(|&byte| byte & 0xc0 == 0x80).count();
        self.skipped = if more == bytes.len() { self.skipped - more } else { 0 };
        more
    }

    /// Handles the byte after ESC.
    fn escape(&mut self, term: &mut Term, bytes: &[u8]) -> usize {
        self.state = State::Ground;
        match bytes[0] {
            b'Y' if term.is_vt52() => self.state = State::Position(None),
            b']' if term.is_vt52() && term.awaits_shell() => self.begin(StringKind::Osc),
            byte @ 0x30..=0x7e if term.is_vt52() => term.esc(&[], byte),
            b'[' => match parse_csi(&bytes[1..], &mut self.csi) {
                Some(len) => {
                    term.csi(&self.csi);
                    return len + 1;
                }
                None => {
                    self.state = State::Csi;
                    self.string.clear();
                    self.given = PresentParams::default();
                    self.vte.advance(&mut Behind(term, self.given), b"\x1b[");
                }
            },
            b']' => self.begin(StringKind::Osc),
            b'P' => self.begin(StringKind::Dcs),
            b'_' => self.begin(StringKind::Apc),
            b'X' | b'^' => self.begin(StringKind::Other),
            byte @ 0x20..=0x2f => {
                self.state = State::EscapeIntermediate;
                self.vte.advance(&mut Behind(term, self.given), &[ESC, byte]);
            }
            byte @ 0x30..=0x7e => term.esc(&[], byte),
            byte @ (CAN | SUB) => term.execute(byte),
            // The byte may begin a C1 control, which would end the escape sequence.
            C1_LEAD if term.accepts_c1() => return 0,
            ESC | 0x7f => self.state = State::Escape,
            0x80.. => return self.end_at_character(bytes),
            control => {
                self.state = State::Escape;
                term.execute(control);
            }
        }
        1
    }

    /// Passes bytes of a sequence to vte, up to its final byte, which is in `first_final`–0x7e.
    fn sequence(&mut self, term: &mut Term, bytes: &[u8], first_final: u8) -> usize {
        let slice = &bytes[..bytes.len().min(VTE_SLICE)];
        let accepts_c1 = term.accepts_c1();
        // Skip characters up to U+00BF, like xterm: their 8-bit codes would not be final bytes either.
        let end = slice.iter().position(|&b| match b {
            CAN | SUB | ESC | 0xc0.. => b != C1_LEAD || accepts_c1,
            _ => (first_final..=0x7e).contains(&b),
        });
        work::add(end.unwrap_or(slice.len()) + 1);
        slice[..end.unwrap_or(slice.len())].iter().for_each(|&byte| self.given.see(byte));
        if first_final == CSI_FINAL {
            let room = CSI_CAP.saturating_sub(self.string.len());
            self.string.extend(slice[..end.unwrap_or(slice.len())].iter().take(room));
        }
        let Some(end) = end else {
            self.vte.advance(&mut Behind(term, self.given), slice);
            return slice.len();
        };
        match slice[end] {
            // The sequence is abandoned. The ESC of the next sequence resets vte.
            ESC => {
                self.vte.advance(&mut Behind(term, self.given), &slice[..end]);
                self.state = State::Escape;
                end + 1
            }
            // The byte may begin a C1 control, which would replace the sequence.
            C1_LEAD if term.accepts_c1() => {
                self.vte.advance(&mut Behind(term, self.given), &slice[..end]);
                self.state = State::Ground;
                end
            }
            0xc0.. => {
                self.vte.advance(&mut Behind(term, self.given), &slice[..end]);
                end + self.end_at_character(&slice[end..])
            }
            b'q' if first_final == CSI_FINAL && is_extra_cursors(&self.string) => {
                // vte would drop the numbers beyond its limit. The ESC of the next sequence resets vte.
                self.vte.advance(&mut Behind(term, self.given), &slice[..end]);
                self.state = State::Ground;
                term.extra_cursors_of(&self.string);
                self.string.clear();
                self.string.shrink_to(STRING_KEPT);
                end + 1
            }
            _ => {
                self.vte.advance(&mut Behind(term, self.given), &slice[..=end]);
                self.state = State::Ground;
                end + 1
            }
        }
    }

    /// Handles a byte of a VT52 position. Each byte is 32 plus a number, the row first. `row` is set before the column
    /// arrives.
    fn position(&mut self, term: &mut Term, byte: u8, row: Option<u8>) -> usize {
        match (byte, row) {
            (CAN | SUB, _) => {
                self.state = State::Ground;
                term.execute(byte);
            }
            (ESC, _) => self.state = State::Escape,
            (control @ ..0x20, _) => term.execute(control),
            (0x20..=0x7f, None) => self.state = State::Position(Some(byte - 0x20)),
            (0x20..=0x7f, Some(row)) => {
                self.state = State::Ground;
                term.move_vt52(row as usize, byte as usize - 0x20);
            }
            _ => {
                self.state = State::Ground;
                return 0;
            }
        }
        1
    }

    fn begin(&mut self, kind: StringKind) {
        self.string.clear();
        self.is_apart = false;
        self.overflow = None;
        self.ends_in_lead = false;
        self.state = State::String(kind);
    }

    /// Drops bytes of the control mode, up to the control character that ends it.
    fn control_mode(&mut self, term: &mut Term, bytes: &[u8]) -> usize {
        let len = Self::control_mode_len(bytes);
        work::add(len + 1);
        match bytes.get(len) {
            None => return len,
            Some(&ESC) => self.state = State::Escape,
            Some(&control) => {
                self.state = State::Ground;
                term.execute(control);
            }
        }
        len + 1
    }

    /// Begins the control mode if these bytes complete its beginning. Returns the number of bytes of the beginning.
    fn begin_control_mode(&mut self, bytes: &[u8]) -> Option<usize> {
        let rest = CONTROL_MODE.strip_prefix(self.string.as_slice())?;
        if self.is_apart || self.overflow.is_some() || !bytes.starts_with(rest) {
            return None;
        }
        self.string.clear();
        self.state = State::Control;
        Some(rest.len())
    }

    /// Collects bytes of a string, up to its terminator.
    fn string(&mut self, term: &mut Term, bytes: &[u8], kind: StringKind) -> usize {
        if kind == StringKind::Dcs
            && let Some(len) = self.begin_control_mode(bytes)
        {
            return len;
        }
        let bytes = c1_window(term, bytes);
        let len = string_run(bytes);
        work::add(len + 1);
        if term.accepts_c1()
            && let Some(at) = self.string_c1(&bytes[..len])
        {
            match at {
                0 if self.is_apart => drop(term.graphics.arriving.as_mut().and_then(Vec::pop)),
                0 => drop(self.string.pop()),
                _ => self.collect(term, kind, &bytes[..at - 1]),
            }
            // Any C1 control ends the string, like ESC.
            self.end(term, kind, false);
            self.state = State::Ground;
            self.escape(term, &[bytes[at] - C1_TO_FE]);
            return at + 1;
        }
        self.collect(term, kind, &bytes[..len]);
        let Some(&control) = bytes.get(len) else { return len };
        self.ends_in_lead = false;
        match control {
            ESC => {
                // ESC ends the string, whatever follows (as in vte and Williams' diagram).
                self.end(term, kind, false);
                self.state = State::Escape;
            }
            BEL if kind == StringKind::Osc => {
                self.end(term, kind, true);
                self.state = State::Ground;
            }
            CAN | SUB => {
                self.state = State::Ground;
                if std::mem::take(&mut self.is_apart) {
                    term.graphics.arriving = None;
                }
                term.execute(control);
            }
            // An OSC ignores other controls. A DCS contains them (DEC STD 070).
            _ if kind == StringKind::Dcs => self.collect(term, kind, &[control]),
            _ => {}
        }
        len + 1
    }

    /// The index of the second byte of a C1 control in `bytes`, which continue a string.
    fn string_c1(&mut self, bytes: &[u8]) -> Option<usize> {
        let is_second = |byte: &u8| (0x80..=0x9f).contains(byte);
        if self.ends_in_lead && bytes.first().is_some_and(is_second) {
            return Some(0);
        }
        self.ends_in_lead = bytes.last() == Some(&C1_LEAD);
        let lead = |pair: &[u8]| pair[0] == C1_LEAD && is_second(&pair[1]);
        bytes.windows(2).position(lead).map(|at| at + 1)
    }

    fn collect(&mut self, term: &mut Term, kind: StringKind, bytes: &[u8]) {
        if self.overflow.is_some() || kind == StringKind::Other {
            return;
        }
        if !self.is_apart {
            if self.string.len() + bytes.len() <= STRING_APART {
                self.string.extend_from_slice(bytes);
                return;
            }
            self.is_apart = true;
            term.graphics.arriving = Some(std::mem::take(&mut self.string));
        }
        // `None` means that the terminal's owner has dropped the string.
        let string = term.graphics.arriving.as_mut();
        let cap = string.as_ref().map_or(STRING_CAP, |string| cap(kind, string));
        match string.filter(|string| string.len() + bytes.len() <= cap) {
            Some(string) => string.extend_from_slice(bytes),
            None => {
                self.overflow = Some(cap);
                term.graphics.arriving = None;
            }
        }
    }

    fn end(&mut self, term: &mut Term, kind: StringKind, bell: bool) {
        let mut string = match std::mem::take(&mut self.is_apart) {
            true => term.graphics.arriving.take(),
            false => Some(std::mem::take(&mut self.string)),
        };
        if string.is_none() {
            self.overflow.get_or_insert(STRING_CAP);
        }
        if let Some(cap) = self.overflow {
            return term.caps.dropped(kind.name(), cap);
        }
        let string = string.get_or_insert_default();
        match kind {
            StringKind::Osc => term.osc(string, bell),
            StringKind::Dcs => term.dcs(string),
            StringKind::Apc => term.apc(string),
            StringKind::Other => {}
        }
        self.decoding = term.take_decoding();
        if let Some(decoding) = &mut self.decoding {
            decoding.keep_string(string);
        }
        self.string = std::mem::take(string);
        self.string.clear();
        self.string.shrink_to(STRING_KEPT);
    }
}

/// The maximum size of a string. The beginning of the string shows whether it contains an image.
fn cap(kind: StringKind, string: &[u8]) -> usize {
    let is_image = match kind {
        StringKind::Osc => {
            [&b"1337;File="[..], b"1337;FilePart="].iter().any(|start| string.starts_with(start))
        }
        StringKind::Dcs => {
            let digits = string.iter().take_while(|b| matches!(b, b'0'..=b';')).count();
            string.get(digits) == Some(&b'q')
        }
        StringKind::Apc | StringKind::Other => false,
    };
    if is_image { IMAGE_CAP } else { STRING_CAP }
}

/// Limits `bytes` to whole characters that fit in one window. Otherwise, text that C1 controls cut into pieces would be
/// searched again and again. Returns all of `bytes` unless C1 controls are accepted.
#[inline]
fn c1_window<'a>(term: &Term, bytes: &'a [u8]) -> &'a [u8] {
    if !term.accepts_c1() || bytes.len() <= C1_WINDOW {
        return bytes;
    }
    let inside = |end: &usize| bytes[*end] & 0xc0 != 0x80;
    let end = (C1_WINDOW - 3..=C1_WINDOW).rev().find(inside).unwrap_or(C1_WINDOW);
    &bytes[..end]
}

/// Parses the control sequence after `ESC [` into `csi`, and returns its length. `None` unless the sequence is
/// complete, plain and short.
#[inline]
fn parse_csi(bytes: &[u8], csi: &mut Csi) -> Option<usize> {
    let mut at = 0;
    csi.private = 0;
    csi.intermediate = 0;
    if let b'<'..=b'?' = *bytes.first()? {
        csi.private = bytes[0];
        at = 1;
    }
    let values = csi.params.room();
    let (mut len, mut parts, mut part) = (0, 0u32, false);
    let end = loop {
        let mut value = 0u32;
        let mut byte = *bytes.get(at)?;
        work::add(1);
        if len >= 2
            && let Some(eight) = bytes[at..].first_chunk()
            && let Some((number, digits)) = short_number(*eight)
        {
            // Colors have numbers of varying length, which the processor cannot predict. So parse them without
            // branches.
            work::add(digits);
            value = number;
            byte = eight[digits];
            at += digits + 1;
        } else {
            at += 1;
            while byte.wrapping_sub(b'0') < 10 {
                work::add(1);
                value = (value * 10 + (byte - b'0') as u32).min(u16::MAX as u32);
                byte = *bytes.get(at)?;
                at += 1;
            }
        }
        *values.get_mut(len)? = value as u16;
        parts |= (part as u32) << len;
        len += 1;
        match byte {
            b';' | b':' => part = byte == b':',
            0x40..=0x7e => break byte,
            0x20..=0x2f => {
                csi.intermediate = byte;
                let byte = *bytes.get(at)?;
                at += 1;
                if !(0x40..=0x7e).contains(&byte) {
                    return None;
                }
                break byte;
            }
            _ => return None,
        }
    };
    csi.end = end;
    csi.params.set_len(len, parts);
    if matches!(end, b't' | b'T') {
        let mut given = PresentParams::default();
        bytes[..at].iter().for_each(|&byte| given.see(byte));
        csi.params.set_given(given.bits);
    }
    Some(at)
}

/// Whether the bytes of a control sequence before its final byte `q` are those of kitty's multiple cursors protocol.
fn is_extra_cursors(bytes: &[u8]) -> bool {
    let numbers = bytes.strip_prefix(b">").and_then(|rest| rest.strip_suffix(b" "));
    // Controls inside the sequence have been executed.
    let is_part = |byte: &u8| matches!(byte, b'0'..=b';' | ..0x20);
    numbers.is_some_and(|numbers| numbers.iter().all(is_part))
}

/// The decimal number at the start of `bytes`, and its number of digits. `None` if there are four digits or more.
#[inline(always)]
fn short_number(bytes: [u8; 8]) -> Option<(u32, usize)> {
    const EACH: u32 = 0x0101_0101;
    let digits =
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) ^ (EACH * b'0' as u32);
    // The lowest byte that is not a digit has its high bit set in `others`. The bytes above it may have any value.
    let others = (digits.wrapping_add(EACH * 0x76) | digits) & (EACH * 0x80);
    if others == 0 {
        return None;
    }
    let len = others.trailing_zeros() / 8;
    // Shift the last digit to the highest byte. Leading digits that are missing become zeros.
    let digits = digits << (24 - 8 * len) << 8;
    let value = (digits >> 24) + (digits >> 16 & 0xff) * 10 + (digits >> 8 & 0xff) * 100;
    Some((value, len as usize))
}

/// The parameters that are present in a control sequence. XTWINOPS distinguishes a missing parameter from 0, but vte
/// does not.
#[derive(Clone, Copy, Default)]
struct PresentParams {
    /// Bit i is set if parameter i is present.
    bits: u32,
    /// The index of the parameter to which the next digit belongs.
    at: u32,
}

impl PresentParams {
    fn see(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => self.bits |= 1u32.checked_shl(self.at).unwrap_or(0),
            b';' | b':' => self.at += 1,
            _ => {}
        }
    }
}

/// Receives vte's calls for sequences that the scanner has passed to vte.
struct Behind<'a>(&'a mut Term, PresentParams);

impl vte::Perform for Behind<'_> {
    fn execute(&mut self, byte: u8) {
        self.0.execute(byte);
    }

    fn csi_dispatch(
        &mut self,
        params: &vte::Params,
        intermediates: &[u8],
        ignore: bool,
        action: char,
    ) {
        if let Some(mut csi) = csi_from_vte(params, intermediates, ignore, action) {
            if ignore {
                self.0.caps.dropped("parameter of a control sequence", MAX_PARAMS);
            }
            csi.params.set_given(self.1.bits);
            self.0.csi(&csi);
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], ignore: bool, byte: u8) {
        if !ignore {
            self.0.esc(intermediates, byte);
        }
    }
}

/// Converts a sequence from vte. `ignore` means that vte has omitted something: parameters beyond its limit, or
/// intermediates. Returns `None` if there are too many intermediates.
pub(crate) fn csi_from_vte(
    params: &vte::Params,
    intermediates: &[u8],
    ignore: bool,
    action: char,
) -> Option<Csi> {
    let (private, rest) = match intermediates {
        [first @ b'<'..=b'?', rest @ ..] => (*first, rest),
        rest => (0, rest),
    };
    let intermediate = match rest {
        [] => 0,
        [one] => *one,
        _ => return None,
    };
    // vte omits intermediates only after storing two. A DECRQM has two (`?` and `$`), so with too many parameters it is
    // dropped too.
    if ignore && (params.len() < MAX_PARAMS || intermediates.len() == 2) {
        tracing::debug!("control sequence with too many intermediates: dropped");
        return None;
    }
    Some(Csi { private, intermediate, end: action as u8, params: Params::from(params) })
}

#[cfg(test)]
mod tests {
    use super::short_number;

    #[test]
    fn numbers_of_every_length() {
        for text in ["", "0", "7", "42", "255", "999", "007"] {
            let expected = text.parse::<u32>().unwrap_or(0);
            for end in [
                b";1234567",
                b"m\xff\xff\xff9999",
                b":9;9;9;9",
                b"/:\x7f/:123",
                b"\x8a\x8a\xff\x80/123",
            ] {
                let bytes = [text.as_bytes(), end].concat();
                let eight = *bytes.first_chunk().unwrap();
                assert_eq!(short_number(eight), Some((expected, text.len())), "{text} {end:?}");
            }
        }
        assert_eq!(short_number(*b"1234;000"), None);
    }
}
