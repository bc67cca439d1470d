//! The prompt state of a shell without marks.

/// The prompt state of a shell without marks, derived from its input alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainPrompt {
    /// The shell was at its prompt when it had had this many inputs, and only input can make it leave.
    At(u64),
    /// A command that a caller typed has not ended.
    Occupied,
    /// Nothing.
    Unknown,
}
