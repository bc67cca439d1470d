//! The sections about what is found in the text: `[hints]`, `[hint_patterns]` and `[links]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::hints`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hints {
    /// The letters of labels, the best to reach first; lower case, each once, at least two.
    pub alphabet: String,
    /// The editor for files, this one too, with its arguments: words, in which quotes and backslashes keep blanks as in a shell, and nothing else counts. `{file}`, `{line}` and `{column}` stand for the place. Empty: `$VISUAL`, `$EDITOR` or vi.
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
    /// A regular expression, in the syntax of Rust's `regex` crate.
    pub regex: String,
    /// What is done with what is chosen where it is not copied anyway.
    pub action: HintAction,
}

/// See [`HintPattern::action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HintAction {
    /// Copied.
    Copy,
    /// Pasted into the pane.
    Paste,
    /// Opened as a link.
    Open,
    /// Opened as a file in the editor.
    Editor,
}

/// See [`super::Config::links`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Links {
    /// Schemes that are opened, by the desktop's program for each. A program chooses the target of a link. A `file` is opened only if it is on this machine, can be examined and is no program, and its link has no `?` or `#` that is not percent-encoded. A `mailto` message gets no attachments.
    pub schemes: Vec<String>,
    /// What opens the link under the pointer. A file that is only named in the text always takes Ctrl.
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
    /// A click.
    #[default]
    Click,
    /// A click with Ctrl.
    CtrlClick,
}
