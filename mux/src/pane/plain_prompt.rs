//! The prompt state of a shell without marks.

use std::time::Instant;

/// The prompt state of a shell without marks, derived from its input alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainPrompt {
    /// The shell was at its prompt after this many inputs, and stays there until the next input.
    At(u64),
    /// The shell was at its prompt after this many inputs, but a program had asked the terminal, and may have left the replies
    /// unread. They are then in the shell's line, or have begun a mode of its editor.
    Replied {
        /// The inputs.
        inputs: u64,
        /// When the shell reached its prompt.
        since: Instant,
    },
    /// A command that a caller typed has not ended.
    Occupied,
    /// The state is unknown.
    Unknown,
}
