//! The panes of a tab: splits, divider drags, focus that follows the mouse, and input broadcast to several panes.

use std::{sync::Arc, time::Instant};

use unterm_mux::{Axis, Divider, Layout, OnExit, Pane, PaneId, Rect, SplitPath, Tab, TabId};
use unterm_renderer::PixelRect;
use winit::window::CursorIcon;

use super::{
    App,
    clipboard::Buffer,
    geometry::{DIVIDER, contains, pixels},
    pointer::DOUBLE_CLICK,
};
use crate::action::Action;

/// How near the pointer must be to a divider to grab it, in logical pixels on each side.
const REACH: f32 = 3.0;

/// Which panes receive the input of the focused pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Broadcast {
    /// Only the focused pane.
    #[default]
    Off,
    /// All panes of a tab, while that tab is active.
    Tab(TabId),
    /// All panes of all tabs.
    All,
}

impl Broadcast {
    /// The panes that receive the focused pane's input, itself included. Empty if no other pane does.
    pub(super) fn panes(self, layout: &Layout) -> Vec<PaneId> {
        let panes: Vec<PaneId> = match (self, layout.active_tab()) {
            (Self::Tab(tab), Some(active)) if active.id == tab => active.panes(),
            (Self::All, Some(_)) => layout.tabs.iter().flat_map(|tab| tab.panes()).collect(),
            _ => Vec::new(),
        };
        if panes.len() > 1 { panes } else { Vec::new() }
    }

    /// Whether the broadcast includes all panes of a tab.
    pub(super) fn covers(self, tab: TabId) -> bool {
        self == Self::All || self == Self::Tab(tab)
    }
}

/// Broadcast and divider drags.
#[derive(Debug, Default)]
pub(super) struct Hand {
    pub(super) broadcast: Broadcast,
    drag: Option<Drag>,
    /// The last press on a divider, for double clicks.
    click: Option<(Instant, SplitPath)>,
}

/// A divider that the left button drags.
#[derive(Clone, Debug)]
struct Drag {
    tab: TabId,
    divider: Divider,
    /// The offset of the press in the divider, in pixels.
    grip: f64,
    /// The split's ratio before the drag.
    before: f32,
}

/// The panes that a tab shows while it is active: a zoomed pane hides the others.
pub(super) fn in_sight(tab: &Tab) -> Vec<PaneId> {
    if tab.zoomed { vec![tab.focused] } else { tab.panes() }
}

impl App {
    /// Splits a pane, and opens a shell to its right or below it; shows a message if there is no room.
    pub(super) fn split(&mut self, pane: PaneId, axis: Axis) {
        let spawn = self.spawn_beside();
        self.report(self.mux.split(pane, axis, spawn, OnExit::Close));
    }

    /// Shows a message that the pane is too small to split.
    pub(super) fn refuse_split(&mut self, axis: Axis) {
        let needs = axis.split_needs();
        self.refuse("split", format!("The pane is too small to split.\nEach part needs {needs}."));
    }

    fn divider_at(&self, x: f64, y: f64) -> Option<(TabId, Divider)> {
        let geometry = self.screen.as_ref()?.geometry;
        let layout = self.mux.layout();
        let tab = layout.active_tab()?;
        let reach = geometry.px(REACH);
        let dividers = tab.dividers(geometry.content(), &geometry.spacing());
        let near = |divider: &Divider| {
            let PixelRect { x: left, y: top, width, height } = pixels(divider.rect);
            let wide = match divider.axis {
                Axis::Horizontal => {
                    PixelRect { x: left - reach as i32, width: width + 2 * reach, y: top, height }
                }
                Axis::Vertical => {
                    PixelRect { y: top - reach as i32, height: height + 2 * reach, x: left, width }
                }
            };
            contains(wide, x, y)
        };
        dividers.into_iter().find(near).map(|divider| (tab.id, divider))
    }

    /// The mouse cursor over a divider.
    pub(super) fn divider_icon(&self, x: f64, y: f64) -> Option<CursorIcon> {
        let (_, divider) = self.divider_at(x, y)?;
        Some(icon(divider.axis))
    }

    /// Handles a left press: grabs the divider at the point. False if there is no divider.
    pub(super) fn grab_divider(&mut self, x: f64, y: f64) -> bool {
        let Some((tab, divider)) = self.divider_at(x, y) else { return false };
        let now = Instant::now();
        let before = self.pane_hand.click.replace((now, divider.path.clone()));
        if before.is_some_and(|(time, path)| path == divider.path && now - time < DOUBLE_CLICK) {
            self.pane_hand.click = None;
            self.report(self.mux.set_ratio(tab, &divider.path, 0.5));
            return true;
        }
        let at = match divider.axis {
            Axis::Horizontal => x - f64::from(divider.rect.x),
            Axis::Vertical => y - f64::from(divider.rect.y),
        };
        let before = share(&divider.space, divider.axis, divider.rect);
        self.pane_hand.drag = Some(Drag { tab, divider, grip: at, before });
        true
    }

    /// Moves the dragged divider to the pointer. False if no divider is dragged.
    pub(super) fn drag_divider(&mut self, x: f64, y: f64) -> bool {
        let Some(drag) = &self.pane_hand.drag else { return false };
        let Divider { path, axis, rect, space } = &drag.divider;
        let place = |at: f64, from: u32| (at - drag.grip).max(f64::from(from)) as u32;
        let rect = match axis {
            Axis::Horizontal => Rect { x: place(x, space.x), ..*rect },
            Axis::Vertical => Rect { y: place(y, space.y), ..*rect },
        };
        let share = share(space, *axis, rect);
        // A press that starts a drag does not count towards a double click.
        self.pane_hand.click = None;
        let icon = icon(*axis);
        let moved = self.mux.set_ratio(drag.tab, path, share);
        self.report(moved);
        self.set_icon(icon);
        true
    }

    /// Ends the drag. False if no divider was dragged.
    pub(super) fn drop_divider(&mut self) -> bool {
        self.pane_hand.drag.take().is_some()
    }

    /// Ends the drag and restores the split's ratio. False if no divider was dragged.
    pub(super) fn cancel_divider_drag(&mut self) -> bool {
        let Some(drag) = self.pane_hand.drag.take() else { return false };
        self.report(self.mux.set_ratio(drag.tab, &drag.divider.path, drag.before));
        true
    }

    /// After the tabs changed, ends the drag if its divider no longer exists.
    pub(super) fn check_divider_drag(&mut self) {
        let layout = self.mux.layout();
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else { return };
        let Some(drag) = &self.pane_hand.drag else { return };
        let tab = layout.active_tab().filter(|tab| tab.id == drag.tab);
        let dividers = tab.map(|tab| tab.dividers(geometry.content(), &geometry.spacing()));
        let is_there = dividers.into_iter().flatten().any(|divider| {
            divider.path == drag.divider.path
                && divider.axis == drag.divider.axis
                && divider.space == drag.divider.space
        });
        if !is_there {
            self.pane_hand.drag = None;
        }
    }

    /// Focuses the pane under the pointer if `mouse.focus_follows_mouse` is on.
    pub(super) fn focus_follows(&mut self, pane: PaneId) {
        if self.config.mouse.focus_follows_mouse
            && self.focused
            && self.mux.layout().active_tab().is_some_and(|tab| tab.focused != pane)
        {
            self.report(self.mux.focus(pane));
        }
    }

    /// The other panes that receive the focused pane's input.
    pub(super) fn listeners(&self, focused: PaneId) -> Vec<Arc<Pane>> {
        if self.pane_hand.broadcast == Broadcast::Off {
            return Vec::new();
        }
        let panes = self.pane_hand.broadcast.panes(&self.mux.layout());
        let others = panes.into_iter().filter(|pane| *pane != focused);
        others.filter_map(|pane| self.mux.pane(pane)).collect()
    }

    /// Pastes into the focused pane and into every pane that receives its input.
    pub(super) fn paste_to_all(&mut self, buffer: Buffer, focused: PaneId) {
        let listeners = self.listeners(focused).into_iter().map(|pane| pane.id());
        self.paste_into(buffer, listeners.chain([focused]).collect());
    }

    /// Runs an action that arranges panes; false if it is no such action, or had no effect.
    pub(super) fn arrange_panes(&mut self, action: &Action, tab: &Tab) -> bool {
        let layout = self.mux.layout();
        match action {
            Action::SwapPane(direction) => return self.mux.swap_direction(*direction),
            Action::RotatePanes(forward) => self.report(self.mux.rotate_panes(tab.id, *forward)),
            Action::EqualizePanes => self.report(self.mux.equalize_panes(tab.id)),
            Action::PaneToNewTab => self.report(self.mux.move_to_new_tab(tab.focused)),
            Action::PaneToTab(number) => {
                let index = (number - 1).min(layout.tabs.len().saturating_sub(1));
                let target = &layout.tabs[index];
                self.report(self.mux.move_to_tab(tab.focused, target.id));
            }
            Action::BroadcastTab | Action::BroadcastAll => {
                let wanted = match action {
                    Action::BroadcastAll => Broadcast::All,
                    _ => Broadcast::Tab(tab.id),
                };
                let broadcast = &mut self.pane_hand.broadcast;
                *broadcast = if *broadcast == wanted { Broadcast::Off } else { wanted };
                self.pacing.ask();
            }
            _ => return false,
        }
        true
    }
}

fn icon(axis: Axis) -> CursorIcon {
    match axis {
        Axis::Horizontal => CursorIcon::ColResize,
        Axis::Vertical => CursorIcon::RowResize,
    }
}

/// A split's ratio when its divider is at `divider`.
fn share(space: &Rect, axis: Axis, divider: Rect) -> f32 {
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
