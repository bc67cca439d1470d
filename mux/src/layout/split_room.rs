//! Whether a pane can be split.

use super::{Axis, Rect, Spacing, Tab};
use crate::PaneId;

/// The minimum columns and rows of each part when a pane is split. Smaller parts would not fit a command and its
/// output. A part can be resized below the minimum later. wezterm and zellij also refuse splits without room.
const LEAST_COLUMNS: u32 = 4;
const LEAST_ROWS: u32 = 2;

impl Axis {
    /// Text for users: the size that each part of a split needs, and how to get it.
    pub fn split_needs(self) -> String {
        match self {
            Self::Horizontal => {
                format!("{LEAST_COLUMNS} columns; make it wider, or close another")
            }
            Self::Vertical => format!("{LEAST_ROWS} rows; make it taller, or close another"),
        }
    }
}

impl Tab {
    /// Whether both parts would be large enough if the pane were split in a tab of this size. Ignores zoom, because a
    /// split ends zoom.
    pub(crate) fn can_split(
        &self,
        pane: PaneId,
        axis: Axis,
        space: Rect,
        spacing: &Spacing,
    ) -> bool {
        let mut placed = Vec::new();
        self.root.place(space, spacing, &mut placed);
        let Some((_, area)) = placed.into_iter().find(|(id, _)| *id == pane) else { return false };
        let (one, two) = area.split(axis, 0.5, spacing);
        let cells =
            |length: u32, cell: u32| length.saturating_sub(2 * spacing.padding) / cell.max(1);
        [one, two].into_iter().all(|part| match axis {
            Axis::Horizontal => cells(part.width, spacing.cell.0) >= LEAST_COLUMNS,
            Axis::Vertical => cells(part.height, spacing.cell.1) >= LEAST_ROWS,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Node, TabId};

    #[test]
    fn a_pane_is_split_only_if_both_parts_are_usable() {
        let mut tab = Tab::new(TabId(0), PaneId(0));
        assert!(tab.root.split(PaneId(0), Axis::Horizontal, PaneId(1)));
        let spacing = Spacing { divider: 1, cell: (9, 19), padding: 8 };
        let can = |tab: &Tab, pane: u64, axis: Axis, (width, height): (u32, u32)| {
            let space = Rect { x: 0, y: 30, width, height };
            tab.can_split(PaneId(pane), axis, space, &spacing)
        };
        // The space for two parts of four 9-pixel columns, or of two rows of 19 pixels, with their paddings and the
        // line between them.
        let (width, height) = (8 * 9 + 4 * 8 + 1, 4 * 19 + 4 * 8 + 1);
        let whole = (2 * width + 1 + 9, height);
        for pane in [0, 1] {
            assert!(can(&tab, pane, Axis::Horizontal, whole));
            assert!(!can(&tab, pane, Axis::Horizontal, (whole.0 / 2, height)));
            assert!(can(&tab, pane, Axis::Vertical, whole));
            assert!(!can(&tab, pane, Axis::Vertical, (whole.0, height - 1)));
        }
        assert!(!can(&tab, 9, Axis::Vertical, whole), "there is no such pane");
        // A pane that is alone or zoomed fills the whole tab. Because a split ends zoom, a zoomed pane may still be too
        // small to split.
        (tab.zoomed, tab.focused) = (true, PaneId(1));
        assert!(!can(&tab, 1, Axis::Horizontal, (width, height)));
        tab.root = Node::Pane(PaneId(1));
        assert!(can(&tab, 1, Axis::Horizontal, (width, height)));
        assert!(!can(&tab, 1, Axis::Horizontal, (width - 1, height)));
        assert!(!can(&tab, 1, Axis::Horizontal, (0, 0)));
    }

    #[test]
    fn a_divider_is_one_column_wide_in_cells() {
        let tab = Tab::new(TabId(0), PaneId(0));
        let can = |axis: Axis, width: u32, height: u32| {
            let space = Rect { x: 0, y: 0, width, height };
            tab.can_split(PaneId(0), axis, space, &Spacing::CELLS)
        };
        assert!(can(Axis::Horizontal, 9, 1) && !can(Axis::Horizontal, 8, 30));
        assert!(can(Axis::Vertical, 1, 5) && !can(Axis::Vertical, 120, 4));
    }
}
