//! Carries out the user's actions on panes: splits, drags of dividers, focus that follows the mouse, and input to
//! several panes.

use std::sync::Arc;

use unterm_mux::{Axis, Divider, OnExit, Pane, PaneId, Rect, Spawn, Tab, TabId};
use unterm_renderer::PixelRect;
use winit::window::CursorIcon;

use crate::window::{
    app::App,
    input::{buffer::Buffer, pointer::DOUBLE_CLICK},
    ui::geometry::{contains, pixels},
    workspace::panes::{Broadcast, Drag, icon, share},
};

/// The distance at which the pointer can grab a divider, on each side, in logical pixels.
const REACH: f32 = 3.0;

impl App {
    /// Splits a pane, and opens a shell to the right of it or below it. If the pane is too small, shows a message.
    pub(crate) fn split(&mut self, pane: PaneId, axis: Axis) {
        let beside = self.spawn_beside();
        // The new pane uses the profile of the old pane, in the same directory.
        let name = self.workspace.profiles.get(&pane).cloned();
        let profile = name.as_deref().and_then(|name| self.prefs.config.find_profile(name).ok());
        let spawn = match profile {
            Some(profile) => Spawn { cwd: beside.cwd.clone(), ..profile.spawn(beside) },
            None => beside,
        };
        match self.mux.split(pane, axis, spawn, OnExit::Close) {
            Ok(pane) => name.iter().for_each(|name| self.give_profile(&pane, name)),
            error => self.report(error),
        }
    }

    /// Assigns a profile to a pane. The profile's colors apply until the pane is closed.
    pub(crate) fn give_profile(&mut self, pane: &Pane, name: &str) {
        self.workspace.profiles.insert(pane.id(), name.to_owned());
        self.apply_profile(pane.id());
    }

    /// Shows a message that the pane is too small to split.
    pub(crate) fn refuse_split(&mut self, axis: Axis) {
        let needs = axis.split_needs();
        self.refuse("split", format!("The pane is too small to split.\nEach part needs {needs}."));
    }

    fn divider_at(&self, x: f64, y: f64) -> Option<(TabId, Divider)> {
        let geometry = self.surface.geometry?;
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

    /// The shape of the mouse pointer over a divider. `None` if no divider is at this point.
    pub(crate) fn divider_icon(&self, x: f64, y: f64) -> Option<CursorIcon> {
        let (_, divider) = self.divider_at(x, y)?;
        Some(icon(divider.axis))
    }

    /// Handles a left press: grabs the divider at a point. Returns false if no divider is there.
    pub(crate) fn grab_divider(&mut self, x: f64, y: f64) -> bool {
        let Some((tab, divider)) = self.divider_at(x, y) else { return false };
        let now = self.now;
        let before = self.workspace.panes.click.replace((now, divider.path.clone()));
        if before.is_some_and(|(time, path)| path == divider.path && now - time < DOUBLE_CLICK) {
            self.workspace.panes.click = None;
            self.report(self.mux.set_ratio(tab, &divider.path, 0.5));
            return true;
        }
        let at = match divider.axis {
            Axis::Horizontal => x - f64::from(divider.rect.x),
            Axis::Vertical => y - f64::from(divider.rect.y),
        };
        let before = share(&divider.space, divider.axis, divider.rect);
        self.workspace.panes.drag = Some(Drag { tab, divider, grip: at, before });
        true
    }

    /// Moves the dragged divider to the pointer. Returns false if no divider is dragged.
    pub(crate) fn drag_divider(&mut self, x: f64, y: f64) -> bool {
        let Some(drag) = &self.workspace.panes.drag else { return false };
        let Divider { path, axis, rect, space } = &drag.divider;
        let place = |at: f64, from: u32| (at - drag.grip).max(f64::from(from)) as u32;
        let rect = match axis {
            Axis::Horizontal => Rect { x: place(x, space.x), ..*rect },
            Axis::Vertical => Rect { y: place(y, space.y), ..*rect },
        };
        let share = share(space, *axis, rect);
        // The press that started this drag does not count toward a double click.
        self.workspace.panes.click = None;
        let icon = icon(*axis);
        let moved = self.mux.set_ratio(drag.tab, path, share);
        self.report(moved);
        self.set_icon(icon);
        true
    }

    /// Ends the drag of a divider, and restores the split's ratio. Returns false if no divider was dragged.
    pub(crate) fn cancel_divider_drag(&mut self) -> bool {
        let Some(drag) = self.workspace.panes.drag.take() else { return false };
        self.report(self.mux.set_ratio(drag.tab, &drag.divider.path, drag.before));
        true
    }

    /// Ends the drag of a divider if a change of the tabs removed the divider.
    pub(crate) fn check_divider_drag(&mut self) {
        let layout = self.mux.layout();
        let Some(geometry) = self.surface.geometry else {
            return;
        };
        let Some(drag) = &self.workspace.panes.drag else { return };
        let tab = layout.active_tab().filter(|tab| tab.id == drag.tab);
        let dividers = tab.map(|tab| tab.dividers(geometry.content(), &geometry.spacing()));
        let is_there = dividers.into_iter().flatten().any(|divider| {
            divider.path == drag.divider.path
                && divider.axis == drag.divider.axis
                && divider.space == drag.divider.space
        });
        if !is_there {
            self.workspace.panes.drag = None;
        }
    }

    /// Focuses a pane that the pointer enters, if `mouse.focus_follows_mouse` is on.
    pub(crate) fn focus_follows(&mut self, pane: PaneId) {
        if self.prefs.config.mouse.focus_follows_mouse
            && self.input.focused
            && self.mux.layout().active_tab().is_some_and(|tab| tab.focused != pane)
        {
            self.report(self.mux.focus(pane));
        }
    }

    /// The panes, other than the focused pane, that receive its input.
    pub(crate) fn listeners(&self, focused: PaneId) -> Vec<Arc<Pane>> {
        if self.workspace.panes.broadcast == Broadcast::Off {
            return Vec::new();
        }
        let panes = self.workspace.panes.broadcast.panes(&self.mux.layout());
        let others = panes.into_iter().filter(|pane| *pane != focused);
        others.filter_map(|pane| self.mux.pane(pane)).collect()
    }

    /// Pastes into the focused pane and into every pane that receives its input.
    pub(crate) fn paste_to_all(&mut self, buffer: Buffer, focused: PaneId) {
        let listeners = self.listeners(focused).into_iter().map(|pane| pane.id());
        self.paste_into(buffer, listeners.chain([focused]).collect());
    }

    /// Zooms the focused pane to the full size of its tab, or ends the zoom. Returns false if the tab contains only
    /// one pane.
    pub(crate) fn zoom(&mut self, tab: &Tab) -> bool {
        let is_split = tab.panes().len() > 1;
        if is_split {
            self.mux.toggle_zoom();
        }
        is_split
    }

    /// Moves each pane of a tab to the place of the next or the previous pane. Returns false if the tab contains only
    /// one pane.
    pub(crate) fn rotate_panes(&mut self, tab: &Tab, forward: bool) -> bool {
        self.report(self.mux.rotate_panes(tab.id, forward));
        tab.panes().len() > 1
    }

    /// Makes all panes of a tab equally large. Returns false if the tab contains only one pane.
    pub(crate) fn equalize_panes(&mut self, tab: &Tab) -> bool {
        self.report(self.mux.equalize_panes(tab.id));
        tab.panes().len() > 1
    }

    /// Moves the focused pane of a tab to a new tab. Returns false if the tab contains only one pane.
    pub(crate) fn pane_to_new_tab(&mut self, tab: &Tab) -> bool {
        self.report(self.mux.move_to_new_tab(tab.focused));
        tab.panes().len() > 1
    }

    /// Moves the focused pane of a tab to another tab. Returns false if the pane is already in that tab.
    pub(crate) fn pane_to_tab(&mut self, tab: &Tab, target: TabId) -> bool {
        self.report(self.mux.move_to_tab(tab.focused, target));
        target != tab.id
    }
}
