//! Opens a tab with several panes at once. Each program starts with the size that its pane has in the finished tab. If
//! the panes were opened one by one, the first program would start with the size of the whole tab.

use std::sync::{Arc, atomic::Ordering};

use unterm_term::Size;

use super::{Mux, MuxError};
use crate::{Axis, Node, OnExit, Pane, PaneId, Rect, Spacing, Spawn, Tab, TabId};

/// The panes of a tab that is to be opened.
#[derive(Clone, Debug)]
pub enum PaneTree {
    /// A pane, by its program.
    Pane(Spawn),
    /// A split with two parts.
    Split {
        /// The direction of the split.
        axis: Axis,
        /// The first part's share of the space, from 0 to 1.
        ratio: f32,
        /// Left or upper part.
        first: Box<PaneTree>,
        /// Right or lower part.
        second: Box<PaneTree>,
    },
}

/// A tab that [`Mux::open_tree`] opened.
pub struct OpenedTab {
    /// The tab.
    pub tab: TabId,
    /// The panes of the tree, in reading order. `None` for a pane whose program could not be started.
    pub panes: Vec<Option<Arc<Pane>>>,
}

impl Mux {
    /// Opens a tab with the panes of a tree, of which the first has the focus. If `activates` is set, the tab follows
    /// the active tab and becomes active. Otherwise, the tab is the last one, and the active tab stays active.
    ///
    /// If a program can't be started, `replace` may return another program for its pane. If it returns `None`, the pane
    /// is left out.
    ///
    /// # Errors
    /// No program can be started, or the system provides no threads.
    pub fn open_tree(
        &self,
        tree: PaneTree,
        activates: bool,
        on_exit: OnExit,
        mut replace: impl FnMut(&MuxError, &Spawn) -> Option<Spawn>,
    ) -> Result<OpenedTab, MuxError> {
        let mut spawns = Vec::new();
        let shape = shape_of(tree, &mut spawns);
        let area = self.size_of_new_tab();
        let sizes = self.sizes_in_new_tab(&shape, area);
        let mut panes = Vec::new();
        let mut failure = None;
        for (spawn, size) in spawns.into_iter().zip(sizes) {
            let mut wanted = Some(spawn);
            let mut pane = None;
            while let Some(spawn) = wanted.take() {
                match self.start_pane(spawn.clone(), size, on_exit) {
                    Ok(started) => pane = Some(started),
                    Err(error) => {
                        wanted = replace(&error, &spawn);
                        failure = Some(error);
                    }
                }
            }
            panes.push(pane);
        }
        let started: Vec<Arc<Pane>> = panes.iter().flatten().cloned().collect();
        let (Some(first), Some(root)) = (started.first(), filled(&shape, &panes)) else {
            return Err(failure.unwrap_or(MuxError::NoPane(PaneId(0))));
        };
        let id = TabId(self.next_tab.fetch_add(1, Ordering::Relaxed));
        let tab = Tab { root, ..Tab::new(id, first.id()) };
        let admitted = self.admit_all(&started, |state| {
            state.areas.insert(id, area);
            state.layout_mut().add(tab, activates);
            Ok(())
        });
        admitted.inspect_err(|_| started.iter().for_each(|pane| pane.close()))?;
        // The space of a pane that was left out belongs to its neighbor now.
        self.divide_cells();
        Ok(OpenedTab { tab: id, panes })
    }

    /// The size of each pane of a new tab, in reading order. `area` is the grid of the whole tab.
    fn sizes_in_new_tab(&self, root: &Node, area: Size) -> Vec<Size> {
        let window = self.space_of_new_tab();
        let cells = Rect { x: 0, y: 0, width: u32::from(area.cols), height: u32::from(area.rows) };
        let (rect, spacing) = window.unwrap_or((cells, Spacing::CELLS));
        let tab = Tab { root: root.clone(), ..Tab::new(TabId(0), PaneId(0)) };
        let placed = tab.place(rect, &spacing).into_iter();
        let size = |(_, rect): (PaneId, Rect)| match window {
            Some(_) => spacing.grid(rect),
            // The size of a cell in pixels does not change.
            None => {
                let Size { cols, rows, .. } = spacing.grid(rect);
                Size { cols, rows, ..area }
            }
        };
        placed.map(size).collect()
    }
}

/// The shape of a tree, whose panes have numbers in reading order. Adds the programs to `spawns`.
fn shape_of(tree: PaneTree, spawns: &mut Vec<Spawn>) -> Node {
    match tree {
        PaneTree::Pane(spawn) => {
            spawns.push(spawn);
            Node::Pane(PaneId(spawns.len() as u64 - 1))
        }
        PaneTree::Split { axis, ratio, first, second } => {
            let first = Box::new(shape_of(*first, spawns));
            let second = Box::new(shape_of(*second, spawns));
            let mut node = Node::Split { axis, ratio: 0.5, first, second };
            node.set_ratio(&[], ratio);
            node
        }
    }
}

/// The tree of panes for a shape. If a part contains no pane, the other part of its split has its space. `None` if
/// there is no pane.
fn filled(shape: &Node, panes: &[Option<Arc<Pane>>]) -> Option<Node> {
    match shape {
        Node::Pane(number) => {
            panes.get(number.0 as usize)?.as_ref().map(|pane| Node::Pane(pane.id()))
        }
        Node::Split { axis, ratio, first, second } => {
            match (filled(first, panes), filled(second, panes)) {
                (Some(first), Some(second)) => Some(Node::Split {
                    axis: *axis,
                    ratio: *ratio,
                    first: Box::new(first),
                    second: Box::new(second),
                }),
                (first, second) => first.or(second),
            }
        }
    }
}
