//! How a tab's space is divided: where the parts of each split lie, and the dividers between them.

use super::{Axis, Node, Rect, Spacing, Tab};
use crate::PaneId;

/// No part of a split can be made smaller than this share of it.
pub(super) const MIN_SHARE: f32 = 0.05;

/// Where a split is in its tab's tree: at each split from the root on, whether it is in the second part.
pub type SplitPath = Vec<bool>;

/// The line between the parts of a split.
#[derive(Clone, Debug, PartialEq)]
pub struct Divider {
    /// The split.
    pub path: SplitPath,
    /// How its parts lie.
    pub axis: Axis,
    /// Where the line is.
    pub rect: Rect,
    /// The space of the split, both parts and the line.
    pub space: Rect,
}

impl Tab {
    /// Where each visible pane lies within `area`.
    pub fn place(&self, area: Rect, spacing: &Spacing) -> Vec<(PaneId, Rect)> {
        if self.zoomed {
            return vec![(self.focused, area)];
        }
        let mut placed = Vec::new();
        self.root.place(area, spacing, &mut placed);
        placed
    }

    /// The dividers between its visible panes, where [`Tab::place`] leaves room for them.
    pub fn dividers(&self, area: Rect, spacing: &Spacing) -> Vec<Divider> {
        let mut dividers = Vec::new();
        if !self.zoomed {
            self.root.dividers(area, spacing, &mut SplitPath::new(), &mut dividers);
        }
        dividers
    }
}

impl Node {
    pub(super) fn place(&self, area: Rect, spacing: &Spacing, placed: &mut Vec<(PaneId, Rect)>) {
        match self {
            Node::Pane(pane) => placed.push((*pane, area)),
            Node::Split { axis, ratio, first, second } => {
                let (one, two) = area.split(*axis, *ratio, spacing);
                first.place(one, spacing, placed);
                second.place(two, spacing, placed);
            }
        }
    }

    fn dividers(
        &self,
        area: Rect,
        spacing: &Spacing,
        path: &mut SplitPath,
        dividers: &mut Vec<Divider>,
    ) {
        let Node::Split { axis, ratio, first, second } = self else { return };
        let (one, two) = area.split(*axis, *ratio, spacing);
        let rect = match axis {
            Axis::Horizontal => {
                Rect { x: one.x + one.width, width: two.x - one.x - one.width, ..area }
            }
            Axis::Vertical => {
                Rect { y: one.y + one.height, height: two.y - one.y - one.height, ..area }
            }
        };
        dividers.push(Divider { path: path.clone(), axis: *axis, rect, space: area });
        for (node, area, is_second) in [(first, one, false), (second, two, true)] {
            path.push(is_second);
            node.dividers(area, spacing, path, dividers);
            path.pop();
        }
    }

    /// Sets the share of a split's first part; false when there is no such split or nothing changes.
    pub(crate) fn set_ratio(&mut self, path: &[bool], share: f32) -> bool {
        let Node::Split { ratio, first, second, .. } = self else { return false };
        match path {
            [] if share.is_finite() => {
                let share = share.clamp(MIN_SHARE, 1.0 - MIN_SHARE);
                std::mem::replace(ratio, share) != share
            }
            [] => false,
            [is_second, rest @ ..] => {
                if *is_second { second } else { first }.set_ratio(rest, share)
            }
        }
    }

    /// Moves the divider of the innermost split along `axis` around `pane`; false when there is none or it is at its end.
    pub(crate) fn move_divider(&mut self, pane: PaneId, axis: Axis, share: f32) -> bool {
        let Node::Split { axis: own, ratio, first, second } = self else { return false };
        let Some(inner) = [first, second].into_iter().find(|node| node.contains(pane)) else {
            return false;
        };
        if inner.splits_around(pane, axis) {
            return inner.move_divider(pane, axis, share);
        }
        let share = *ratio + share;
        *own == axis && self.set_ratio(&[], share)
    }

    /// Whether a split along `axis` in here has `pane` in one of its parts.
    fn splits_around(&self, pane: PaneId, axis: Axis) -> bool {
        match self {
            Node::Pane(_) => false,
            Node::Split { axis: own, first, second, .. } => {
                self.contains(pane)
                    && (*own == axis
                        || first.splits_around(pane, axis)
                        || second.splits_around(pane, axis))
            }
        }
    }
}

impl Rect {
    /// The two parts of a split. Both get at least one unit as long as there are two.
    pub(super) fn split(self, axis: Axis, ratio: f32, spacing: &Spacing) -> (Rect, Rect) {
        let (length, cell) = match axis {
            Axis::Horizontal => (self.width, spacing.cell.0.max(1)),
            Axis::Vertical => (self.height, spacing.cell.1.max(1)),
        };
        let space = length.saturating_sub(spacing.divider);
        let share = (f64::from(space) * f64::from(ratio)).round() as u32;
        let first = snapped(share, space, cell, 2 * spacing.padding).unwrap_or_else(|| {
            // No room for a cell in both.
            if space >= 2 { share.clamp(1, space - 1) } else { share.min(space) }
        });
        let offset = (first + spacing.divider).min(length);
        match axis {
            Axis::Horizontal => (
                Rect { width: first, ..self },
                Rect { x: self.x + offset, width: length - offset, ..self },
            ),
            Axis::Vertical => (
                Rect { height: first, ..self },
                Rect { y: self.y + offset, height: length - offset, ..self },
            ),
        }
    }
}

/// The length nearest to `share` that is `around` and whole cells, and leaves the rest of `space` as much as a cell.
fn snapped(share: u32, space: u32, cell: u32, around: u32) -> Option<u32> {
    let most = space.checked_sub(2 * around)? / cell;
    let most = most.checked_sub(1).filter(|most| *most > 0)?;
    let cells = (share.saturating_sub(around) + cell / 2) / cell;
    Some(cells.clamp(1, most) * cell + around)
}
