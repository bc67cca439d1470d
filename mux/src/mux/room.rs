//! Whether there is room for a split: in the cells of a tab, or in the space of a window, which says what it has.

use super::{Mux, MuxError, State};
use crate::{Axis, PaneId, Rect, Spacing};

impl Mux {
    /// A window says what space its tabs' panes have, and how it is divided. Until it has, there is room for any split.
    pub fn set_space(&self, area: Rect, spacing: Spacing) {
        self.state.lock().space = Some((area, spacing));
    }

    /// Whether a pane can be split; not one without a tab.
    pub fn has_room(&self, pane: PaneId, axis: Axis) -> bool {
        self.check_room(&self.state.lock(), pane, axis).is_ok()
    }

    /// An error where a pane can't be split.
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
