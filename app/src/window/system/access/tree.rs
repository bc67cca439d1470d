//! The window as a tree of AccessKit nodes. Each pane is a terminal node whose rows are text runs. The tab bar, menu,
//! panel, search, messages and questions are nodes with the standard roles of desktop apps.
//!
//! Only builds values. `access.rs` sends the values to AccessKit.

use std::collections::{HashMap, HashSet};

use accesskit::{
    Action, Live, Node, NodeId, Rect as Bounds, Role, TextDirection, TextPosition, TextSelection,
    TreeId, TreeUpdate,
};
use unterm_mux::{PaneId, Rect, TabId};
use unterm_term::{LineId, Point};

use crate::window::{
    overlays::{inbox_panel::InboxPanel, menu::Menu, panel::Panel, search::SearchBar},
    system::access::run::Run,
    ui::geometry::Geometry,
    workspace::view::View,
};

pub(crate) const WINDOW: NodeId = NodeId(0);
pub(crate) const PANEL_INPUT: NodeId = NodeId(3);
const PANEL_LIST: NodeId = NodeId(4);
pub(crate) const SEARCH: NodeId = NodeId(5);
const SEARCH_COUNT: NodeId = NodeId(6);
pub(crate) const MENU: NodeId = NodeId(8);
const INBOX_LIST: NodeId = NodeId(12);
const INBOX_QUESTION: NodeId = NodeId(13);
const INBOX_MESSAGE: NodeId = NodeId(14);
/// The first node id of each kind of node. A kind has fewer than [`KIND`] ids. The ids of lines are greater than the
/// ids of all other kinds.
pub(crate) const KIND: u64 = 1 << 48;
pub(crate) const TAB: u64 = KIND;
pub(crate) const PANE: u64 = 2 * KIND;
const ITEM: u64 = 3 * KIND;
const MENU_ITEM: u64 = 6 * KIND;
const INBOX_ITEM: u64 = 7 * KIND;
/// The number of node ids for the lines of a pane, and the number of panes with distinct line ids. The ids of pane `n`
/// start at `(8 + n % PANES) * LINES`.
const LINES: u64 = 1 << 52;
const PANES: u64 = (1 << 12) - 8;

/// The target of an action that a screen reader requests.
pub(crate) enum Target {
    Tab(u64),
    Pane(u64),
}

/// The target of an action on a node; `None` if a reader can't act on the node.
pub(crate) fn target(node: u64) -> Option<Target> {
    match node {
        TAB..PANE => Some(Target::Tab(node - TAB)),
        PANE..ITEM => Some(Target::Pane(node - PANE)),
        _ => None,
    }
}

/// The state that was last sent to readers.
pub(crate) struct SentTree {
    pub(crate) panes: HashMap<NodeId, Vec<NodeId>>,
    pub(crate) focus: NodeId,
    /// The active tab.
    pub(crate) tab: Option<TabId>,
    /// The number of panes and agents that need the user.
    pub(crate) attention: usize,
    /// The last sent labels of the window, the active tab and the focused pane.
    pub(crate) names: HashMap<NodeId, String>,
}

impl Default for SentTree {
    fn default() -> Self {
        Self {
            panes: HashMap::new(),
            focus: WINDOW,
            tab: None,
            attention: 0,
            names: HashMap::new(),
        }
    }
}

impl SentTree {
    /// An update that removes lines that left a pane, before lines are added: each pane keeps only those lines that
    /// also exist in the new `tree`. Returns `None` if no pane loses only a part of its lines.
    pub(crate) fn without_what_left(&self, tree: &TreeUpdate, now: &Self) -> Option<TreeUpdate> {
        let mut nodes = Vec::new();
        for (id, node) in &tree.nodes {
            let (Some(old), Some(new)) = (self.panes.get(id), now.panes.get(id)) else { continue };
            let stays: HashSet<&NodeId> = new.iter().collect();
            let kept: Vec<_> = old.iter().copied().filter(|line| stays.contains(line)).collect();
            if kept.is_empty() || kept.len() == old.len() {
                continue;
            }
            let mut node = node.clone();
            // Clear the selection, because it may be in lines that are not sent yet.
            node.clear_text_selection();
            node.set_children(kept);
            nodes.push((*id, node));
        }
        let focus = self.focus;
        (!nodes.is_empty()).then_some(TreeUpdate {
            nodes,
            tree: None,
            tree_id: TreeId::ROOT,
            focus,
        })
    }
}

/// The nodes added so far. AccessKit rejects a tree with duplicate nodes, so [`Tree::add_to`] drops duplicates.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<(NodeId, Node)>,
    ids: HashSet<NodeId>,
    /// The nodes of each pane's lines.
    pub(crate) lines: HashMap<NodeId, Vec<NodeId>>,
}

impl Tree {
    /// Adds a child node to `parent`. Returns false if a node with this id already exists.
    pub(crate) fn add_to(&mut self, parent: &mut Node, id: NodeId, node: Node) -> bool {
        let is_new = self.ids.insert(id);
        if is_new {
            parent.push_child(id);
            self.nodes.push((id, node));
        }
        is_new
    }

    /// Returns the labels of the nodes in `front`. If the flag of a node is set, the node keeps its label from `sent`.
    /// Labels change whenever programs start and exit, and a reader would interrupt its speech to announce each
    /// change.
    pub(crate) fn name(
        &mut self,
        front: &[(NodeId, bool)],
        sent: &HashMap<NodeId, String>,
    ) -> HashMap<NodeId, String> {
        let mut names = HashMap::new();
        for (id, node) in &mut self.nodes {
            let id = *id;
            let Some((_, is_kept)) = front.iter().find(|(one, _)| *one == id) else { continue };
            if let Some(name) = sent.get(&id).filter(|_| *is_kept) {
                node.set_label(name.as_str());
            }
            names.insert(id, node.label().unwrap_or_default().to_owned());
        }
        names
    }

    /// Adds a status text that can't have the focus. If `is_news` is set, readers announce the text.
    pub(crate) fn status(&mut self, id: NodeId, label: String, is_news: bool, parent: &mut Node) {
        let mut node = Node::new(Role::Status);
        node.set_label(label);
        if is_news {
            node.set_live(Live::Polite);
        }
        self.add_to(parent, id, node);
    }

    /// Adds the search field and the status of the search. `line` is the text of the line with the current match.
    pub(crate) fn search(&mut self, search: &SearchBar, line: Option<String>, window: &mut Node) {
        let (text, label, is_answer) = search.spoken();
        let mut node = Node::new(Role::SearchInput);
        node.set_label("Search");
        node.set_value(text);
        self.add_to(window, SEARCH, node);
        let label = match line {
            Some(line) => format!("{line}, {label}"),
            None => label,
        };
        // If several texts change at once, a screen reader announces only the first.
        self.status(SEARCH_COUNT, label, is_answer, window);
    }

    pub(crate) fn panel<C>(&mut self, panel: &Panel<C>) -> Node {
        let mut list = Node::new(Role::ListBox);
        let mut input = Node::new(Role::TextInput);
        input.set_label(panel.hint());
        input.set_value(panel.query());
        for (row, item, marked) in panel.spoken() {
            let mut node = Node::new(Role::ListBoxOption);
            let separator = if item.note.is_empty() { "" } else { ", " };
            node.set_label(format!("{}{separator}{}", item.title, item.note));
            if !item.about.is_empty() {
                node.set_description(item.about.as_ref());
            }
            node.set_selected(marked);
            let id = NodeId(ITEM + row as u64);
            self.add_to(&mut list, id, node);
            if marked {
                input.set_active_descendant(id);
            }
        }
        let mut node = Node::new(Role::Dialog);
        node.set_label(panel.hint());
        if let Some(text) = panel.text() {
            node.set_description(text);
        }
        self.add_to(&mut node, PANEL_INPUT, input);
        self.add_to(&mut node, PANEL_LIST, list);
        node
    }

    /// Builds the node of the inbox panel. Also returns the id of the node to focus.
    pub(crate) fn inbox(&mut self, panel: &InboxPanel) -> (Node, NodeId) {
        let (entries, marked, question, said) = panel.spoken();
        let mut list = Node::new(Role::ListBox);
        list.set_label("Inbox");
        for (row, entry) in entries.into_iter().enumerate() {
            let mut node = Node::new(Role::ListBoxOption);
            node.set_label(entry);
            node.set_selected(marked == Some(row));
            let id = NodeId(INBOX_ITEM + row as u64);
            self.add_to(&mut list, id, node);
            if marked == Some(row) {
                list.set_active_descendant(id);
            }
        }
        let mut node = Node::new(Role::Dialog);
        node.set_label("Inbox");
        self.add_to(&mut node, INBOX_LIST, list);
        self.status(INBOX_QUESTION, question, true, &mut node);
        self.status(INBOX_MESSAGE, said, true, &mut node);
        (node, INBOX_LIST)
    }

    /// Builds the node of the menu. Also returns the id of the node to focus.
    pub(crate) fn menu(&mut self, menu: &Menu) -> (Node, NodeId) {
        let mut node = Node::new(Role::Menu);
        let mut focus = MENU;
        for (row, title, keys, state) in menu.spoken() {
            let mut item = Node::new(Role::MenuItem);
            item.set_label(title);
            if !keys.is_empty() {
                item.set_keyboard_shortcut(keys);
            }
            if !state.enabled {
                item.set_disabled();
            }
            if state.checked {
                item.set_toggled(accesskit::Toggled::True);
            }
            let id = NodeId(MENU_ITEM + row as u64);
            if self.add_to(&mut node, id, item) && state.marked {
                focus = id;
            }
        }
        (node, focus)
    }

    /// Builds a pane's node: a terminal whose rows are text runs.
    pub(crate) fn pane(
        &mut self,
        id: PaneId,
        view: &View,
        area: Rect,
        geometry: &Geometry,
    ) -> Node {
        let snapshot = &view.snapshot;
        let mut node = Node::new(Role::Terminal);
        node.set_label(view.title());
        // A screen reader follows one cursor, so the others are only counted.
        match snapshot.extra_cursors.len() {
            0 => {}
            1 => node.set_description("1 more cursor"),
            count => node.set_description(format!("{count} more cursors")),
        }
        node.set_bounds(Bounds {
            x0: f64::from(area.x),
            y0: f64::from(area.y),
            x1: f64::from(area.x + area.width),
            y1: f64::from(area.y + area.height),
        });
        let origin = geometry.origin(area);
        let (width, height) = (f64::from(geometry.cell.width), f64::from(geometry.cell.height));
        let cursor = snapshot.cursor;
        let mut runs = Vec::with_capacity(snapshot.rows.len());
        for (index, row) in snapshot.rows.iter().enumerate() {
            let is_last = index + 1 == snapshot.rows.len();
            let at_least =
                if usize::from(cursor.row) == index { usize::from(cursor.col) } else { 0 };
            let run = Run::of(row, at_least, !row.wrapped && !is_last);
            let top = f64::from(origin.1) + index as f64 * height;
            let mut text = Node::new(Role::TextRun);
            text.set_bounds(Bounds {
                x0: f64::from(origin.0),
                y0: top,
                x1: f64::from(origin.0) + row.cells.len() as f64 * width,
                y1: top + height,
            });
            text.set_text_direction(TextDirection::LeftToRight);
            let order = view.order(index);
            let shown = |col| order.as_ref().map_or(col, |order| order.shown(col));
            text.set_character_positions(
                run.columns(|from, _| f32::from(shown(from)) * width as f32),
            );
            text.set_character_widths(run.columns(|from, to| f32::from(to - from) * width as f32));
            text.set_word_starts(run.words());
            text.set_value(run.text.as_str());
            text.set_character_lengths(run.lengths.as_slice());
            let line = NodeId((8 + id.0 % PANES) * LINES + row.line.0 % LINES);
            if self.add_to(&mut node, line, text) {
                runs.push((line, row.line, run));
            }
        }
        if let Some((Some(anchor), Some(focus))) = selection(view, &runs) {
            node.set_text_selection(TextSelection { anchor, focus });
        }
        node.add_action(Action::Focus);
        let lines = runs.iter().map(|(line, ..)| *line).collect();
        self.lines.insert(NodeId(PANE + id.0 % KIND), lines);
        node
    }
}

/// The rows of a pane: node id, line id and text run of each row.
type Runs = [(NodeId, LineId, Run)];

/// The fixed end and the moving end of the selection, in this order. If nothing is selected, both ends are the cursor.
fn selection(view: &View, runs: &Runs) -> Option<(Option<TextPosition>, Option<TextPosition>)> {
    let cursor = view.snapshot.cursor;
    let (_, line, _) = runs.get(usize::from(cursor.row))?;
    let cursor = Point { line: *line, col: cursor.col };
    let Some(range) = view.selection.and_then(|selection| selection.range) else {
        let at = position(runs, cursor);
        return Some((at, at));
    };
    let start = position(runs, range.start);
    let end = position(runs, Point { col: range.end.col + 1, ..range.end });
    Some(if view.copy.is_some() && cursor == range.start { (end, start) } else { (start, end) })
}

/// The position of a cell in the text. A cell out of view maps to the nearest end of the text. A cell in a folded line
/// maps to the text after the fold.
fn position(runs: &Runs, at: Point) -> Option<TextPosition> {
    let (first, last) = (runs.first()?, runs.last()?);
    let (node, run, col) = if at.line < first.1 {
        (first.0, &first.2, 0)
    } else if at.line > last.1 {
        (last.0, &last.2, u16::MAX)
    } else {
        let run = runs.iter().find(|(_, line, _)| *line >= at.line)?;
        (run.0, &run.2, if run.1 == at.line { at.col } else { 0 })
    };
    Some(TextPosition { node, character_index: run.index(col) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANE_NODE: NodeId = NodeId(PANE + 3);

    fn knows(lines: impl IntoIterator<Item = u64>) -> SentTree {
        let lines = lines.into_iter().map(NodeId).collect();
        SentTree {
            panes: HashMap::from([(PANE_NODE, lines)]),
            focus: PANE_NODE,
            ..SentTree::default()
        }
    }

    fn what_left(before: SentTree, now: SentTree) -> Option<Vec<u64>> {
        let mut pane = Node::new(Role::Terminal);
        pane.set_children(now.panes[&PANE_NODE].as_slice());
        let nodes = vec![(PANE_NODE, pane), (WINDOW, Node::new(Role::Window))];
        let tree = TreeUpdate { nodes, tree: None, tree_id: TreeId::ROOT, focus: PANE_NODE };
        let less = before.without_what_left(&tree, &now)?;
        assert_eq!(less.nodes.len(), 1, "nothing else is told before");
        Some(less.nodes[0].1.children().iter().map(|id| id.0).collect())
    }

    #[test]
    fn lines_that_scrolled_away_go_before_new_ones_come() {
        assert_eq!(what_left(knows(10..14), knows(12..16)), Some(vec![12, 13]));
        assert_eq!(what_left(knows(12..16), knows(10..14)), Some(vec![12, 13]), "scrolled back");
        assert_eq!(what_left(knows(10..12), knows(10..14)), None, "nothing went");
        assert_eq!(what_left(knows(10..12), knows(20..24)), None, "nothing stays");
        assert_eq!(what_left(SentTree::default(), knows(20..24)), None, "a new pane");
    }

    #[test]
    fn only_the_front_nodes_keep_their_labels() {
        let named = |names: [&str; 2]| {
            let ids = [PANE_NODE, NodeId(TAB + 1)];
            let nodes = ids.into_iter().zip(names).map(|(id, name)| {
                let mut node = Node::new(Role::Tab);
                node.set_label(name);
                (id, node)
            });
            Tree { nodes: nodes.collect(), ..Tree::default() }
        };
        let labels = |tree: &Tree| {
            let label = |(_, node): &(NodeId, Node)| node.label().map(str::to_owned);
            tree.nodes.iter().filter_map(label).collect::<Vec<_>>()
        };
        let sent = named(["~", "other"]).name(&[(PANE_NODE, true)], &HashMap::new());
        assert_eq!(sent, HashMap::from([(PANE_NODE, "~".to_owned())]));
        let mut tree = named(["make", "top"]);
        assert_eq!(tree.name(&[(PANE_NODE, true)], &sent), sent);
        assert_eq!(labels(&tree), ["~", "top"]);
        let mut tree = named(["make", "top"]);
        tree.name(&[(PANE_NODE, false)], &sent);
        assert_eq!(labels(&tree), ["make", "top"], "the focus has moved");
    }

    #[test]
    fn a_place_in_folded_lines_is_after_them() {
        let run = |line| (NodeId(line), LineId(line), Run::default());
        let runs = [run(1), run(2), run(7)];
        let at = |line| position(&runs, Point { line: LineId(line), col: 3 }).map(|at| at.node.0);
        assert_eq!((at(0), at(2), at(5), at(9)), (Some(1), Some(2), Some(7), Some(7)));
    }

    #[test]
    fn no_id_of_one_kind_is_another_kinds() {
        let line = (8 + u64::MAX % PANES) * LINES + (LINES - 1);
        assert!(line > INBOX_ITEM + KIND && (8 * LINES) >= INBOX_ITEM + KIND);
        assert!(matches!(target(TAB + 7), Some(Target::Tab(7))));
        assert!(matches!(target(PANE + 7), Some(Target::Pane(7))));
        assert!(target(line).is_none() && target(0).is_none());
    }
}
