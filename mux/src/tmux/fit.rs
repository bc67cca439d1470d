//! Converts between the layouts of tmux, in character cells, and trees of splits.
//!
//! tmux divides a cell into any number of parts, with one column or row between two parts. Here, a split has two parts,
//! and a window has its own lines and padding between them. So a part gets the pixels that its columns and rows need.

use unterm_tmux::{Cell, Content, Layout};

use crate::{Axis, Node, PaneId, Rect, Spacing};

/// The tree of splits that gives each pane of `layout` room for its columns and rows in `area`. `pane` returns the pane
/// that shows a pane of tmux. Panes for which it returns `None` are left out. `None` if no pane is left.
pub(crate) fn tree(
    layout: &Layout,
    pane: &dyn Fn(unterm_tmux::PaneId) -> Option<PaneId>,
    area: Rect,
    spacing: &Spacing,
) -> Option<Node> {
    node(&layout.root, pane, area, spacing)
}

fn node(
    cell: &Cell,
    pane: &dyn Fn(unterm_tmux::PaneId) -> Option<PaneId>,
    area: Rect,
    spacing: &Spacing,
) -> Option<Node> {
    match &cell.content {
        Content::Pane(target) => pane(*target).map(Node::Pane),
        Content::Row(cells) => parts(cells, Axis::Horizontal, pane, area, spacing),
        Content::Column(cells) => parts(cells, Axis::Vertical, pane, area, spacing),
    }
}

/// The tree of cells that follow each other: the first cell, and a split of all further cells.
fn parts(
    cells: &[Cell],
    axis: Axis,
    pane: &dyn Fn(unterm_tmux::PaneId) -> Option<PaneId>,
    area: Rect,
    spacing: &Spacing,
) -> Option<Node> {
    let (first, others) = cells.split_first()?;
    if others.is_empty() {
        return node(first, pane, area, spacing);
    }
    let length = match axis {
        Axis::Horizontal => area.width,
        Axis::Vertical => area.height,
    };
    let space = length.saturating_sub(spacing.divider).max(1);
    let own = needed(first, axis, spacing).min(space);
    let ratio = (f64::from(own) / f64::from(space)) as f32;
    let rest = length.saturating_sub(own + spacing.divider);
    let (one, two) = match axis {
        Axis::Horizontal => (Rect { width: own, ..area }, Rect { width: rest, ..area }),
        Axis::Vertical => (Rect { height: own, ..area }, Rect { height: rest, ..area }),
    };
    let first = node(first, pane, one, spacing);
    let second = parts(others, axis, pane, two, spacing);
    match (first, second) {
        (Some(first), Some(second)) => {
            Some(Node::Split { axis, ratio, first: Box::new(first), second: Box::new(second) })
        }
        (first, second) => first.or(second),
    }
}

/// The length that the panes of a cell need. It consists of padding and whole cells, like the first part of a split.
fn needed(cell: &Cell, axis: Axis, spacing: &Spacing) -> u32 {
    let (unit, around) = (unit(axis, spacing), 2 * spacing.padding);
    let length = needed_exactly(cell, axis, spacing);
    length.saturating_sub(around).div_ceil(unit) * unit + around
}

fn needed_exactly(cell: &Cell, axis: Axis, spacing: &Spacing) -> u32 {
    let (cells, own_axis) = match &cell.content {
        Content::Pane(_) => {
            let length = match axis {
                Axis::Horizontal => cell.width,
                Axis::Vertical => cell.height,
            };
            return u32::from(length) * unit(axis, spacing) + 2 * spacing.padding;
        }
        Content::Row(cells) => (cells, Axis::Horizontal),
        Content::Column(cells) => (cells, Axis::Vertical),
    };
    let lengths = cells.iter().map(|cell| needed_exactly(cell, axis, spacing));
    match own_axis == axis {
        true => lengths.sum::<u32>() + spacing.divider * (cells.len() as u32 - 1),
        false => lengths.max().unwrap_or_default(),
    }
}

fn unit(axis: Axis, spacing: &Spacing) -> u32 {
    match axis {
        Axis::Horizontal => spacing.cell.0.max(1),
        Axis::Vertical => spacing.cell.1.max(1),
    }
}

/// The largest size of a window in tmux, in columns and rows, whose panes fit in `area` if they are divided like
/// `layout`.
pub(crate) fn grid_of_window(layout: &Layout, area: Rect, spacing: &Spacing) -> (u16, u16) {
    let length = |axis, length: u32| {
        let (unit, around) = (unit(axis, spacing), 2 * spacing.padding);
        // A line between two parts costs tmux a cell, and this window its divider and padding.
        let fits = |lines: u32| {
            let lost = (lines + 1) * around + lines * spacing.divider;
            length.saturating_sub(lost) / unit + lines
        };
        let cells = fits(0).min(fits(lines(&layout.root, axis)));
        cells.clamp(1, 10_000) as u16
    };
    (length(Axis::Horizontal, area.width), length(Axis::Vertical, area.height))
}

/// The largest number of lines between parts that a line along `axis` crosses.
fn lines(cell: &Cell, axis: Axis) -> u32 {
    let (cells, own_axis) = match &cell.content {
        Content::Pane(_) => return 0,
        Content::Row(cells) => (cells, Axis::Horizontal),
        Content::Column(cells) => (cells, Axis::Vertical),
    };
    let inside = cells.iter().map(|cell| lines(cell, axis));
    match own_axis == axis {
        true => inside.sum::<u32>() + cells.len() as u32 - 1,
        false => inside.max().unwrap_or_default(),
    }
}

/// The layout after the user has moved dividers: `old` is the tree of `layout`, and `new` is the tree now. `None` if no
/// divider has moved, or the trees differ in more than their ratios.
pub(crate) fn moved_dividers(layout: &Layout, old: &Node, new: &Node) -> Option<Layout> {
    if old == new || !has_same_panes(old, new) {
        return None;
    }
    let root = resized(
        &layout.root,
        old,
        new,
        Rect {
            x: u32::from(layout.root.x),
            y: u32::from(layout.root.y),
            width: u32::from(layout.root.width),
            height: u32::from(layout.root.height),
        },
    )?;
    Some(Layout { root })
}

/// Whether two trees differ at most in their ratios.
fn has_same_panes(one: &Node, other: &Node) -> bool {
    match (one, other) {
        (Node::Pane(one), Node::Pane(other)) => one == other,
        (
            Node::Split { axis, first, second, .. },
            Node::Split { axis: other_axis, first: other_first, second: other_second, .. },
        ) => {
            axis == other_axis
                && has_same_panes(first, other_first)
                && has_same_panes(second, other_second)
        }
        _ => false,
    }
}

/// The cell at its new position. `None` if the trees are not trees of this cell.
fn resized(cell: &Cell, old: &Node, new: &Node, place: Rect) -> Option<Cell> {
    let content = match &cell.content {
        Content::Pane(pane) => match (old, new) {
            (Node::Pane(_), Node::Pane(_)) => Content::Pane(*pane),
            _ => return None,
        },
        Content::Row(cells) => {
            Content::Row(resized_parts(cells, Axis::Horizontal, old, new, place)?)
        }
        Content::Column(cells) => {
            Content::Column(resized_parts(cells, Axis::Vertical, old, new, place)?)
        }
    };
    let cells = |length: u32| u16::try_from(length).ok();
    Some(Cell {
        width: cells(place.width)?,
        height: cells(place.height)?,
        x: cells(place.x)?,
        y: cells(place.y)?,
        content,
    })
}

fn resized_parts(
    cells: &[Cell],
    axis: Axis,
    old: &Node,
    new: &Node,
    place: Rect,
) -> Option<Vec<Cell>> {
    let (first, others) = cells.split_first()?;
    if others.is_empty() {
        return Some(vec![resized(first, old, new, place)?]);
    }
    let (
        Node::Split { axis: own, ratio: before, first: old_first, second: old_second },
        Node::Split { ratio: now, first: new_first, second: new_second, .. },
    ) = (old, new)
    else {
        return None;
    };
    let (length, known) = match axis {
        Axis::Horizontal => (place.width, first.width),
        Axis::Vertical => (place.height, first.height),
    };
    // Each of the other parts needs one cell, and one for the line before it.
    let most = length.checked_sub(2 * others.len() as u32).filter(|most| *most > 0)?;
    let moved = f64::from(now - before) * f64::from(length.saturating_sub(1));
    let size = (f64::from(known) + moved).round().clamp(1.0, f64::from(most)) as u32;
    let rest = length - size - 1;
    let (one, two) = match axis {
        Axis::Horizontal => {
            (Rect { width: size, ..place }, Rect { x: place.x + size + 1, width: rest, ..place })
        }
        Axis::Vertical => {
            (Rect { height: size, ..place }, Rect { y: place.y + size + 1, height: rest, ..place })
        }
    };
    if *own != axis {
        return None;
    }
    let mut parts = vec![resized(first, old_first, new_first, one)?];
    parts.extend(resized_parts(others, axis, old_second, new_second, two)?);
    Some(parts)
}

/// The two panes that the user has exchanged, if that is the only difference of two trees.
pub(crate) fn swapped_panes(old: &Node, new: &Node) -> Option<(PaneId, PaneId)> {
    let mut moved = Vec::new();
    different_panes(old, new, &mut moved)?;
    match moved[..] {
        [(one, other), (third, fourth)] if (one, other) == (fourth, third) => Some((one, other)),
        _ => None,
    }
}

fn different_panes(old: &Node, new: &Node, moved: &mut Vec<(PaneId, PaneId)>) -> Option<()> {
    match (old, new) {
        (Node::Pane(old), Node::Pane(new)) => {
            if old != new {
                moved.push((*old, *new));
            }
            Some(())
        }
        (
            Node::Split { axis, ratio, first, second },
            Node::Split { axis: new_axis, ratio: new_ratio, first: new_first, second: new_second },
        ) if axis == new_axis && ratio == new_ratio => {
            different_panes(first, new_first, moved)?;
            different_panes(second, new_second, moved)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tab, TabId};

    const THREE: &str = "200x50,0,0{100x50,0,0,0,99x50,101,0[99x24,101,0,1,99x25,101,25,2]}";

    fn layout(tree: &str) -> Layout {
        let sum =
            tree.bytes().fold(0u16, |sum, byte| sum.rotate_right(1).wrapping_add(byte.into()));
        Layout::parse(&format!("{sum:04x},{tree}")).unwrap()
    }

    fn tab(layout: &Layout, area: Rect, spacing: &Spacing) -> Tab {
        let pane = |pane: unterm_tmux::PaneId| Some(PaneId(u64::from(pane.0)));
        let root = tree(layout, &pane, area, spacing).unwrap();
        Tab { root, ..Tab::new(TabId(0), PaneId(0)) }
    }

    #[test]
    fn every_pane_has_room_for_its_cells() {
        let layout = layout(THREE);
        for padding in [0, 4, 9] {
            for slack in [0, 5, 200] {
                let spacing = Spacing { divider: 2, cell: (9, 19), padding };
                // Two panes side by side, with a line between them, and two panes one above the other.
                let width = 199 * 9 + 4 * padding + 2 + slack;
                let height = 50 * 19 + 4 * padding + 2 + slack;
                let area = Rect { x: 0, y: 30, width, height };
                let placed = tab(&layout, area, &spacing).place(area, &spacing);
                for (at, (_, cols, rows)) in layout.sizes(Default::default()).iter().enumerate() {
                    let grid = spacing.grid(placed[at].1);
                    let fits = grid.cols >= *cols && grid.rows >= *rows;
                    assert!(fits, "{padding} {slack}: {grid:?} for {cols}x{rows}");
                }
            }
        }
    }

    #[test]
    fn in_cells_the_tree_is_exact() {
        let layout = layout(THREE);
        let area = Rect { x: 0, y: 0, width: 200, height: 50 };
        assert_eq!(grid_of_window(&layout, area, &Spacing::CELLS), (200, 50));
        let placed = tab(&layout, area, &Spacing::CELLS).place(area, &Spacing::CELLS);
        let sizes: Vec<_> = placed.iter().map(|(_, area)| (area.width, area.height)).collect();
        assert_eq!(sizes, [(100, 50), (99, 24), (99, 25)]);
    }

    #[test]
    fn a_window_is_as_large_as_its_divided_panes_allow() {
        let spacing = Spacing { divider: 2, cell: (10, 20), padding: 8 };
        let area = Rect { x: 0, y: 0, width: 1000, height: 500 };
        assert_eq!(grid_of_window(&layout("80x24,0,0,0"), area, &spacing), (98, 24));
        // 1000 - 4 * 8 - 2 = 966 pixels for two panes: 96 columns, and one for tmux's line. 466 pixels: 23 rows, and one.
        assert_eq!(grid_of_window(&layout(THREE), area, &spacing), (97, 24));
    }

    #[test]
    fn a_moved_divider_changes_only_its_own_panes() {
        let layout = layout(THREE);
        let area = Rect { x: 0, y: 0, width: 200, height: 50 };
        let old = tab(&layout, area, &Spacing::CELLS).root;
        let mut new = old.clone();
        assert_eq!(moved_dividers(&layout, &old, &new), None);
        let Node::Split { ratio, .. } = &mut new else { panic!() };
        *ratio += 0.1;
        let moved = moved_dividers(&layout, &old, &new).unwrap();
        let sizes = moved.sizes(Default::default());
        let sizes: Vec<_> = sizes.iter().map(|(_, cols, rows)| (*cols, *rows)).collect();
        assert_eq!(sizes, [(120, 50), (79, 24), (79, 25)]);
        assert_eq!(Layout::parse(&moved.to_string()), Ok(moved));
        let Node::Split { ratio, .. } = &mut new else { panic!() };
        *ratio = 0.95;
        let moved = moved_dividers(&layout, &old, &new).unwrap();
        assert_eq!(moved.sizes(Default::default())[0].1, 189);
    }

    #[test]
    fn exchanged_panes_are_found() {
        let area = Rect { x: 0, y: 0, width: 200, height: 50 };
        let old = tab(&layout(THREE), area, &Spacing::CELLS);
        let mut new = old.clone();
        assert_eq!(swapped_panes(&old.root, &new.root), None);
        new.rotate(true);
        assert_eq!(swapped_panes(&old.root, &new.root), None, "three panes have moved");
        let other = THREE.replace(",0,0,0,", ",0,0,9,").replace("101,0,1,", "101,0,0,");
        let new = tab(&layout(&other.replace(",0,0,9,", ",0,0,1,")), area, &Spacing::CELLS);
        assert_eq!(swapped_panes(&old.root, &new.root), Some((PaneId(0), PaneId(1))));
    }
}
