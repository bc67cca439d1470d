//! A line that callers typed: the way in which a program reads it, and the positions where it is known to be shown.

use std::ops::Range;

use unterm_term::TypedId;

/// A text without Enter that is shorter than this counts as keys rather than as a line. Programs that don't edit lines
/// answer keys without showing them.
const SHORTEST: usize = 3;

/// The way in which a program will read a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// A program waits for the line, and the terminal echoes it.
    Line,
    /// A program waits for keys, and shows them after this text.
    Keys(String),
    /// Unknown: perhaps no program waits for the line, or a line editor waits for it.
    Any,
}

/// A line that was typed, and the positions where it is known to be shown.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub number: u64,
    pub text: String,
    /// The text at earlier times, before characters of it were erased.
    pub drafts: Vec<String>,
    /// Whether everything up to the end of the shown line is an echo, too.
    pub reaches_end: bool,
    /// Whether Enter was typed after the line.
    pub has_ended: bool,
    /// If the line was typed in several inputs, the offsets in `text` where each input except the first begins. Each
    /// input is also stored as a line of its own.
    pub cuts: Vec<usize>,
    /// The cursor's position, and the terminal's last change, before the line was typed.
    pub mark: TypedId,
    pub seq: u64,
    pub reader: Reader,
    /// If an input has several lines and the terminal receives it as a whole: the number of the line above this one,
    /// and the number of empty lines in between.
    pub above: Option<(u64, u64)>,
    pub by_terminal: ByTerminal,
    /// The place where the terminal echoed the line.
    pub echo: Option<TypedId>,
    /// The part of `text` that the terminal echoed at `echo`: all of it, or only some of its inputs.
    pub echoed: Range<usize>,
    /// The texts after which an editor drew the line.
    pub prompts: Vec<String>,
    /// Whether the editor that drew the line enables bracketed paste while it draws.
    pub is_announced: bool,
    /// The place where an editor drew the line last.
    pub drawn: Option<TypedId>,
    /// The terminal's last change that a search has covered.
    pub looked: u64,
}

/// Whether the terminal echoed a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByTerminal {
    Unknown,
    Never,
    Yes,
}

impl Typed {
    pub fn new(mark: TypedId, seq: u64) -> Self {
        Self {
            number: 0,
            text: String::new(),
            drafts: Vec::new(),
            reaches_end: false,
            has_ended: false,
            cuts: Vec::new(),
            mark,
            seq,
            reader: Reader::Any,
            above: None,
            by_terminal: ByTerminal::Unknown,
            echo: None,
            echoed: 0..0,
            prompts: Vec::new(),
            is_announced: false,
            drawn: None,
            looked: seq,
        }
    }

    /// Whether further input adds to the line.
    pub fn is_open(&self) -> bool {
        !self.has_ended && !self.reaches_end
    }

    /// The text to look for. Empty if the line should not be looked for.
    pub fn needle(&self) -> &str {
        let text = self.text.trim_end();
        let is_key = !self.has_ended
            && !self.reaches_end
            && self.reader != Reader::Line
            && text.chars().count() < SHORTEST;
        if is_key { "" } else { text }
    }

    /// Whether the line was typed in several inputs.
    pub fn is_joined(&self) -> bool {
        !self.cuts.is_empty()
    }

    /// The parts of the text that the terminal may echo in one place: all of it or, if the terminal starts or stops
    /// echoing between two inputs, the text after or before that point.
    pub fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let end = self.text.trim_end().len();
        let after = self.cuts.iter().map(move |cut| *cut..end);
        let before = self.cuts.iter().rev().map(|cut| 0..self.text[..*cut].trim_end().len());
        let is_long = |part: &Range<usize>| {
            let text = self.text.get(part.clone()).unwrap_or_default();
            text.chars().count() >= SHORTEST
        };
        std::iter::once(0..end).chain(after.chain(before).filter(is_long))
    }

    pub fn may_be_echoed(&self) -> bool {
        self.by_terminal == ByTerminal::Unknown && !matches!(self.reader, Reader::Keys(_))
    }

    pub fn may_be_drawn(&self) -> bool {
        self.reader != Reader::Line
    }
}
