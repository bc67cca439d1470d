//! What is looked for: a text or a regular expression, made ready.

use std::sync::Arc;

use regex_automata::meta;
use regex_automata::util::syntax;

/// Bytes of a pattern.
const PATTERN_CAP: usize = 4096;
/// Bytes of the automaton that a pattern becomes: `\w{1000}` and the like are refused. Searching takes time in
/// proportion to the text for any pattern there is.
const AUTOMATON_CAP: usize = 1 << 20;
/// Brackets in brackets.
const NEST_CAP: u32 = 64;

/// How a pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PatternKind {
    /// The very characters.
    #[default]
    Literal,
    /// A regular expression in the syntax of Rust's `regex` crate; `^` and `$` are the ends of a logical line.
    Regex,
}

/// Whether upper and lower case differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Case {
    /// They do.
    #[default]
    Sensitive,
    /// They don't.
    Insensitive,
    /// They do when the pattern has an upper-case letter.
    Smart,
}

/// Why a pattern can't be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// It is longer than 4,096 bytes.
    TooLong,
    /// It is no regular expression: the reason, in English, for the person who wrote it.
    Syntax(String),
    /// What it says takes too much memory to search for.
    TooLarge,
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong => write!(f, "the pattern is longer than {PATTERN_CAP} bytes"),
            Self::Syntax(reason) => f.write_str(reason),
            Self::TooLarge => f.write_str("the pattern's repetitions make it too large"),
        }
    }
}

impl std::error::Error for PatternError {}

/// A pattern, ready to be searched for; cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) regex: Arc<meta::Regex>,
}

impl Pattern {
    /// Makes `text` ready. An empty one is found nowhere.
    pub fn new(text: &str, kind: PatternKind, case: Case) -> Result<Self, PatternError> {
        Self::build(text, kind, case, false)
    }

    /// As [`Pattern::new`]; it matches where no word goes on before or behind it only.
    pub fn whole_words(text: &str, kind: PatternKind, case: Case) -> Result<Self, PatternError> {
        Self::build(text, kind, case, true)
    }

    fn build(
        text: &str,
        kind: PatternKind,
        case: Case,
        whole_words: bool,
    ) -> Result<Self, PatternError> {
        if text.len() > PATTERN_CAP {
            return Err(PatternError::TooLong);
        }
        let is_regex = kind == PatternKind::Regex;
        let ignores_case = match case {
            Case::Sensitive => false,
            Case::Insensitive => true,
            Case::Smart => !has_upper_case(text, is_regex),
        };
        let mut expression = if is_regex { text.to_owned() } else { escaped(text) };
        if whole_words && !text.is_empty() {
            expression = format!("\\b{{start-half}}(?:{expression})\\b{{end-half}}");
        }
        let syntax = syntax::Config::new()
            .case_insensitive(ignores_case)
            .multi_line(true)
            .nest_limit(NEST_CAP);
        let config = meta::Config::new()
            .nfa_size_limit(Some(AUTOMATON_CAP))
            .hybrid_cache_capacity(2 * AUTOMATON_CAP);
        let regex =
            meta::Builder::new().configure(config).syntax(syntax).build(&expression).map_err(
                |error| match error.syntax_error() {
                    Some(reason) => PatternError::Syntax(reason.to_string()),
                    None => PatternError::TooLarge,
                },
            )?;
        Ok(Self { regex: Arc::new(regex) })
    }
}

/// Whether a letter is upper case, other than in `\W` and its like.
fn has_upper_case(text: &str, is_regex: bool) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if is_regex && c == '\\' {
            chars.next();
        } else if c.is_uppercase() {
            return true;
        }
    }
    false
}

/// The expression that matches `text` and nothing else.
fn escaped(text: &str) -> String {
    let mut expression = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            expression.push_str(&format!("\\x{:02x}", c as u32));
        } else {
            expression.push(c);
        }
    }
    expression
}
