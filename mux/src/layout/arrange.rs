//! Rearranges panes: swaps, rotates, equalizes, takes them out of a tab.

use super::{Axis, Layout, Node, Tab, TabId};
use crate::PaneId;

impl Node {
    /// Swaps `one` and `other`. If only one of them is in this tree, it is replaced by its partner.
    fn swap(&mut self, one: PaneId, other: PaneId) {
        match self {
            Node::Pane(pane) if *pane == one => *pane = other,
            Node::Pane(pane) if *pane == other => *pane = one,
            Node::Pane(_) => {}
            Node::Split { first, second, .. } => {
                first.swap(one, other);
                second.swap(one, other);
            }
        }
    }

    /// Assigns these panes to the tree's places, in reading order.
    fn refill(&mut self, panes: &mut impl Iterator<Item = PaneId>) {
        match self {
            Node::Pane(pane) => *pane = panes.next().unwrap_or(*pane),
            Node::Split { first, second, .. } => {
                first.refill(panes);
                second.refill(panes);
            }
        }
    }

    /// Gives the panes of each row, and of each column, the same space.
    fn equalize(&mut self) {
        let Node::Split { axis, ratio, first, second } = self else { return };
        let (one, two) = (first.parts(*axis), second.parts(*axis));
        *ratio = one as f32 / (one + two) as f32;
        first.equalize();
        second.equalize();
    }

    /// The number of parts along an axis.
    fn parts(&self, axis: Axis) -> usize {
        match self {
            Node::Split { axis: own, first, second, .. } if *own == axis => {
                first.parts(axis) + second.parts(axis)
            }
            _ => 1,
        }
    }
}

impl Tab {
    /// Moves each pane to the next place in reading order, and the last pane to the first place; the reverse if not
    /// `forward`. The focus stays on its pane.
    pub(crate) fn rotate(&mut self, forward: bool) {
        let mut panes = self.panes();
        if forward {
            panes.rotate_right(1)
        } else {
            panes.rotate_left(1)
        }
        self.root.refill(&mut panes.into_iter());
        self.zoomed = false;
    }

    /// Gives the panes of each row, and of each column, the same space.
    pub(crate) fn equalize(&mut self) {
        self.root.equalize();
    }
}

impl Layout {
    /// Swaps two panes, of one tab or of two. Within one tab the focus stays on its pane; across two tabs it stays on
    /// its place.
    pub(crate) fn swap(&mut self, one: PaneId, other: PaneId) {
        let (from, to) = (self.tab_of(one), self.tab_of(other));
        let (Some(from), Some(to)) = (from, to) else { return };
        self.tabs[from].root.swap(one, other);
        if from == to {
            return;
        }
        self.tabs[to].root.swap(one, other);
        for tab in [from, to] {
            let focused = &mut self.tabs[tab].focused;
            *focused = match *focused {
                pane if pane == one => other,
                pane if pane == other => one,
                pane => pane,
            };
        }
    }

    /// Removes a pane from its tab, and the tab if it has no panes left. The neighbour gets the pane's space and focus.
    /// Returns the tab and whether it was removed, or `None` if the pane has no tab.
    pub(crate) fn take(&mut self, pane: PaneId) -> Option<(TabId, bool)> {
        let index = self.tab_of(pane)?;
        let tab = &mut self.tabs[index];
        let id = tab.id;
        let Some(heir) = tab.root.remove(pane) else {
            self.tabs.remove(index);
            if index < self.active {
                self.active -= 1;
            }
            self.active = self.active.min(self.tabs.len().saturating_sub(1));
            return Some((id, true));
        };
        if tab.focused == pane {
            tab.focused = heir;
            tab.zoomed = false;
        }
        tab.zoomed &= tab.panes().len() > 1;
        Some((id, false))
    }
}
