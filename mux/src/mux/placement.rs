//! Stores each pane's position in the layout with the keeper, so that another process can show kept programs in the
//! same tabs and splits.

use std::{
    io,
    sync::{
        Arc, Weak,
        mpsc::{SyncSender, sync_channel},
    },
    time::Duration,
};

use super::Mux;
use crate::{Axis, MuxEvent, Node, Observer, Pane, PaneId, ProgramPlacement};

/// The shortest time between two reports. Some programs change their title many times a second.
const PAUSE: Duration = Duration::from_millis(500);

/// One step from the root of a tab's tree to a pane: the split's axis and ratio, and whether the pane is in the second
/// part.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    axis: Axis,
    ratio: f32,
    is_second: bool,
}

/// Wakes the thread that reports.
struct Changed(SyncSender<()>);

impl Observer for Changed {
    fn output(&self, _: PaneId) {}

    fn event(&self, event: MuxEvent) {
        if matches!(event, MuxEvent::Layout | MuxEvent::PaneOpened(_) | MuxEvent::Title(_)) {
            // If the channel is full, the thread has not handled an earlier change yet.
            let _ = self.0.try_send(());
        }
    }
}

impl Mux {
    /// Starts a thread that, after each change, calls `also` and then stores each pane's position with the keeper. The
    /// thread ends with the mux.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub fn store_placements(&self, also: impl Fn(&Self) + Send + 'static) -> io::Result<()> {
        let (sender, receiver) = sync_channel(1);
        self.observe(Arc::new(Changed(sender)));
        let mux: Weak<Self> = self.this.clone();
        std::thread::Builder::new().name("placements".to_owned()).spawn(move || {
            while receiver.recv().is_ok() {
                let Some(mux) = mux.upgrade() else { return };
                also(&mux);
                mux.store_placements_now();
                drop(mux);
                std::thread::sleep(PAUSE);
            }
        })?;
        Ok(())
    }

    /// Stores each pane's position.
    pub(super) fn store_placements_now(&self) {
        let layout = self.layout();
        for tab in &layout.tabs {
            let mut paths = Vec::new();
            paths_of(&tab.root, &mut Vec::new(), &mut paths);
            for (id, path) in paths {
                if let Some(pane) = self.pane(id) {
                    store(&pane, Some(tab.id.0), path_text(&path));
                }
            }
        }
    }
}

fn store(pane: &Pane, tab: Option<u64>, split: String) {
    pane.process().set_placement(ProgramPlacement { title: pane.title(), tab, split });
}

/// Appends each pane with its path.
fn paths_of(node: &Node, path: &mut Vec<Step>, paths: &mut Vec<(PaneId, Vec<Step>)>) {
    match node {
        Node::Pane(pane) => paths.push((*pane, path.clone())),
        Node::Split { axis, ratio, first, second } => {
            for (part, is_second) in [(first, false), (second, true)] {
                path.push(Step { axis: *axis, ratio: *ratio, is_second });
                paths_of(part, path, paths);
                path.pop();
            }
        }
    }
}

/// A path as text, such as `h0.5000:1 v0.2500:0`.
fn path_text(path: &[Step]) -> String {
    let step = |step: &Step| {
        let axis = match step.axis {
            Axis::Horizontal => 'h',
            Axis::Vertical => 'v',
        };
        format!("{axis}{:.4}:{}", step.ratio, u8::from(step.is_second))
    };
    path.iter().map(step).collect::<Vec<_>>().join(" ")
}

/// Reads a path. `None` if the text is no path.
fn parse_path(text: &str) -> Option<Vec<Step>> {
    let step = |word: &str| {
        let (split, part) = word.split_once(':')?;
        let mut rest = split.chars();
        let axis = match rest.next()? {
            'h' => Axis::Horizontal,
            'v' => Axis::Vertical,
            _ => return None,
        };
        let ratio: f32 = rest.as_str().parse().ok()?;
        let is_second = match part {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        (ratio > 0.0 && ratio < 1.0).then_some(Step { axis, ratio, is_second })
    };
    text.split_whitespace().map(step).collect()
}

/// The tree of panes with these stored paths. A split of which only one part is left is left out. `None` if the paths
/// contradict each other.
pub(super) fn tree(panes: &[(PaneId, &str)]) -> Option<Node> {
    let parsed = panes.iter().map(|(pane, path)| Some((*pane, parse_path(path)?)));
    let parsed: Vec<(PaneId, Vec<Step>)> = parsed.collect::<Option<_>>()?;
    let paths: Vec<(PaneId, &[Step])> =
        parsed.iter().map(|(pane, path)| (*pane, &**path)).collect();
    tree_of(&paths)
}

fn tree_of(panes: &[(PaneId, &[Step])]) -> Option<Node> {
    if let [(pane, _)] = panes {
        return Some(Node::Pane(*pane));
    }
    let split = *panes.first()?.1.first()?;
    let mut parts = [Vec::new(), Vec::new()];
    for (pane, path) in panes {
        let (step, rest) = path.split_first()?;
        parts[usize::from(step.is_second)].push((*pane, rest));
    }
    match parts {
        [only, none] | [none, only] if none.is_empty() => tree_of(&only),
        [first, second] => Some(Node::Split {
            axis: split.axis,
            ratio: split.ratio,
            first: Box::new(tree_of(&first)?),
            second: Box::new(tree_of(&second)?),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(axis: Axis, ratio: f32, first: Node, second: Node) -> Node {
        Node::Split { axis, ratio, first: Box::new(first), second: Box::new(second) }
    }

    fn pane(id: u64) -> Node {
        Node::Pane(PaneId(id))
    }

    /// The tree that is rebuilt of the paths of some panes.
    fn rebuilt(root: &Node, keep: impl Fn(u64) -> bool) -> Option<Node> {
        let mut paths = Vec::new();
        paths_of(root, &mut Vec::new(), &mut paths);
        let kept = paths.iter().filter(|(pane, _)| keep(pane.0));
        let texts: Vec<(PaneId, String)> =
            kept.map(|(pane, path)| (*pane, path_text(path))).collect();
        let texts: Vec<(PaneId, &str)> =
            texts.iter().map(|(pane, text)| (*pane, text.as_str())).collect();
        tree(&texts)
    }

    #[test]
    fn a_tree_is_rebuilt_from_the_paths_of_its_panes() {
        let inner = split(Axis::Vertical, 0.25, pane(2), pane(3));
        let left = split(Axis::Vertical, 0.5, pane(0), pane(1));
        let root = split(Axis::Horizontal, 0.75, left.clone(), inner.clone());
        assert_eq!(rebuilt(&root, |_| true), Some(root.clone()));
        assert_eq!(rebuilt(&pane(7), |_| true), Some(pane(7)));
        assert_eq!(rebuilt(&root, |id| id > 1), Some(inner));
        let rest = split(Axis::Horizontal, 0.75, left, pane(3));
        assert_eq!(rebuilt(&root, |id| id != 2), Some(rest));
    }

    #[test]
    fn paths_that_contradict_each_other_are_refused() {
        let tree = |paths: &[&str]| {
            let numbered = paths.iter().enumerate();
            tree(&numbered.map(|(id, path)| (PaneId(id as u64), *path)).collect::<Vec<_>>())
        };
        assert!(tree(&["h0.5:0", "h0.5:1"]).is_some());
        for paths in [&["", ""][..], &["h0.5:0", "h0.5:0"], &["h0.5:0", "x"], &["h2:0", "h0.5:1"]] {
            assert_eq!(tree(paths), None, "{paths:?}");
        }
    }
}
