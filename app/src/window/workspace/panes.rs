//! The user's actions on the panes of a tab: moving panes, and sending input to several panes.

use std::sync::Arc;

use unterm_mux::{Layout, Mux, Pane, PaneId, Spawn, Tab, TabId};

use crate::window::cx::Cx;

/// The panes that receive the input of the focused pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Broadcast {
    /// Only the focused pane receives input.
    #[default]
    Off,
    /// All panes of a tab receive input, while that tab is active.
    Tab(TabId),
    /// All panes of all tabs receive input.
    All,
}

impl Broadcast {
    /// The panes that receive the input of the focused pane, including the focused pane. Empty if no other pane
    /// receives it.
    pub(crate) fn panes(self, layout: &Layout) -> Vec<PaneId> {
        let panes: Vec<PaneId> = match (self, layout.active_tab()) {
            (Self::Tab(tab), Some(active)) if active.id == tab => active.panes(),
            (Self::All, Some(_)) => layout.tabs.iter().flat_map(|tab| tab.panes()).collect(),
            _ => Vec::new(),
        };
        if panes.len() > 1 { panes } else { Vec::new() }
    }

    /// The panes, other than the focused pane, that receive its input.
    pub(crate) fn listeners(self, focused: PaneId, mux: &Mux) -> Vec<Arc<Pane>> {
        if self == Self::Off {
            return Vec::new();
        }
        let others = self.panes(&mux.layout()).into_iter().filter(|pane| *pane != focused);
        others.filter_map(|pane| mux.pane(pane)).collect()
    }

    /// Starts or stops the broadcast of typed input to other panes.
    pub(crate) fn toggle(&mut self, wanted: Self) {
        *self = if *self == wanted { Self::Off } else { wanted };
    }

    /// Whether the broadcast reaches all panes of a tab.
    pub(crate) fn covers(self, tab: TabId) -> bool {
        self == Self::All || self == Self::Tab(tab)
    }
}

/// The panes that an active tab shows. A zoomed pane hides all other panes.
pub(crate) fn in_sight(tab: &Tab) -> Vec<PaneId> {
    if tab.zoomed { vec![tab.focused] } else { tab.panes() }
}

/// The start of a shell in the focused pane's directory. If that directory does not exist, the default directory
/// applies.
pub(crate) fn spawn_beside(mux: &Mux) -> Spawn {
    let layout = mux.layout();
    let focused = layout.active_tab().and_then(|tab| mux.pane(tab.focused));
    let cwd = focused.and_then(|pane| pane.cwd_path()).filter(|cwd| cwd.is_dir());
    Spawn { cwd, ..Spawn::default() }
}

/// Focuses a pane that the pointer enters, if `mouse.focus_follows_mouse` is on.
pub(crate) fn focus_follows(pane: PaneId, cx: &mut Cx<'_>) {
    if cx.prefs.config.mouse.focus_follows_mouse
        && cx.has_focus
        && cx.focused().is_some_and(|focused| focused != pane)
    {
        cx.report(cx.mux.focus(pane));
    }
}

/// Zooms the focused pane to the full size of its tab, or ends the zoom. Returns false if the tab contains only one
/// pane.
pub(crate) fn zoom(tab: &Tab, cx: &Cx<'_>) -> bool {
    let is_split = tab.panes().len() > 1;
    if is_split {
        cx.mux.toggle_zoom();
    }
    is_split
}

/// Moves each pane of a tab to the place of the next or the previous pane. Returns false if the tab contains only one
/// pane.
pub(crate) fn rotate(tab: &Tab, forward: bool, cx: &mut Cx<'_>) -> bool {
    cx.report(cx.mux.rotate_panes(tab.id, forward));
    tab.panes().len() > 1
}

/// Makes all panes of a tab equally large. Returns false if the tab contains only one pane.
pub(crate) fn equalize(tab: &Tab, cx: &mut Cx<'_>) -> bool {
    cx.report(cx.mux.equalize_panes(tab.id));
    tab.panes().len() > 1
}

/// Focuses the pane that is `by` places further in its tab. Wraps around at the ends. Returns false if the tab contains
/// only one pane.
pub(crate) fn cycle(tab: &Tab, by: isize, cx: &mut Cx<'_>) -> bool {
    let panes = tab.panes();
    let at = panes.iter().position(|pane| *pane == tab.focused).unwrap_or(0) as isize;
    let next = panes[(at + by).rem_euclid(panes.len() as isize) as usize];
    if next != tab.focused {
        cx.report(cx.mux.focus(next));
    }
    next != tab.focused
}

/// Moves the focused pane of a tab to a new tab. Returns false if the tab contains only one pane.
pub(crate) fn move_to_new_tab(tab: &Tab, cx: &mut Cx<'_>) -> bool {
    cx.report(cx.mux.move_to_new_tab(tab.focused));
    tab.panes().len() > 1
}

/// Moves the focused pane of a tab to another tab. Returns false if the pane is already in that tab.
pub(crate) fn move_to_tab(tab: &Tab, target: TabId, cx: &mut Cx<'_>) -> bool {
    cx.report(cx.mux.move_to_tab(tab.focused, target));
    target != tab.id
}

#[cfg(test)]
mod tests {
    use unterm_mux::{Axis, Node};

    use super::*;

    fn layout() -> Layout {
        let tab = |id: u64, panes: [u64; 2]| Tab {
            id: TabId(id),
            root: Node::Split {
                axis: Axis::Horizontal,
                ratio: 0.5,
                first: Box::new(Node::Pane(PaneId(panes[0]))),
                second: Box::new(Node::Pane(PaneId(panes[1]))),
            },
            focused: PaneId(panes[0]),
            zoomed: false,
            title: None,
        };
        Layout { tabs: vec![tab(0, [0, 1]), tab(1, [2, 3])], active: 0 }
    }

    #[test]
    fn input_goes_to_the_panes_of_a_tab_only_while_that_is_in_front() {
        let mut layout = layout();
        assert!(Broadcast::Off.panes(&layout).is_empty());
        assert_eq!(Broadcast::Tab(TabId(0)).panes(&layout), [PaneId(0), PaneId(1)]);
        assert!(Broadcast::Tab(TabId(1)).panes(&layout).is_empty());
        assert_eq!(Broadcast::All.panes(&layout).len(), 4);
        layout.tabs.truncate(1);
        layout.tabs[0].root = Node::Pane(PaneId(0));
        assert!(Broadcast::All.panes(&layout).is_empty(), "there is nobody else");
    }

    #[test]
    fn a_zoomed_pane_alone_is_seen() {
        let mut tab = layout().tabs.remove(0);
        assert_eq!(in_sight(&tab), [PaneId(0), PaneId(1)]);
        (tab.zoomed, tab.focused) = (true, PaneId(1));
        assert_eq!(in_sight(&tab), [PaneId(1)]);
    }
}
