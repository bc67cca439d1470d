//! The windows and panes of the session, as the server has described them.
//!
//! Owns which panes exist, and whether a pane's output is applied. Sends nothing.

use std::collections::{BTreeMap, VecDeque};

use super::{Contents, State, Text};
use crate::{Borders, Layout, PaneId, WindowId, recent::Recent};

/// A window, in the form in which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The window's name.
    pub name: String,
    /// The arrangement of its panes.
    pub layout: Layout,
    /// Each pane with its columns and rows. A zoomed pane is as large as the window.
    pub sizes: Vec<(PaneId, u16, u16)>,
    /// The active pane.
    pub active: Option<PaneId>,
    /// Whether the active pane is zoomed.
    pub is_zoomed: bool,
}

/// The windows and panes.
#[derive(Default)]
pub(super) struct Model {
    windows: BTreeMap<WindowId, Window>,
    panes: BTreeMap<PaneId, Pane>,
    current: Option<WindowId>,
    /// Text of an unknown pane.
    ignored: Text,
}

struct Window {
    name: String,
    layout: Layout,
    visible: Option<Layout>,
    is_zoomed: bool,
    active: Option<PaneId>,
    borders: Borders,
}

#[derive(Default)]
struct Pane {
    /// The requested restores that have not arrived.
    restores: VecDeque<Contents>,
    recent: Recent,
    state: Option<State>,
    text: Text,
    /// Whether the user has opened the pane. All its output has arrived, so nothing is restored.
    is_expected: bool,
    /// The window that contained the pane last.
    window: Option<WindowId>,
    size: (u16, u16),
}

/// Panes to restore, with the present contents of their terminals.
pub(super) type Restores = Vec<(PaneId, Contents)>;

impl Window {
    fn view(&self) -> View {
        let mut sizes = self.layout.sizes(self.borders);
        let zoomed = self.visible.as_ref().filter(|_| self.is_zoomed);
        for (pane, cols, rows) in zoomed.map(|it| it.sizes(self.borders)).unwrap_or_default() {
            for size in sizes.iter_mut().filter(|size| size.0 == pane) {
                *size = (pane, cols, rows);
            }
        }
        let active = self.active.filter(|pane| sizes.iter().any(|size| size.0 == *pane));
        View {
            name: self.name.clone(),
            layout: self.layout.clone(),
            active,
            is_zoomed: self.is_zoomed && active.is_some(),
            sizes,
        }
    }
}

impl Model {
    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    pub(super) fn has_window(&self, window: WindowId) -> bool {
        self.windows.contains_key(&window)
    }

    pub(super) fn has(&self, pane: PaneId) -> bool {
        self.panes.contains_key(&pane)
    }

    pub(super) fn view(&self, window: WindowId) -> Option<View> {
        self.windows.get(&window).map(Window::view)
    }

    pub(super) fn layout(&self, window: WindowId) -> Option<&Layout> {
        self.windows.get(&window).map(|window| &window.layout)
    }

    /// Adds a window, or updates it.
    #[allow(clippy::too_many_arguments, reason = "the variables of one line of a list")]
    pub(super) fn list(
        &mut self,
        window: WindowId,
        name: String,
        borders: Borders,
        active: Option<PaneId>,
        layout: Layout,
        is_zoomed: bool,
        visible: Option<Layout>,
    ) -> Restores {
        let new = Window {
            name,
            layout: layout.clone(),
            visible: None,
            is_zoomed: false,
            active,
            borders,
        };
        self.windows.insert(window, new);
        self.arrange(window, layout, is_zoomed, visible)
    }

    /// Sets the layout of a known window. Returns the panes to restore: new panes, panes from another window, and panes
    /// with another size, because tmux and the terminal may wrap their lines differently.
    pub(super) fn arrange(
        &mut self,
        window: WindowId,
        layout: Layout,
        is_zoomed: bool,
        visible: Option<Layout>,
    ) -> Restores {
        let Some(own) = self.windows.get_mut(&window) else { return Vec::new() };
        own.layout = layout;
        own.visible = visible;
        own.is_zoomed = is_zoomed;
        if is_zoomed && let Some([zoomed]) = own.visible.as_ref().map(Layout::panes).as_deref() {
            // tmux zooms only the active pane.
            own.active = Some(*zoomed);
        }
        let view = own.view();
        let mut restores = Vec::new();
        for (pane, cols, rows) in view.sizes {
            let size = (cols, rows);
            let known = self.panes.entry(pane).or_default();
            let is_new = known.window != Some(window);
            if (is_new || known.size != size) && !known.is_expected {
                restores.push((pane, if is_new { Contents::New } else { Contents::Screen }));
            }
            known.is_expected = false;
            known.window = Some(window);
            known.size = size;
        }
        self.forget_panes();
        restores
    }

    /// Forgets panes that no window contains.
    fn forget_panes(&mut self) {
        let shown: Vec<PaneId> =
            self.windows.values().flat_map(|window| window.layout.panes()).collect();
        self.panes.retain(|pane, known| known.is_expected || shown.contains(pane));
    }

    pub(super) fn close(&mut self, window: WindowId) -> bool {
        let is_known = self.windows.remove(&window).is_some();
        if is_known {
            self.current = self.current.filter(|current| *current != window);
            self.forget_panes();
        }
        is_known
    }

    /// Forgets all windows, and returns them.
    pub(super) fn clear(&mut self) -> Vec<WindowId> {
        self.panes.clear();
        self.current = None;
        std::mem::take(&mut self.windows).into_keys().collect()
    }

    /// Sets the name. Returns whether it changed.
    pub(super) fn rename(&mut self, window: WindowId, name: String) -> bool {
        let known = self.windows.get_mut(&window).filter(|window| window.name != name);
        known.map(|window| window.name = name).is_some()
    }

    /// Sets the current window. Returns whether it changed.
    pub(super) fn make_current(&mut self, window: WindowId) -> bool {
        let is_other = self.has_window(window) && self.current != Some(window);
        if is_other {
            self.current = Some(window);
        }
        is_other
    }

    /// Sets the active pane. Returns whether it changed.
    pub(super) fn activate(&mut self, window: WindowId, pane: PaneId) -> bool {
        let Some(window) = self.windows.get_mut(&window) else { return false };
        let is_other = window.active != Some(pane);
        window.active = Some(pane);
        is_other
    }

    /// Ends or begins the zoom of a window's active pane.
    pub(super) fn toggle_zoom(&mut self, window: WindowId) {
        if let Some(window) = self.windows.get_mut(&window) {
            window.is_zoomed = !window.is_zoomed;
        }
    }

    /// Prepares for a pane that the user has opened, whose window is not described yet.
    pub(super) fn expect(&mut self, pane: PaneId) {
        let is_known = self.panes.get(&pane).is_some_and(|pane| pane.size != (0, 0));
        if !is_known {
            self.panes.insert(pane, Pane { is_expected: true, ..Pane::default() });
        }
    }

    /// Whether the output of a pane is applied.
    pub(super) fn is_live(&self, pane: PaneId) -> bool {
        self.panes.get(&pane).is_some_and(|pane| pane.restores.is_empty())
    }

    /// Records output that is applied.
    pub(super) fn printed(&mut self, pane: PaneId, bytes: &[u8]) {
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.recent.push(bytes);
        }
    }

    /// The contents of the terminal of a pane whose further output is lost.
    pub(super) fn cut(&mut self, pane: PaneId) -> Contents {
        let pane = self.panes.get_mut(&pane);
        pane.and_then(|pane| pane.recent.take()).map_or(Contents::Screen, Contents::Until)
    }

    pub(super) fn begin_restore(&mut self, pane: PaneId, contents: Contents) {
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.restores.push_back(contents);
        }
    }

    pub(super) fn set_state(&mut self, pane: PaneId, state: Option<State>) {
        if let Some(pane) = self.panes.get_mut(&pane) {
            pane.state = state;
            pane.text = Text::default();
        }
    }

    /// The text of a pane that is being restored.
    pub(super) fn text(&mut self, pane: PaneId) -> &mut Text {
        match self.panes.get_mut(&pane) {
            Some(pane) => &mut pane.text,
            None => {
                self.ignored = Text::default();
                &mut self.ignored
            }
        }
    }

    /// Ends a restore. Returns the bytes for the pane's terminal.
    pub(super) fn end_restore(&mut self, pane: PaneId) -> Option<Vec<u8>> {
        let pane = self.panes.get_mut(&pane)?;
        let contents = pane.restores.pop_front().unwrap_or(Contents::Screen);
        let text = std::mem::take(&mut pane.text);
        Some(pane.state.take()?.to_vt(&text, &contents))
    }

    pub(super) fn give_up_restore(&mut self, pane: PaneId) {
        let _ = self.end_restore(pane);
    }
}
