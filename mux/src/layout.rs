//! Tabs, the tree of splits in each tab, and the position of every pane. Plain data.

mod arrange;
mod divider;
mod split_room;

pub use divider::{Divider, SplitPath};

use unterm_term::Size;

use crate::PaneId;

/// Identifies a tab for the life of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(pub u64);

/// The direction in which the parts of a split follow each other.
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

/// The spacing of a tab's panes. The first part of each split contains padding and whole cells; the second part gets
/// the remaining space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// The distance between the two parts of a split.
    pub divider: u32,
    /// Width and height of a cell.
    pub cell: (u32, u32),
    /// The distance between a pane's edge and its cells, on each side.
    pub padding: u32,
}

impl Spacing {
    /// The spacing for a tab that is divided in cells: one cell between two panes.
    pub const CELLS: Self = Self { divider: 1, cell: (1, 1), padding: 0 };

    /// The largest grid that fits a pane's area without its padding, but at least one cell.
    pub fn grid(&self, area: Rect) -> Size {
        let inside = |length: u32| length.saturating_sub(2 * self.padding);
        let cells = |length: u32, cell: u32| (inside(length) / cell.max(1)).clamp(1, 10_000) as u16;
        Size {
            cols: cells(area.width, self.cell.0),
            rows: cells(area.height, self.cell.1),
            cell_width: self.cell.0 as u16,
            cell_height: self.cell.1 as u16,
        }
    }
}

/// A tree of splits.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A pane.
    Pane(PaneId),
    /// Two parts side by side or one above the other.
    Split {
        /// The direction of the split.
        axis: Axis,
        /// The first part's share of the space without the divider, between 0 and 1.
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
    /// The tab's id.
    pub id: TabId,
    /// The tab's panes, as a tree.
    pub root: Node,
    /// The pane that receives keys.
    pub focused: PaneId,
    /// Whether the focused pane fills the tab.
    pub zoomed: bool,
    /// The title that the user set. If `None`, the tab shows its focused pane's title.
    pub title: Option<String>,
}

/// All tabs, in order. A change publishes a whole new layout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The tabs, left to right.
    pub tabs: Vec<Tab>,
    /// Index of the active tab; 0 if there are no tabs.
    pub active: usize,
}

impl Node {
    /// Appends the panes, in reading order.
    fn collect(&self, panes: &mut Vec<PaneId>) {
        match self {
            Node::Pane(pane) => panes.push(*pane),
            Node::Split { first, second, .. } => {
                first.collect(panes);
                second.collect(panes);
            }
        }
    }

    /// Whether the tree contains `pane`.
    pub fn contains(&self, pane: PaneId) -> bool {
        match self {
            Node::Pane(own) => *own == pane,
            Node::Split { first, second, .. } => first.contains(pane) || second.contains(pane),
        }
    }

    /// Puts `new` to the right of `pane` or below it, and divides the space equally. Returns false if `pane` is not in
    /// the tree.
    pub(crate) fn split(&mut self, pane: PaneId, axis: Axis, new: PaneId) -> bool {
        match self {
            Node::Pane(own) if *own == pane => {
                *self = Node::Split {
                    axis,
                    ratio: 0.5,
                    first: Box::new(Node::Pane(pane)),
                    second: Box::new(Node::Pane(new)),
                };
                true
            }
            Node::Pane(_) => false,
            Node::Split { first, second, .. } => {
                first.split(pane, axis, new) || second.split(pane, axis, new)
            }
        }
    }

    /// Removes `pane`. Its sibling gets its space. Returns the nearest pane of the sibling, or `None` if `pane` is not
    /// in the tree or is its only pane.
    pub(crate) fn remove(&mut self, pane: PaneId) -> Option<PaneId> {
        let Node::Split { first, second, .. } = self else { return None };
        let (heir, rest) = if **first == Node::Pane(pane) {
            (second.edge(true), second)
        } else if **second == Node::Pane(pane) {
            (first.edge(false), first)
        } else {
            return first.remove(pane).or_else(|| second.remove(pane));
        };
        *self = std::mem::replace(rest, Node::Pane(pane));
        Some(heir)
    }

    /// The first or last pane, in reading order.
    fn edge(&self, is_first: bool) -> PaneId {
        match self {
            Node::Pane(pane) => *pane,
            Node::Split { first, second, .. } => {
                if is_first { first } else { second }.edge(is_first)
            }
        }
    }
}

impl Rect {
    /// The distance to `other` in a direction, and the length of the edge that both share. `None` if `other` does not
    /// lie in that direction.
    fn towards(self, other: Rect, direction: Direction) -> Option<(u32, u32)> {
        let (end, start) = match direction {
            Direction::Left => (other.x + other.width, self.x),
            Direction::Right => (self.x + self.width, other.x),
            Direction::Up => (other.y + other.height, self.y),
            Direction::Down => (self.y + self.height, other.y),
        };
        let (own, theirs) = match direction.axis() {
            Axis::Horizontal => ((self.y, self.height), (other.y, other.height)),
            Axis::Vertical => ((self.x, self.width), (other.x, other.width)),
        };
        let common = (own.0 + own.1).min(theirs.0 + theirs.1).checked_sub(own.0.max(theirs.0))?;
        (common > 0).then_some((start.checked_sub(end)?, common))
    }
}

impl Direction {
    /// The axis of the direction.
    pub fn axis(self) -> Axis {
        match self {
            Direction::Left | Direction::Right => Axis::Horizontal,
            Direction::Up | Direction::Down => Axis::Vertical,
        }
    }

    /// Whether coordinates increase in this direction (right or down).
    pub(crate) fn is_forward(self) -> bool {
        matches!(self, Direction::Right | Direction::Down)
    }
}

impl Tab {
    /// Sets the title without the white space around it. Without a title, the tab shows its focused pane's title.
    pub(crate) fn set_title(&mut self, title: &str) {
        self.title = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
    }

    /// A tab with one pane.
    pub(crate) fn new(id: TabId, pane: PaneId) -> Self {
        Self { id, root: Node::Pane(pane), focused: pane, zoomed: false, title: None }
    }

    /// The panes, in reading order.
    pub fn panes(&self) -> Vec<PaneId> {
        let mut panes = Vec::new();
        self.root.collect(&mut panes);
        panes
    }

    /// The focused pane's nearest neighbor in a direction. If several panes are equally near, the pane that shares the
    /// longest edge. Ignores zoom.
    pub(crate) fn neighbor(&self, direction: Direction) -> Option<PaneId> {
        let area = Rect { x: 0, y: 0, width: 1 << 24, height: 1 << 24 };
        let mut placed = Vec::new();
        let nothing = Spacing { divider: 0, ..Spacing::CELLS };
        self.root.place(area, &nothing, &mut placed);
        let (_, own) = *placed.iter().find(|(pane, _)| *pane == self.focused)?;
        placed
            .iter()
            .filter_map(|(pane, rect)| {
                let (distance, common) = own.towards(*rect, direction)?;
                Some((distance, std::cmp::Reverse(common), *pane))
            })
            .min()
            .map(|(.., pane)| pane)
    }
}

impl Layout {
    /// Adds a tab: after the active tab, which it replaces as the active tab, or at the end.
    pub(crate) fn add(&mut self, tab: Tab, activates: bool) {
        if activates {
            let index = if self.tabs.is_empty() { 0 } else { self.active + 1 };
            self.tabs.insert(index, tab);
            self.active = index;
        } else {
            self.tabs.push(tab);
        }
    }

    /// The active tab.
    pub fn active_tab(&self) -> Option<&Tab> {
        self.tabs.get(self.active)
    }

    /// The index of the tab that contains a pane.
    pub fn tab_of(&self, pane: PaneId) -> Option<usize> {
        self.tabs.iter().position(|tab| tab.root.contains(pane))
    }
}

#[cfg(test)]
mod tests;
