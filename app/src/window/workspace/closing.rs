//! The panes that a request closes.

use unterm_mux::{PaneId, TabId};

/// The panes to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    Pane(PaneId),
    Tab(TabId),
    /// All tabs except this tab.
    OtherTabs(TabId),
    /// The window and the programs in it.
    Window,
    /// The window. Programs that can continue without it are left to the keeper.
    Detach,
    /// The window, until the installed program has opened it again. Programs are left to the keeper as in [`Self::Detach`].
    Restart,
}

impl Closing {
    /// Whether the window closes, and programs continue.
    pub(crate) fn leaves(self) -> bool {
        matches!(self, Self::Detach | Self::Restart)
    }
}
