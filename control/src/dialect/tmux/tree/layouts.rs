//! The layouts of `select-layout`.

use unterm_mux::{Axis, Node, PaneId};

use super::{Area, ratio};

/// A layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Panes side by side.
    EvenHorizontal,
    /// Panes one above the other.
    EvenVertical,
    /// A large pane above the others, which are side by side.
    MainHorizontal,
    /// A large pane at the left of the others, which are one above the other.
    MainVertical,
    /// Rows and columns.
    Tiled,
}

impl Layout {
    /// Every layout, in the order of `next-layout`.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::EvenHorizontal, "even-horizontal"),
        (Self::EvenVertical, "even-vertical"),
        (Self::MainHorizontal, "main-horizontal"),
        (Self::MainVertical, "main-vertical"),
        (Self::Tiled, "tiled"),
    ];

    /// The layout with this name, or the only layout whose name begins with this text.
    pub fn find(name: &str) -> Option<Self> {
        let mut found = Self::ALL.iter().filter(|(_, known)| known.starts_with(name));
        let exact = Self::ALL.iter().find(|(_, known)| *known == name);
        match (exact, found.next(), found.next()) {
            (Some((layout, _)), ..) | (None, Some((layout, _)), None) => Some(*layout),
            _ => None,
        }
    }

    /// The tree of this layout. `main`: the width and the height of the large pane, in cells.
    pub fn tree(self, panes: &[PaneId], area: Area, main: Area) -> Option<Node> {
        let (first, rest) = panes.split_first()?;
        let leaves = |panes: &[PaneId]| panes.iter().copied().map(Node::Pane).collect::<Vec<_>>();
        let around = |axis: Axis, main: u32, length: u32, across: u32| {
            let others = match axis {
                Axis::Horizontal => Axis::Vertical,
                Axis::Vertical => Axis::Horizontal,
            };
            let rest = leaves(rest);
            let each = each(rest.len(), across);
            let Some(rest) = chain(rest, others, each, across) else { return Node::Pane(*first) };
            // tmux leaves at least one cell for the other panes.
            let most = length.saturating_sub(2).max(1);
            Node::Split {
                axis,
                ratio: ratio(main.clamp(1, most), length),
                first: Box::new(Node::Pane(*first)),
                second: Box::new(rest),
            }
        };
        let (width, height) = area;
        let even =
            |axis: Axis, length: u32| chain(leaves(panes), axis, each(panes.len(), length), length);
        Some(match self {
            Self::EvenHorizontal => even(Axis::Horizontal, width)?,
            Self::EvenVertical => even(Axis::Vertical, height)?,
            Self::MainHorizontal => around(Axis::Vertical, main.1, height, width),
            Self::MainVertical => around(Axis::Horizontal, main.0, width, height),
            Self::Tiled => {
                let (mut rows, mut columns) = (1, 1);
                while rows * columns < panes.len() {
                    rows += 1;
                    if rows * columns < panes.len() {
                        columns += 1;
                    }
                }
                let column = each(columns, width);
                let rows = panes.chunks(columns);
                let count = rows.len();
                let rows = rows.map(|row| chain(leaves(row), Axis::Horizontal, column, width));
                let rows: Option<Vec<_>> = rows.collect();
                chain(rows?, Axis::Vertical, each(count, height), height)?
            }
        })
    }
}

/// The length of each part if a length is divided into equal parts, with one cell between two parts.
fn each(count: usize, length: u32) -> u32 {
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    (length.saturating_sub(count - 1) / count).max(1)
}

/// A tree in which nodes of the length `each` follow each other along an axis. The last one gets the rest of `length`.
fn chain(nodes: Vec<Node>, axis: Axis, each: u32, length: u32) -> Option<Node> {
    let count = u32::try_from(nodes.len()).ok()?;
    let mut nodes = nodes.into_iter().rev();
    let mut tree = nodes.next()?;
    for (done, node) in nodes.enumerate() {
        // The nodes before this node have the length `each`.
        let before = count - 2 - u32::try_from(done).ok()?;
        let rest = length.saturating_sub(before * (each + 1));
        let (first, second) = (Box::new(node), Box::new(tree));
        tree = Node::Split { axis, ratio: ratio(each, rest), first, second };
    }
    Some(tree)
}
