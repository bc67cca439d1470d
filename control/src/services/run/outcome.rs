//! The result of a command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the wait for a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The command has ended.
    Completed,
    /// The command still ran at the deadline, and goes on.
    TimedOut,
    /// After Ctrl+C, the shell is back at its prompt. It gave up the whole line, and with it the end mark.
    Interrupted,
    /// The shell waits for a line again, and will not report the end.
    Lost(Lost),
    /// The command is, or has started, a new shell, which is at its prompt. The command goes on.
    NewShell,
}

impl Ending {
    /// Why there is no exit code, as a message for the caller, if the command was not waited for to its end.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Completed | Self::TimedOut | Self::Interrupted => None,
            Self::Lost(lost) => Some(lost.reason()),
            Self::NewShell => Some(
                "A new shell is at its prompt. Commands run in it until it ends, for example by `exit`",
            ),
        }
    }
}

/// Why the end of a command is not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The typed text became part of another line.
    OtherLine,
    /// The shell that would have reported it has been replaced, or reported nothing.
    NotTold,
    /// The shell has ended, and what ran it reports another exit code or none.
    ShellEnded,
}

impl Lost {
    fn reason(self) -> &'static str {
        match self {
            Self::OtherLine => {
                "The shell ran another line than the command, and is back at its prompt: see the screen"
            }
            Self::ShellEnded => "The shell has ended, and its exit code is unknown",
            Self::NotTold => {
                "The shell waits for a line again without having reported the command's end: another program replaced it (exec), or its integration was removed"
            }
        }
    }
}

/// The source of an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ExitSource {
    /// The shell's integration, at the end of the command's block (OSC 133 D with the pane's nonce).
    Block,
    /// The mark that was typed after the command.
    Marker,
    /// The command ended the shell itself, and the system reported its exit status.
    Process,
}

/// The result of a command.
#[derive(Debug)]
pub struct Outcome {
    /// The output.
    pub output: String,
    /// The exit code, if one was reported.
    pub exit_code: Option<i32>,
    /// The source of the exit code.
    pub exit_source: Option<ExitSource>,
    /// How the wait for it ended.
    pub ending: Ending,
    /// Ctrl+C was typed while it ran, and ended it.
    pub interrupted: bool,
    /// The beginning of the output is missing, because the output was too long.
    pub truncated: bool,
    /// The mark that the shell prints after the output.
    pub marker: String,
    /// The terminal's number of the command, if the shell's integration marks commands.
    pub block: Option<u64>,
}
