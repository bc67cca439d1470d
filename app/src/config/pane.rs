//! The sections about panes and their programs: `[scrollback]`, `[shell]`, `[sessions]`,
//! `[commands]` and `[compat]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::scrollback`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scrollback {
    /// Lines that each pane keeps above the screen. Applies to new panes.
    #[schemars(range(min = 0, max = 999_999_999))]
    pub lines: u32,
    /// Program and arguments that show history or output for `show_history` and `show_output`. `{file}` stands for the file, `{line}` for the first visible line. An editor works, too.
    pub pager: String,
}

impl Default for Scrollback {
    fn default() -> Self {
        Self { lines: 10_000, pager: "less -R".to_owned() }
    }
}

/// See [`super::Config::shell`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shell {
    /// Program, by name or path. Empty: your login shell (`$SHELL`).
    pub program: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Let bash, zsh, fish, Nushell and PowerShell mark their prompts and commands (OSC 133). Applies to new panes. Unterm does not change your files.
    pub integration: bool,
    /// Value of `TERM`. Applies to new panes. `unterm` describes more of Unterm than the default. Programs then need its terminfo entry: see `unterm-cli help ssh`.
    pub term: String,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            program: String::new(),
            args: Vec::new(),
            integration: true,
            term: "xterm-256color".to_owned(),
        }
    }
}

/// See [`super::Config::sessions`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sessions {
    /// Let programs continue if their window ends unexpectedly, as in a crash. Unterm then continues without a window, under the same name, so that agents reconnect. The next window shows the programs again, with everything that they printed. `window.on_close` decides about programs of windows that you close. Applies to new windows. Only on Linux.
    pub keep: bool,
    /// The number of hours after which Unterm ends programs that no window has shown since a crash. It never ends a program while a command runs in one of the panes. 0: never.
    #[schemars(range(max = 87_600))]
    pub keep_for: u32,
}

impl Default for Sessions {
    fn default() -> Self {
        Self { keep: true, keep_for: 0 }
    }
}

/// See [`super::Config::commands`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Commands {
    /// Show a mark left of each prompt: whether its command succeeded and, under the pointer, buttons for it.
    pub marks: bool,
    /// Keep a command's line visible while you scroll through its output.
    pub sticky_header: bool,
    /// Move the shell's cursor to a click at the prompt.
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
    /// Value of `TERM_PROGRAM`. Applies to new panes. Some programs enable more features for terminals that they recognize.
    pub term_program: String,
}

impl Default for Compat {
    fn default() -> Self {
        Self { term_program: "unterm".to_owned() }
    }
}
