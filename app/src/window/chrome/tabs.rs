//! The state of the mouse on the tab bar: the dragged tab, clicks in a row, and the visible part of the bar.

use std::time::Instant;

use unterm_mux::TabId;

use crate::window::chrome::tab_bar::{Strip, TabBarPart};

/// Mouse state of the tab bar, and which tabs are visible.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    pub(crate) strip: Strip,
    pub(crate) drag: Option<Drag>,
    /// The last left press, for double clicks.
    pub(crate) click: Option<(Instant, TabBarPart)>,
    /// Fractions of notches that the wheel has turned.
    pub(crate) wheel: f64,
}

/// A tab that the left button holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drag {
    pub(crate) tab: TabId,
    /// The offset of the press in the tab, in pixels from its left edge.
    pub(crate) grip: f64,
    /// The pointer's x at the press.
    pub(crate) start: f64,
    /// The tab's index before the drag.
    pub(crate) from: usize,
    /// It moved far enough to be a drag.
    pub(crate) is_moving: bool,
}
