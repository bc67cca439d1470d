//! Rearranges existing panes: swaps, rotates and equalizes them, and moves them to other tabs.

use std::sync::atomic::Ordering;

use super::{Mux, MuxError, index_of};
use crate::{Axis, Direction, Node, PaneId, Tab, TabId};

impl Mux {
    /// Sets the share (0 to 1) of the space for a split's first part. Does nothing if the split no longer exists.
    pub fn set_ratio(&self, tab: TabId, path: &[bool], share: f32) -> Result<(), MuxError> {
        self.change(|layout| {
            let index = index_of(layout, tab)?;
            layout.tabs[index].root.set_ratio(path, share);
            Ok(())
        })
    }

    /// Replaces the arrangement of a tab's panes, its focused pane and its zoom. Does not activate the tab.
    ///
    /// # Errors
    /// If there is no such tab, or `root` does not contain exactly the tab's panes. Then nothing changes.
    pub fn arrange(
        &self,
        tab: TabId,
        root: Node,
        focused: PaneId,
        zoomed: bool,
    ) -> Result<(), MuxError> {
        self.change(|layout| {
            let index = index_of(layout, tab)?;
            let tab = &mut layout.tabs[index];
            match tab.arrange(root, focused, zoomed) {
                true => Ok(()),
                false => Err(MuxError::OtherPanes(tab.id)),
            }
        })
    }

    /// Swaps two panes of one tab or of two tabs. Panes of tmux stay in their tab.
    pub fn swap_panes(&self, one: PaneId, other: PaneId) -> Result<(), MuxError> {
        let layout = self.layout();
        if layout.tab_of(one) != layout.tab_of(other) {
            self.check_local(&[one, other])?;
        }
        self.change(|layout| {
            for pane in [one, other] {
                layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
            }
            layout.swap(one, other);
            Ok(())
        })
    }

    /// Swaps the focused pane of the active tab with its neighbor in a direction. Returns false if it has no neighbor
    /// in that direction.
    pub fn swap_direction(&self, direction: Direction) -> bool {
        let layout = self.layout();
        let tab = layout.active_tab().filter(|tab| !tab.zoomed);
        tab.and_then(|tab| Some((tab.focused, tab.neighbor(direction)?)))
            .is_some_and(|(focused, other)| self.swap_panes(focused, other).is_ok())
    }

    /// If `forward`, moves each pane of a tab to the next position, and the last pane to the first. Otherwise moves
    /// them in the opposite direction. Zoom ends.
    pub fn rotate_panes(&self, tab: TabId, forward: bool) -> Result<(), MuxError> {
        self.change(|layout| {
            let index = index_of(layout, tab)?;
            layout.tabs[index].rotate(forward);
            Ok(())
        })
    }

    /// Gives the panes of each row equal widths, and the panes of each column equal heights.
    pub fn equalize_panes(&self, tab: TabId) -> Result<(), MuxError> {
        self.change(|layout| {
            let index = index_of(layout, tab)?;
            layout.tabs[index].equalize();
            Ok(())
        })
    }

    /// Moves a pane to a new tab after its present tab, and activates the new tab. If the pane is alone in its tab,
    /// nothing changes.
    pub fn move_to_new_tab(&self, pane: PaneId) -> Result<(), MuxError> {
        self.check_local(&[pane])?;
        let new = TabId(self.next_tab.fetch_add(1, Ordering::Relaxed));
        self.change_state(|state| {
            let index = state.layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
            let tab = &state.layout.tabs[index];
            if tab.root == Node::Pane(pane) {
                return Ok(());
            }
            if let Some(area) = state.areas.get(&tab.id).copied() {
                state.areas.insert(new, area);
            }
            let layout = state.layout_mut();
            layout.take(pane);
            layout.tabs.insert(index + 1, Tab::new(new, pane));
            layout.active = index + 1;
            Ok(())
        })
    }

    /// Moves a pane to the right of another tab's focused pane, focuses it and activates that tab. The old tab closes
    /// if it is then empty. Fails if the focused pane is too small to split.
    pub fn move_to_tab(&self, pane: PaneId, tab: TabId) -> Result<(), MuxError> {
        let layout = self.layout();
        let target = layout.tabs.iter().find(|open| open.id == tab).map(|tab| tab.focused);
        self.check_local(&[Some(pane), target].into_iter().flatten().collect::<Vec<_>>())?;
        self.change_state(|state| {
            let from = state.layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
            let target = index_of(&state.layout, tab)?;
            if from == target {
                return Ok(());
            }
            let focused = state.layout.tabs[target].focused;
            self.check_room(state, focused, Axis::Horizontal)?;
            state.take_from_tab(pane);
            let layout = state.layout_mut();
            let index = index_of(layout, tab)?;
            let target = &mut layout.tabs[index];
            target.root.split(target.focused, Axis::Horizontal, pane);
            target.focused = pane;
            target.zoomed = false;
            layout.active = index;
            Ok(())
        })
    }

    /// Returns an error if one of the panes belongs to tmux, whose windows contain only its own panes.
    fn check_local(&self, panes: &[PaneId]) -> Result<(), MuxError> {
        let is_in_tmux = |id: &&PaneId| self.pane(**id).is_some_and(|pane| pane.is_in_tmux());
        match panes.iter().find(is_in_tmux) {
            Some(pane) => Err(MuxError::InTmux(*pane)),
            None => Ok(()),
        }
    }
}
