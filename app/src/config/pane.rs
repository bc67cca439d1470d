//! The sections about what runs in a pane and what it keeps: `[scrollback]`, `[shell]`, `[commands]` and `[compat]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::scrollback`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scrollback {
    /// Lines kept above the screen, in panes opened from now on.
    #[schemars(range(min = 0, max = 999_999_999))]
    pub lines: u32,
}

impl Default for Scrollback {
    fn default() -> Self {
        Self { lines: 10_000 }
    }
}

/// See [`super::Config::shell`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shell {
    /// The program, by name or path; empty: your login shell (`$SHELL`).
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Let bash, zsh, fish, Nushell and PowerShell mark their prompts and commands (OSC 133), in panes opened from now on. No file of yours is changed.
    pub integration: bool,
}

impl Default for Shell {
    fn default() -> Self {
        Self { program: String::new(), args: Vec::new(), integration: true }
    }
}

/// See [`super::Config::commands`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Commands {
    /// Mark each prompt at its left: whether its command ended well, and, under the pointer, what can be done with it.
    pub marks: bool,
    /// Keep a command's line in sight while one scrolls back through its output.
    pub sticky_header: bool,
    /// A click at a prompt moves the shell's cursor there.
    pub click_to_move: bool,
}

impl Default for Commands {
    fn default() -> Self {
        Self { marks: true, sticky_header: true, click_to_move: true }
    }
}

/// See [`super::Config::compat`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Compat {
    /// What programs find as `TERM_PROGRAM`, in panes opened from now on; some do more, or less, for a name that they know.
    pub term_program: String,
}

impl Default for Compat {
    fn default() -> Self {
        Self { term_program: "unterm".to_owned() }
    }
}
