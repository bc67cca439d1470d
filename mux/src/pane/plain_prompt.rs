//! The prompt state of a shell that does not mark its prompts.

use std::time::Instant;

/// The prompt state of a shell that does not mark its prompts. It is derived from the shell's input only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainPrompt {
    /// The shell was at its prompt when the number of inputs had this value, and stays there until the next input.
    At(u64),
    /// The shell was at its prompt when the number of inputs had the value `inputs`. Before, a program had sent queries
    /// to the terminal, and may not have read the replies. Such replies may be in the shell's line, or may have
    /// switched its line editor to another mode.
    Replied {
        /// The number of inputs.
        inputs: u64,
        /// When the shell reached its prompt.
        since: Instant,
    },
    /// A command that a caller typed is still running.
    Occupied,
    /// The state is unknown.
    Unknown,
}
