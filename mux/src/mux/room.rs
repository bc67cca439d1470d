//! Sets the space of tabs, and checks whether there is room for a split, in the cells of a tab or in the space that a
//! window reports.

use unterm_term::Size;

use super::{Mux, MuxError, State, index_of};
use crate::{Axis, PaneId, Rect, Spacing, TabId};

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

    /// Sets the size of a tab in cells, and divides it among the tab's panes. Pinned panes keep their size. Returns false
    /// if a window sizes the panes. Then nothing changes.
    pub fn resize_tab(&self, tab: TabId, cols: u16, rows: u16) -> Result<bool, MuxError> {
        if self.options.sized_by_window {
            return Ok(false);
        }
        {
            let mut state = self.state.lock();
            index_of(&state.layout, tab)?;
            let before = state.areas.get(&tab).copied().unwrap_or(self.options.default_size);
            state.areas.insert(tab, Size { cols: cols.max(1), rows: rows.max(1), ..before });
        }
        self.divide_cells();
        Ok(true)
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
