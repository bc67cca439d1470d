//! The arrangement of a tab's panes: positions of panes, splits, resizes, tmux's layouts, and layouts as text.
//!
//! Calculates in cells, with one cell between two panes. Changes only trees, never panes.

mod layouts;
mod text;

use unterm_mux::{Axis, Node, PaneId, Rect};

pub use self::{
    layouts::Layout,
    text::{parse, print},
};

/// The size of a tab, in cells.
pub type Area = (u32, u32);

/// A pane to add to a tree.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// The pane.
    pub pane: PaneId,
    /// The direction of the split.
    pub axis: Axis,
    /// The new pane's share of the space.
    pub share: f32,
    /// Whether the new pane is at the left or above.
    pub is_first: bool,
}

impl Added {
    fn split(self, rest: Node) -> Node {
        let new = Box::new(Node::Pane(self.pane));
        let rest = Box::new(rest);
        let (first, second) = if self.is_first { (new, rest) } else { (rest, new) };
        let ratio = if self.is_first { self.share } else { 1.0 - self.share };
        Node::Split { axis: self.axis, ratio, first, second }
    }
}

/// Splits a pane.
pub fn add_beside(root: &mut Node, beside: PaneId, added: Added) {
    match root {
        Node::Pane(pane) if *pane == beside => *root = added.split(Node::Pane(beside)),
        Node::Pane(_) => {}
        Node::Split { first, second, .. } => {
            add_beside(first, beside, added);
            add_beside(second, beside, added);
        }
    }
}

/// Splits the whole tree.
pub fn add_around(root: &mut Node, added: Added) {
    let rest = std::mem::replace(root, Node::Pane(added.pane));
    *root = added.split(rest);
}

/// Removes a pane. Returns false if the tree does not contain the pane or has no other pane.
pub fn remove(root: &mut Node, gone: PaneId) -> bool {
    let Node::Split { first, second, .. } = root else { return false };
    let rest = if **first == Node::Pane(gone) {
        second
    } else if **second == Node::Pane(gone) {
        first
    } else {
        return remove(first, gone) || remove(second, gone);
    };
    *root = std::mem::replace(rest, Node::Pane(gone));
    true
}

/// The panes, in reading order.
pub fn panes(root: &Node) -> Vec<PaneId> {
    match root {
        Node::Pane(pane) => vec![*pane],
        Node::Split { first, second, .. } => [panes(first), panes(second)].concat(),
    }
}

/// The area that panes of these sizes need.
pub fn measured(root: &Node, size: &dyn Fn(PaneId) -> Area) -> Area {
    match root {
        Node::Pane(pane) => size(*pane),
        Node::Split { axis, first, second, .. } => {
            let (one, two) = (measured(first, size), measured(second, size));
            match axis {
                Axis::Horizontal => (one.0 + 1 + two.0, one.1.max(two.1)),
                Axis::Vertical => (one.0.max(two.0), one.1 + 1 + two.1),
            }
        }
    }
}

/// The position of each pane, from the sizes of the panes.
pub fn placed(root: &Node, size: &dyn Fn(PaneId) -> Area) -> Vec<(PaneId, Rect)> {
    let mut found = Vec::new();
    place(root, (0, 0), size, &mut found);
    found
}

fn place(
    node: &Node,
    at: (u32, u32),
    size: &dyn Fn(PaneId) -> Area,
    found: &mut Vec<(PaneId, Rect)>,
) {
    match node {
        Node::Pane(pane) => {
            let (width, height) = size(*pane);
            found.push((*pane, Rect { x: at.0, y: at.1, width, height }));
        }
        Node::Split { axis, first, second, .. } => {
            let (width, height) = measured(first, size);
            place(first, at, size, found);
            let next = match axis {
                Axis::Horizontal => (at.0 + width + 1, at.1),
                Axis::Vertical => (at.0, at.1 + height + 1),
            };
            place(second, next, size, found);
        }
    }
}

/// The sizes of the two parts of a length.
fn divided(length: u32, ratio: f32) -> (u32, u32) {
    let space = length.saturating_sub(1);
    let first = (f64::from(space) * f64::from(ratio)).round() as u32;
    let first = if space >= 2 { first.clamp(1, space - 1) } else { first.min(space) };
    (first, space - first)
}

/// The share that gives the first part of a length this many cells.
pub fn ratio(first: u32, length: u32) -> f32 {
    let space = length.saturating_sub(1).max(1);
    (f64::from(first) / f64::from(space)) as f32
}

/// The position of each pane in an area, from the shares of the splits.
pub fn divide(root: &Node, area: Rect) -> Vec<(PaneId, Rect)> {
    let mut found = Vec::new();
    divide_into(root, area, &mut found);
    found
}

fn divide_into(node: &Node, area: Rect, found: &mut Vec<(PaneId, Rect)>) {
    match node {
        Node::Pane(pane) => found.push((*pane, area)),
        Node::Split { axis, ratio, first, second } => {
            let (one, two) = parts(area, *axis, *ratio);
            divide_into(first, one, found);
            divide_into(second, two, found);
        }
    }
}

fn parts(area: Rect, axis: Axis, ratio: f32) -> (Rect, Rect) {
    match axis {
        Axis::Horizontal => {
            let (one, two) = divided(area.width, ratio);
            (Rect { width: one, ..area }, Rect { x: area.x + one + 1, width: two, ..area })
        }
        Axis::Vertical => {
            let (one, two) = divided(area.height, ratio);
            (Rect { height: one, ..area }, Rect { y: area.y + one + 1, height: two, ..area })
        }
    }
}

/// Changes the innermost split along an axis that contains a pane. `change` gets the length of the split, the length of
/// its first part, and whether the pane is in the first part, and returns the new length of the first part. Returns false
/// if there is no such split.
pub fn resize(
    root: &mut Node,
    area: Rect,
    pane: PaneId,
    axis: Axis,
    change: &dyn Fn(u32, u32, bool) -> u32,
) -> bool {
    let Node::Split { axis: own, ratio: share, first, second } = root else { return false };
    let (one, two) = parts(area, *own, *share);
    let is_first = first.contains(pane);
    if !is_first && !second.contains(pane) {
        return false;
    }
    let (inner, inner_area) = if is_first { (first, one) } else { (second, two) };
    if resize(inner, inner_area, pane, axis, change) {
        return true;
    }
    if *own != axis {
        return false;
    }
    let (length, now) = match axis {
        Axis::Horizontal => (area.width, one.width),
        Axis::Vertical => (area.height, one.height),
    };
    let most = length.saturating_sub(2).max(1);
    *share = ratio(change(length, now, is_first).clamp(1, most), length);
    true
}

/// Reorders the panes: assigns them to the positions of the tree, in reading order.
pub fn refill(root: &mut Node, panes: &mut impl Iterator<Item = PaneId>) {
    match root {
        Node::Pane(pane) => *pane = panes.next().unwrap_or(*pane),
        Node::Split { first, second, .. } => {
            refill(first, panes);
            refill(second, panes);
        }
    }
}

#[cfg(test)]
mod tests;
