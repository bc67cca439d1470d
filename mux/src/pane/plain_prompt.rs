//! The prompt state of a shell without marks.

/// The prompt state of a shell without marks, derived from its input alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainPrompt {
    /// The shell was at its prompt after this many inputs, and stays there until the next input.
    At(u64),
    /// The shell was at its prompt after this many inputs, but a program had asked the terminal, and may have left the replies
    /// unread. They are then in the shell's line, or have begun a mode of its editor.
    Replied(u64),
    /// A command that a caller typed has not ended.
    Occupied,
    /// The state is unknown.
    Unknown,
}
