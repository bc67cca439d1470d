//! Builds the tree that is sent to screen readers. Like a frame, it is built from the state of all parts.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use accesskit::{Action, Live, Node, NodeId, Orientation, Role, TreeId, TreeInfo, TreeUpdate};
use unterm_mux::{Layout, PaneId, Rect};
use unterm_term::TextRange;

use crate::window::{
    chrome::Chrome,
    overlays::{Overlays, overlay::Overlay as _},
    system::access::{
        run::Run,
        tree::{KIND, MENU, PANE, PANEL_INPUT, SEARCH, SentTree, TAB, Tree, WINDOW},
    },
    ui::geometry::Geometry,
    workspace::{Workspace, copy_mode},
};

const TABS: NodeId = NodeId(1);
const PANEL: NodeId = NodeId(2);
const QUESTION: NodeId = NodeId(7);
const TAB_IN_FRONT: NodeId = NodeId(9);
const COPY_MODE: NodeId = NodeId(10);
const INBOX: NodeId = NodeId(11);
const ATTENTION: NodeId = NodeId(15);
const BUTTON: u64 = 4 * KIND;
const TOAST: u64 = 5 * KIND;

/// The content of the window for screen readers: the borrowed state of the parts.
#[derive(Clone, Copy)]
pub(crate) struct ReadContent<'a> {
    pub(crate) layout: &'a Layout,
    /// The visible panes and their areas.
    pub(crate) placed: &'a [(PaneId, Rect)],
    pub(crate) workspace: &'a Workspace,
    pub(crate) overlays: &'a Overlays,
    pub(crate) chrome: &'a Chrome,
    /// The window's measures; `None` until the window is created.
    pub(crate) geometry: Option<Geometry>,
    /// Whether the window has the keyboard focus.
    pub(crate) has_focus: bool,
    /// The number of panes and agents that need the user, and the title of the first tab with such a pane.
    pub(crate) attention: (usize, Option<&'a str>),
}

impl ReadContent<'_> {
    /// Builds the current tree, and a record of its content. `sent` is the record of the previous tree.
    pub(crate) fn tree(&self, sent: &SentTree) -> (TreeUpdate, SentTree) {
        let (layout, placed) = (self.layout, self.placed);
        let mut tree = Tree::default();
        let mut focus = WINDOW;
        let mut window = Node::new(Role::Window);
        let tabs = self.tabs_node(layout, &mut tree);
        tree.add_to(&mut window, TABS, tabs);
        let (in_front, focused) = layout.active_tab().map(|tab| (tab.id, tab.focused)).unzip();
        if let Some(tab) = self.chrome.tabs.labels().get(layout.active) {
            let (number, count) = (layout.active + 1, self.chrome.tabs.labels().len());
            let label = format!("Tab {number} of {count}: {}", tab.title);
            // When another terminal gets the focus, a reader speaks only the line with the cursor. So the tab's name
            // is announced as a status.
            let is_new = sent.tab.is_some() && sent.tab != in_front;
            tree.status(TAB_IN_FRONT, label, is_new, &mut window);
        }
        if let Some(geometry) = &self.geometry {
            window.set_label(self.workspace.title.as_str());
            for (id, area) in placed {
                let Some(view) = self.workspace.views.get(id) else { continue };
                let node = NodeId(PANE + id.0 % KIND);
                let pane = tree.pane(*id, view, *area, geometry);
                if tree.add_to(&mut window, node, pane) && Some(*id) == focused {
                    focus = node;
                }
            }
        }
        if let Some(view) = focused.and_then(|id| self.workspace.views.get(&id)) {
            let title = view.copy.as_ref().map(|copy| copy.title());
            if let Some(title) =
                title.or(view.signals.has_lost_copy_mode.then_some(copy_mode::LOST))
            {
                tree.status(COPY_MODE, title.to_owned(), true, &mut window);
            }
        }
        if let Some(search) = self.overlays.search.bar() {
            let line = search.range().and_then(|range| self.line_in_sight(search.pane, range));
            tree.search(search, line, &mut window);
            // Even if a search is open, another pane or copy mode may have the keyboard focus.
            if search.has_input(focused) {
                focus = SEARCH;
            }
        }
        for (text, is_error) in self.overlays.toasts.spoken() {
            let mut node = Node::new(Role::Alert);
            node.set_label(text);
            node.set_live(if is_error { Live::Assertive } else { Live::Polite });
            // A message is identified by its text, because its position changes.
            let mut hash = DefaultHasher::new();
            text.hash(&mut hash);
            tree.add_to(&mut window, NodeId(TOAST + hash.finish() % KIND), node);
        }
        let (attention, first) = self.attention;
        if attention > 0 {
            let who = first.unwrap_or("An agent");
            let said = match attention {
                1 => format!("{who} needs you"),
                count => format!("{who} needs you, {count} in all"),
            };
            tree.status(ATTENTION, said, attention > sent.attention, &mut window);
        }
        if let Some(tab) = self.chrome.sidebar.selected() {
            focus = NodeId(TAB + tab.0 % KIND);
        }
        focus = self.add_overlays(&mut tree, &mut window).unwrap_or(focus);
        tree.nodes.push((WINDOW, window));
        let is_still = self.has_focus && focus == sent.focus && in_front == sent.tab;
        let mut front = vec![(WINDOW, self.has_focus)];
        front.extend(in_front.map(|id| (NodeId(TAB + id.0 % KIND), is_still)));
        front.extend(focused.map(|id| (NodeId(PANE + id.0 % KIND), is_still)));
        let names = tree.name(&front, &sent.names);
        let update = TreeUpdate {
            nodes: tree.nodes,
            tree: Some(TreeInfo::new(WINDOW)),
            tree_id: TreeId::ROOT,
            focus,
        };
        (update, SentTree { panes: tree.lines, focus, tab: in_front, attention, names })
    }

    /// Adds the open overlays that receive keys. Returns the node of the topmost overlay that has the focus.
    fn add_overlays(&self, tree: &mut Tree, window: &mut Node) -> Option<NodeId> {
        let mut focus = None;
        if let Some(inbox) = &self.overlays.inbox {
            let (node, list) = tree.inbox(inbox);
            tree.add_to(window, INBOX, node);
            focus = Some(list);
        }
        if let Some(picker) = &self.overlays.picker {
            let panel = tree.panel(picker.panel());
            tree.add_to(window, PANEL, panel);
            focus = Some(PANEL_INPUT);
        }
        if let Some(menu) = &self.overlays.menu {
            let (node, marked) = tree.menu(menu);
            tree.add_to(window, MENU, node);
            focus = Some(marked);
        }
        if let Some((question, about, buttons, marked)) = self.overlays.questions.spoken() {
            let mut node = Node::new(Role::AlertDialog);
            node.set_label(question);
            node.set_description(about);
            node.set_modal();
            focus = Some(QUESTION);
            for (index, title) in buttons.into_iter().enumerate() {
                let mut button = Node::new(Role::Button);
                button.set_label(title);
                let id = NodeId(BUTTON + index as u64);
                tree.add_to(&mut node, id, button);
                if index == marked {
                    focus = Some(id);
                }
            }
            tree.add_to(window, QUESTION, node);
        }
        focus
    }

    /// Builds the list of tabs. In the sidebar, each tab has the text of its row as its description.
    fn tabs_node(&self, layout: &Layout, tree: &mut Tree) -> Node {
        let has_sidebar = self.geometry.is_some_and(|geometry| geometry.sidebar().width > 0);
        let mut tabs = Node::new(Role::TabList);
        if has_sidebar {
            tabs.set_orientation(Orientation::Vertical);
        }
        for (index, tab) in self.chrome.tabs.labels().iter().enumerate() {
            let mut node = Node::new(Role::Tab);
            node.set_label(tab.title.as_str());
            let details = tab.detail_line(true).text;
            if has_sidebar && !details.is_empty() {
                node.set_description(details);
            }
            node.set_selected(index == layout.active);
            node.add_action(Action::Click);
            tree.add_to(&mut tabs, NodeId(TAB + tab.id.0 % KIND), node);
        }
        tabs
    }

    /// The text of the line in which a range starts, if that line is visible.
    fn line_in_sight(&self, pane: PaneId, range: TextRange) -> Option<String> {
        let rows = &self.workspace.views.get(&pane)?.snapshot.rows;
        let row = rows.iter().find(|row| row.line == range.start.line)?;
        Some(Run::of(row, 0, false).text)
    }
}
