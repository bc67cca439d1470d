//! Divides a tab's space: the positions of the parts of each split, and the dividers between them.

use super::{Axis, Node, Rect, Spacing, Tab};
use crate::PaneId;

/// The smallest share of a split that a part can have.
pub(super) const MIN_SHARE: f32 = 0.05;

/// The path from the tree's root to a split. For each split on the path: whether to enter its second part.
pub type SplitPath = Vec<bool>;

/// The line between the parts of a split.
#[derive(Clone, Debug, PartialEq)]
pub struct Divider {
    /// The split that the line divides.
    pub path: SplitPath,
    /// The direction of the split.
    pub axis: Axis,
    /// The area of the line.
    pub rect: Rect,
    /// The area of the split: both parts and the line.
    pub space: Rect,
}

impl Tab {
    /// The position of each visible pane within `area`.
    pub fn place(&self, area: Rect, spacing: &Spacing) -> Vec<(PaneId, Rect)> {
        if self.zoomed {
            return vec![(self.focused, area)];
        }
        let mut placed = Vec::new();
        self.root.place(area, spacing, &mut placed);
        placed
    }

    /// The dividers between the visible panes. They fill the gaps between the areas that [`Tab::place`] returns.
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

    /// Sets the share of a split's first part. Returns false if there is no such split or the share does not change.
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

    /// Limits every share to the range that [`Node::set_ratio`] allows.
    pub(crate) fn limit_ratios(&mut self) {
        let Node::Split { ratio, first, second, .. } = self else { return };
        let share = if ratio.is_finite() { *ratio } else { 0.5 };
        *ratio = share.clamp(MIN_SHARE, 1.0 - MIN_SHARE);
        first.limit_ratios();
        second.limit_ratios();
    }

    /// Moves the divider of the innermost split along `axis` that contains `pane`. Returns false if there is no such
    /// split or its divider cannot move.
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

    /// Whether the tree contains a split along `axis` that contains `pane`.
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
    /// The areas of the two parts of a split. Each gets at least one unit if the space is two units or more.
    pub(super) fn split(self, axis: Axis, ratio: f32, spacing: &Spacing) -> (Rect, Rect) {
        let (length, cell) = match axis {
            Axis::Horizontal => (self.width, spacing.cell.0.max(1)),
            Axis::Vertical => (self.height, spacing.cell.1.max(1)),
        };
        let space = length.saturating_sub(spacing.divider);
        let share = (f64::from(space) * f64::from(ratio)).round() as u32;
        let first = snapped(share, space, cell, 2 * spacing.padding).unwrap_or_else(|| {
            // If there is no room for one cell in each part, divide the space by `share` alone.
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

/// The length nearest to `share` that consists of `around` and whole cells. It leaves at least `around` and one cell of
/// `space` for the second part.
fn snapped(share: u32, space: u32, cell: u32, around: u32) -> Option<u32> {
    let most = space.checked_sub(2 * around)? / cell;
    let most = most.checked_sub(1).filter(|most| *most > 0)?;
    let cells = (share.saturating_sub(around) + cell / 2) / cell;
    Some(cells.clamp(1, most) * cell + around)
}
