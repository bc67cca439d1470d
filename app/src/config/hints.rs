//! The sections about labels and links: `[hints]`, `[hint_patterns]` and `[links]`.

use regex_automata::meta::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::hints`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hints {
    /// Letters of the labels, easiest to reach first: at least two lower-case letters, each once.
    pub alphabet: String,
    /// Editor for files, including this one, with its arguments. Quotes and backslashes keep spaces together as in a shell; other shell syntax has no meaning. `{file}`, `{line}` and `{column}` are replaced. Empty: `$VISUAL`, `$EDITOR` or vi.
    pub editor: String,
}

impl Default for Hints {
    fn default() -> Self {
        Self { alphabet: "asdfqwerzxcvjklmiuopghtybn".to_owned(), editor: String::new() }
    }
}

/// See [`super::Config::hint_patterns`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HintPattern {
    /// Regular expression, in the syntax of Rust's `regex` crate.
    pub regex: String,
    /// What to do with the chosen text.
    pub action: HintAction,
}

/// See [`HintPattern::action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HintAction {
    /// Copy it.
    Copy,
    /// Paste it into the pane.
    Paste,
    /// Open it as a link.
    Open,
    /// Open it as a file in the editor.
    Editor,
}

/// The maximum size of the compiled form of a user's pattern, in bytes.
const AUTOMATON_CAP: usize = 1 << 20;

/// Compiles a pattern that the user configured.
///
/// # Errors
/// Returns the error in the pattern, as a message for the user.
pub fn compile_pattern(pattern: &str) -> Result<Regex, String> {
    let config = Regex::config().nfa_size_limit(Some(AUTOMATON_CAP));
    Regex::builder().configure(config).build(pattern).map_err(|error| {
        let reason = error.syntax_error().map(ToString::to_string);
        let reason = reason.unwrap_or_else(|| error.to_string());
        // The parser's error has several lines. The last line describes the problem.
        reason.lines().last().unwrap_or_default().to_owned()
    })
}

/// See [`super::Config::links`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Links {
    /// Schemes of links that Unterm opens, each with the desktop's program for it. Programs choose a link's target, so a `file` link opens only if the file is on this machine, can be examined and is not executable, and the link has no `?` or `#` that is not percent-encoded. A `mailto` message gets no attachments.
    pub schemes: Vec<String>,
    /// How to open the link under the pointer. File names in plain text always need Ctrl.
    pub open_by: OpenBy,
}

impl Default for Links {
    fn default() -> Self {
        let schemes = ["http", "https", "mailto", "file"].map(str::to_owned).to_vec();
        Self { schemes, open_by: OpenBy::default() }
    }
}

/// See [`Links::open_by`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenBy {
    /// Click.
    #[default]
    Click,
    /// Ctrl and click.
    CtrlClick,
}
