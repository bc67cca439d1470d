//! What the user can do with a command by mouse.

/// An action of the mouse on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    CopyOutput,
    CopyCommand,
    Rerun,
    Fold,
}
