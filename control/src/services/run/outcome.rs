//! What comes of a command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the wait for a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has ended.
    Completed,
    /// It still ran when the time was over; it was left running.
    TimedOut,
    /// Somebody typed Ctrl+C and the shell is back at its prompt: it gave up the whole line, mark and all.
    Interrupted,
    /// The shell waits for a line again, and nobody will tell of the end.
    Lost(Lost),
}

/// Why nobody tells of a command's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// What was typed became part of another line.
    OtherLine,
    /// The shell that would have reported it has been replaced, or reported nothing.
    NotTold,
}

impl Lost {
    /// In words, for whoever began the command.
    pub fn reason(self) -> &'static str {
        match self {
            Self::OtherLine => {
                "The shell ran another line than the command, and is back at its prompt: see the screen"
            }
            Self::NotTold => {
                "The shell waits for a line again without having reported the command's end: another program replaced it (exec), or its integration was removed"
            }
        }
    }
}

/// Who said what the exit code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ExitSource {
    /// The shell's integration, at the end of the command's block (OSC 133 D with the pane's nonce).
    Block,
    /// The mark that was typed behind the command.
    Marker,
    /// The command ended the shell itself, and the system told how.
    Process,
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// What it printed.
    pub output: String,
    /// Its exit code, where the shell told.
    pub exit_code: Option<i32>,
    /// Who told, if somebody did.
    pub exit_source: Option<ExitSource>,
    /// How the wait for it ended.
    pub ending: Ending,
    /// Ctrl+C was typed while it ran, and ended it.
    pub interrupted: bool,
    /// The beginning of its output is missing, since there was too much of it.
    pub truncated: bool,
    /// The mark that the shell printed, or will print, behind its output.
    pub marker: String,
    /// The command, as the terminal counts them, where the shell's integration marks it.
    pub block: Option<u64>,
}
