//! Tabs, the tree of splits in each, and where every pane lies. Plain data.

use crate::PaneId;

/// Names a tab for the life of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(pub u64);

/// The direction in which the halves of a split follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Left and right.
    Horizontal,
    /// Top and bottom.
    Vertical,
}

/// A direction on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Left.
    Left,
    /// Right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
}

/// A rectangle, in pixels of a window or in cells of a headless tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// A tree of splits.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A pane.
    Pane(PaneId),
    /// Two parts side by side or one above the other.
    Split {
        /// How they lie.
        axis: Axis,
        /// The first part's share of the space, between 0 and 1.
        ratio: f32,
        /// Left or upper part.
        first: Box<Node>,
        /// Right or lower part.
        second: Box<Node>,
    },
}

/// One tab.
#[derive(Clone, Debug, PartialEq)]
pub struct Tab {
    /// Its id.
    pub id: TabId,
    /// Its panes.
    pub root: Node,
    /// The pane that keys go to.
    pub focused: PaneId,
    /// The focused pane fills the tab.
    pub zoomed: bool,
}

/// Every tab, in order. Published whole whenever it changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The tabs, left to right.
    pub tabs: Vec<Tab>,
    /// Index of the active tab; 0 when there is none.
    pub active: usize,
}

impl Tab {
    /// Where each visible pane lies within `area`, with dividers of `divider` units between them.
    pub fn place(&self, area: Rect, divider: u32) -> Vec<(PaneId, Rect)> {
        let _ = (area, divider);
        todo!()
    }

    /// The panes, in reading order.
    pub fn panes(&self) -> Vec<PaneId> {
        todo!()
    }
}

impl Layout {
    /// The active tab.
    pub fn active_tab(&self) -> Option<&Tab> {
        self.tabs.get(self.active)
    }
}
