//! The result of a command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The way in which the wait for a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The command has ended.
    Completed,
    /// The command was still running at the deadline, and continues.
    TimedOut,
    /// After Ctrl+C, the shell is back at its prompt. It discarded the whole line, including the end mark.
    Interrupted,
    /// The shell waits for a line again without having reported the command's end, and never will.
    Lost(Lost),
    /// The command is a new shell or has started one, and that shell is at its prompt. The command continues.
    NewShell,
}

impl Ending {
    /// The reason why there is no exit code, if the wait ended before the command did. A message for the caller.
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

/// The reason why the end of a command is not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The typed text became part of another line.
    OtherLine,
    /// The shell that should have reported the end was replaced, or reported nothing.
    NotTold,
    /// The shell has ended, and the outer shell reports a different exit code, or none.
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

/// The result of running a command.
#[derive(Debug)]
pub struct RunOutcome {
    /// The output.
    pub output: String,
    /// The exit code, if one was reported.
    pub exit_code: Option<i32>,
    /// The source of the exit code.
    pub exit_source: Option<ExitSource>,
    /// The way in which the wait ended.
    pub ending: Ending,
    /// Whether Ctrl+C was typed while the command ran, and ended the command.
    pub interrupted: bool,
    /// Whether the beginning of the output is missing: the output was too long, or the command erased it.
    pub truncated: bool,
    /// The mark that the shell prints after the output.
    pub marker: String,
    /// The command's number in the terminal, if shell integration marks commands.
    pub block: Option<u64>,
}
