//! What a frame shows: the parts' state, borrowed, and what the update before the frame worked out.
//!
//! Drawing gets nothing else, so it can change nothing.

use std::sync::Arc;

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::{Highlight, Quad};

use crate::window::{
    chrome::{Chrome, tab_bar::Look},
    input::Input,
    overlays::{Overlays, taker::Taker},
    prefs::Prefs,
    surface::look::PaneLook,
    ui::{colors::Colors, geometry::Geometry},
    workspace::Workspace,
};

/// What a whole frame shows that is not plain state of a part.
pub(crate) struct Plan {
    pub(crate) layout: Arc<Layout>,
    /// The visible panes and their areas.
    pub(crate) placed: Vec<(PaneId, Rect)>,
    pub(crate) geometry: Geometry,
    pub(crate) colors: Colors,
    pub(crate) panes: PaneLook,
    pub(crate) tab_bar: Look,
    pub(crate) scrollbars: Vec<Quad>,
    /// The searched pane, and its visible matches.
    pub(crate) matches: (Option<PaneId>, Vec<Highlight>),
    /// The panes that receive the focused pane's input, itself included; empty if no other pane does.
    pub(crate) receivers: Vec<PaneId>,
    pub(crate) taker: Taker,
    /// What the debug overlay shows, if it is open.
    pub(crate) debug: Option<Debugged>,
}

/// What the debug overlay shows of the window.
pub(crate) struct Debugged {
    pub(crate) painter: String,
    /// The pane, column and visible row of the cell under the pointer.
    pub(crate) cell: Option<(PaneId, u16, usize)>,
}

/// Everything that a frame shows.
#[derive(Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) workspace: &'a Workspace,
    pub(crate) input: &'a Input,
    pub(crate) overlays: &'a Overlays,
    pub(crate) chrome: &'a Chrome,
    pub(crate) prefs: &'a Prefs,
}
