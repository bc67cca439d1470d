//! The mouse actions on a command.

/// A mouse action on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockAction {
    CopyOutput,
    CopyCommand,
    Rerun,
    Fold,
}
