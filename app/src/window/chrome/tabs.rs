//! The state of the mouse on the tab bar: the dragged tab and successive clicks; and which tabs are visible.

use std::time::Instant;

use unterm_mux::TabId;

use crate::window::chrome::tab_bar::{Strip, TabBarPart};

/// The state of the mouse on the tab bar, and which tabs are visible.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    pub(crate) strip: Strip,
    pub(crate) drag: Option<Drag>,
    /// The last press of the left button, to detect double clicks.
    pub(crate) click: Option<(Instant, TabBarPart)>,
    /// The fraction of a notch that the wheel has turned since its last whole notch.
    pub(crate) wheel: f64,
}

/// A tab under the held left button.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drag {
    pub(crate) tab: TabId,
    /// The distance from the tab's left edge to the pressed point, in pixels.
    pub(crate) grip: f64,
    /// The pointer's x at the press.
    pub(crate) start: f64,
    /// The tab's index before the drag.
    pub(crate) from: usize,
    /// Whether the pointer has moved far enough to start a drag.
    pub(crate) is_moving: bool,
    /// Whether the pointer is far outside the bar, so that the tab leaves the window when the button is released.
    pub(crate) leaves: bool,
}
