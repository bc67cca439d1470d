//! The user's actions on the panes of a tab: dragging dividers, and sending input to several panes.

use std::time::Instant;

use unterm_mux::{Axis, Divider, Layout, PaneId, Rect, SplitPath, Tab, TabId};
use winit::window::CursorIcon;

use crate::window::ui::geometry::DIVIDER;

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

    /// Whether the broadcast reaches all panes of a tab.
    pub(crate) fn covers(self, tab: TabId) -> bool {
        self == Self::All || self == Self::Tab(tab)
    }
}

/// The broadcast of input, and drags of dividers.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    pub(crate) broadcast: Broadcast,
    pub(crate) drag: Option<Drag>,
    /// The last press on a divider, to detect double clicks.
    pub(crate) click: Option<(Instant, SplitPath)>,
}

impl Hand {
    /// Starts or stops the broadcast of typed input to other panes.
    pub(crate) fn toggle_broadcast(&mut self, wanted: Broadcast) {
        self.broadcast = if self.broadcast == wanted { Broadcast::Off } else { wanted };
    }
}

/// A divider that is dragged with the left button.
#[derive(Clone, Debug)]
pub(crate) struct Drag {
    pub(crate) tab: TabId,
    pub(crate) divider: Divider,
    /// The distance from the divider's start to the pressed point, in pixels.
    pub(crate) grip: f64,
    /// The split's ratio before the drag.
    pub(crate) before: f32,
}

/// The panes that an active tab shows. A zoomed pane hides all other panes.
pub(crate) fn in_sight(tab: &Tab) -> Vec<PaneId> {
    if tab.zoomed { vec![tab.focused] } else { tab.panes() }
}

pub(crate) fn icon(axis: Axis) -> CursorIcon {
    match axis {
        Axis::Horizontal => CursorIcon::ColResize,
        Axis::Vertical => CursorIcon::RowResize,
    }
}

/// The ratio of a split whose divider is at `divider`.
pub(crate) fn share(space: &Rect, axis: Axis, divider: Rect) -> f32 {
    let (first, length) = match axis {
        Axis::Horizontal => (divider.x.saturating_sub(space.x), space.width),
        Axis::Vertical => (divider.y.saturating_sub(space.y), space.height),
    };
    first as f32 / length.saturating_sub(DIVIDER).max(1) as f32
}

#[cfg(test)]
mod tests {
    use unterm_mux::Node;

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

    #[test]
    fn a_divider_is_where_its_share_says() {
        let space = Rect { x: 10, y: 0, width: 201, height: 50 };
        let divider = Rect { x: 60, y: 0, width: 1, height: 50 };
        assert_eq!(share(&space, Axis::Horizontal, divider), 0.25);
    }
}
