//! Search patterns: a compiled text or regular expression.

use std::sync::Arc;

use regex_automata::meta;
use regex_automata::util::syntax;

/// The maximum size of a pattern in bytes.
const PATTERN_CAP: usize = 4096;
/// The maximum size in bytes of the automaton into which a pattern is compiled. Patterns such as `\w{1000}` are
/// rejected. With every accepted pattern, the time of a search is proportional to the length of the text.
const AUTOMATON_CAP: usize = 1 << 20;
/// The maximum depth of nested brackets.
const NEST_CAP: u32 = 64;

/// How to interpret a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PatternKind {
    /// Literal text.
    #[default]
    Literal,
    /// A regular expression in the syntax of Rust's `regex` crate. `^` and `$` match the ends of a logical line.
    Regex,
}

/// Whether a search distinguishes upper and lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Case {
    /// Always.
    #[default]
    Sensitive,
    /// Never.
    Insensitive,
    /// Only if the pattern has an upper-case letter.
    Smart,
}

/// The reason why a pattern is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// The pattern is longer than 4,096 bytes.
    TooLong,
    /// The pattern is not a valid regular expression. Contains the reason, in English, for the author of the pattern.
    Syntax(String),
    /// The compiled pattern would need too much memory.
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

/// A compiled pattern. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) regex: Arc<meta::Regex>,
}

impl Pattern {
    /// Compiles `text`. An empty pattern matches nothing.
    pub fn new(text: &str, kind: PatternKind, case: Case) -> Result<Self, PatternError> {
        Self::build(text, kind, case, false)
    }

    /// Like [`Pattern::new`], but matches only whole words.
    pub fn whole_words(text: &str, kind: PatternKind, case: Case) -> Result<Self, PatternError> {
        Self::build(text, kind, case, true)
    }

    /// The first match in a text that no terminal contains, in bytes. `None` if there is none. Lines end at `\n`.
    pub fn find_in(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.regex.find(text).map(|found| found.range())
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

/// Whether the pattern contains an upper-case letter. Escapes such as `\W` do not count.
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

/// A regular expression that matches exactly `text`.
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
