//! A line that callers typed: how it is going to be read, and what is known about where it is shown.

use std::ops::Range;

use unterm_term::TypedId;

/// Shorter texts without Enter are keys rather than lines: programs that don't edit a line answer them without showing them.
const SHORTEST: usize = 3;

/// How a line is going to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// A program waits for the line, and the terminal echoes it.
    Line,
    /// A program waits for keys, and shows them behind this text.
    Keys(String),
    /// Unknown: no program waits for it, or a line editor does.
    Any,
}

/// A line that was typed, and what is known about where it is shown.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub number: u64,
    pub text: String,
    /// Earlier forms of the text, from before characters were erased.
    pub drafts: Vec<String>,
    /// The rest of the shown line is an echo, too.
    pub reaches_end: bool,
    /// Enter was typed after it.
    pub has_ended: bool,
    /// Where each input but the first begins in the text, if the line was typed in several. Each of them is also a line of its
    /// own.
    pub cuts: Vec<usize>,
    /// Where the cursor stood, and the terminal's last change, before it was typed.
    pub mark: TypedId,
    pub seq: u64,
    pub reader: Reader,
    /// The line above it in one input that the terminal receives as a whole, and the number of empty lines in between.
    pub above: Option<(u64, u64)>,
    pub by_terminal: ByTerminal,
    /// Where the terminal echoed it.
    pub echo: Option<TypedId>,
    /// What it echoed there: all of the text, or some of the inputs that make it up.
    pub echoed: Range<usize>,
    /// The texts behind which an editor drew it.
    pub prompts: Vec<String>,
    /// The editor asks for bracketed pastes while it draws.
    pub is_announced: bool,
    /// Where an editor drew it last.
    pub drawn: Option<TypedId>,
    /// The terminal's last change that was searched.
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

    /// The text as it is looked for; empty if it is not.
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

    /// The parts of the text that the terminal may echo in one place: all of it or, if it begins or ceases to echo between two
    /// inputs, what was typed after or before that.
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
