//! The requests of a part of the window to the app, as values.
//!
//! A part changes its own state. If a request concerns other parts, the part returns a [`Wish`] through its
//! [`Cx`](crate::window::cx::Cx). `app/wishes.rs` carries wishes out, after the part has finished.

use unterm_mux::{PaneId, TabId};

use crate::action::Action;
use crate::window::{hovered_link::HoveredLink, workspace::blocks::part::Part};

/// A request of a part of the window to the app.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Run an action that the user chose. If it applies to tabs, it applies to the given tab, or to the active tab.
    Act(Option<TabId>, Action),
    /// Open a link or a file.
    OpenLink(HoveredLink),
    /// Run an action on a command of a pane, given by the command's id.
    Command(PaneId, u64, Part),
}
