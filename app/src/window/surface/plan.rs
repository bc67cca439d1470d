//! The content of a frame: the borrowed state of the parts, and values that the update before the frame computed.
//!
//! Drawing can access nothing else, so it can't change any state.

use std::sync::Arc;

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::{Highlight, Quad};

use crate::window::{
    chrome::{Chrome, tab_bar::Look},
    input::Input,
    overlays::{Overlays, canvas::Debugged, text_target::TextTarget},
    prefs::Prefs,
    surface::look::PaneLook,
    ui::{colors::Colors, geometry::Geometry},
    workspace::Workspace,
};

/// Values that a whole frame shows and that no part stores.
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
    /// The panes that receive the input of the focused pane, including the focused pane itself; empty if no other pane
    /// receives it.
    pub(crate) receivers: Vec<PaneId>,
    pub(crate) text_target: TextTarget,
    /// The number of panes and agents that need the user.
    pub(crate) attention: usize,
    /// The content of the debug overlay, if the overlay is open.
    pub(crate) debug: Option<Debugged>,
}

/// The plan and the state of the parts, from which a frame is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) workspace: &'a Workspace,
    pub(crate) input: &'a Input,
    pub(crate) overlays: &'a Overlays,
    pub(crate) chrome: &'a Chrome,
    pub(crate) prefs: &'a Prefs,
}
