//! Rearranges panes: swaps, rotates or equalizes them, or removes them from a tab.

use super::{Axis, Layout, Node, Tab, TabId};
use crate::PaneId;

impl Node {
    /// Swaps panes `one` and `other`. If this tree contains only one of them, replaces it by the other pane.
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

    /// Assigns these panes to the positions of the tree, in reading order.
    fn refill(&mut self, panes: &mut impl Iterator<Item = PaneId>) {
        match self {
            Node::Pane(pane) => *pane = panes.next().unwrap_or(*pane),
            Node::Split { first, second, .. } => {
                first.refill(panes);
                second.refill(panes);
            }
        }
    }

    /// Gives the panes of each row equal widths, and the panes of each column equal heights.
    fn equalize(&mut self) {
        let Node::Split { axis, ratio, first, second } = self else { return };
        let (one, two) = (first.parts(*axis), second.parts(*axis));
        *ratio = one as f32 / (one + two) as f32;
        first.equalize();
        second.equalize();
    }

    /// The number of parts into which the tree is divided along an axis.
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
    /// Replaces the arrangement, the focused pane and the zoom. Returns false if `root` does not contain exactly the
    /// tab's panes, or if `focused` is not one of them.
    pub(crate) fn arrange(&mut self, mut root: Node, focused: PaneId, zoomed: bool) -> bool {
        let mut panes = (Vec::new(), self.panes());
        root.collect(&mut panes.0);
        panes.0.sort_unstable();
        panes.1.sort_unstable();
        if panes.0 != panes.1 || !root.contains(focused) {
            return false;
        }
        root.limit_ratios();
        self.zoomed = zoomed && matches!(root, Node::Split { .. });
        self.root = root;
        self.focused = focused;
        true
    }

    /// If `forward`, moves each pane to the next position in reading order, and the last pane to the first position.
    /// Otherwise moves them in the opposite direction. The focused pane stays focused.
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

    /// Gives the panes of each row equal widths, and the panes of each column equal heights.
    pub(crate) fn equalize(&mut self) {
        self.root.equalize();
    }
}

impl Layout {
    /// Swaps two panes of one tab or of two tabs. In one tab, the focused pane stays focused. Across two tabs, the
    /// focus stays at its position.
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

    /// Removes a pane from its tab, and removes the tab if it is then empty. The pane's neighbor gets its space and
    /// focus. Returns the tab and whether the tab was removed, or `None` if no tab contains the pane.
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
