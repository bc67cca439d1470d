//! Checks whether there is room for a split, in the cells of a tab or in the space that a window reports.

use super::{Mux, MuxError, State};
use crate::{Axis, PaneId, Rect, Spacing};

impl Mux {
    /// Sets the space of every tab in a window, and how the space is divided. Before the first call, every split is
    /// allowed.
    pub fn set_space(&self, area: Rect, spacing: Spacing) {
        let before = self.state.lock().space.replace((area, spacing));
        if before != Some((area, spacing)) {
            self.follow_space();
        }
    }

    /// Sets the space that a window will give every tab after one more tab was opened. The space may be smaller, because
    /// a second tab makes the tab bar appear. Programs in new tabs start with this space.
    pub fn set_space_of_new_tab(&self, area: Rect) {
        self.state.lock().new_tab_space = Some(area);
    }

    /// Whether a pane is large enough to be split. False for a pane that belongs to no tab.
    pub fn has_room(&self, pane: PaneId, axis: Axis) -> bool {
        self.check_room(&self.state.lock(), pane, axis).is_ok()
    }

    /// Returns an error if a pane cannot be split.
    pub(super) fn check_room(
        &self,
        state: &State,
        pane: PaneId,
        axis: Axis,
    ) -> Result<(), MuxError> {
        let index = state.layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
        let tab = &state.layout.tabs[index];
        let space = match self.options.sized_by_window {
            true => state.space,
            false => state.cells(tab).map(|area| (area, Spacing::CELLS)),
        };
        match space {
            Some((area, spacing)) if !tab.can_split(pane, axis, area, &spacing) => {
                Err(MuxError::NoRoom { pane, axis })
            }
            _ => Ok(()),
        }
    }
}
