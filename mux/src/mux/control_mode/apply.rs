//! Carries out the changes of a tmux server in tabs and panes.

use std::sync::Arc;

use unterm_term::Size;
use unterm_tmux::{self as tmux, Action, Opened, Ticket, View, WindowId};

use super::{Mux, farewell, introduction};
use crate::{
    ExitStatus, MuxEvent, OnExit, PaneId, Rect, Spacing, TabId,
    mux::index_of,
    tmux::{Link, TabWindow, TmuxProcess, grid_of_window, tree},
};

impl Mux {
    /// Carries out one action.
    pub(super) fn apply_action(&self, link: &Arc<Link>, action: Action) {
        match action {
            Action::Session(name) => {
                let is_trusted = link.with(|state| state.client.is_trusted());
                show(link, &introduction(&name, is_trusted));
            }
            Action::Window { window, view } => {
                self.while_applying(link, || self.apply_window(link, window, view));
            }
            Action::Closed(window) => self.close_window(link, window),
            Action::Current(window) => self.show_window(link, window),
            Action::Output { pane, bytes } => {
                let process = link.with(|state| state.panes.get(&pane).map(|it| it.1.clone()));
                if let Some(process) = process {
                    process.feed(&bytes);
                }
            }
            Action::Program { pane, name } => {
                if let Some((id, process)) = link.with(|state| state.panes.get(&pane).cloned()) {
                    process.set_front_name(name);
                    self.observers.event(MuxEvent::Title(id));
                }
            }
            Action::Opened { ticket, outcome } => self.pane_opened(link, ticket, outcome),
            Action::Notice(text) => show(link, &format!("[tmux: {text}]\r\n")),
            Action::End(end) => {
                self.end_link(link);
                show(link, &farewell(&end));
            }
        }
    }

    /// Calls `act`, whose changes of tabs are not the user's. Afterward follows the user's changes in between.
    pub(super) fn while_applying(&self, link: &Arc<Link>, act: impl FnOnce()) {
        link.with(|state| state.applying += 1);
        act();
        let is_dirty = link.with(|state| {
            state.applying -= 1;
            state.applying == 0 && std::mem::take(&mut state.is_dirty)
        });
        if is_dirty {
            self.follow_link(link);
        }
    }

    /// Opens or changes the tab of a window.
    fn apply_window(&self, link: &Arc<Link>, window: WindowId, view: View) {
        let Some(tab) = self.open_panes(link, window, &view) else { return };
        self.remove_former_panes(link, window, tab, &view);
        for &(target, cols, rows) in &view.sizes {
            let shown = link.with(|state| state.panes.get(&target).cloned());
            let Some((id, process)) = shown else { continue };
            let Some(pane) = self.pane(id) else { continue };
            let now = pane.term().size();
            let size = Size { cols, rows, ..now };
            if size != now || size != process.size() {
                process.settle(size);
                pane.resize(size);
            }
        }
        let (before, title) = link.with(|state| {
            // The user may have changed the window since the server described it.
            let view = state.client.view(window).unwrap_or(view);
            let title = view.name.clone();
            let size = state.windows.get(&window).map_or(state.size, |shown| shown.size);
            let before = state.windows.insert(window, TabWindow { tab, view, root: None, size });
            (before.filter(|before| before.tab == tab).map(|before| before.view.name), title)
        });
        self.arrange_window(link, window);
        // If the tab's title differs from the window's previous title, the user has renamed the tab. The user's title
        // will be sent.
        let is_free = |now: &str| before.is_none_or(|before| now == before.trim());
        // The tab may have closed meanwhile.
        let _ = self.change(|layout| {
            let index = index_of(layout, tab)?;
            let tab = &mut layout.tabs[index];
            if is_free(tab.title.as_deref().unwrap_or_default()) {
                tab.set_title(&title);
            }
            Ok(())
        });
    }

    /// Opens the panes of a window that are not open. Returns the window's tab. `None` if the window has no panes here.
    fn open_panes(&self, link: &Arc<Link>, window: WindowId, view: &View) -> Option<TabId> {
        let mut tab = self.tab_of_window(link, window, view);
        let layout = self.layout();
        let is_moved = |pane: PaneId| {
            let index = layout.tab_of(pane);
            index.is_some_and(|index| Some(layout.tabs[index].id) != tab)
        };
        // tmux has moved these panes from another window. They are opened again in this window.
        self.end_panes(link, |target, pane| {
            is_moved(pane) && view.sizes.iter().any(|size| size.0 == target)
        });
        let missing = link.with(|state| {
            let is_missing = |target: &tmux::PaneId| {
                !state.panes.contains_key(target) && !state.closing.contains(target)
            };
            let sizes = view.sizes.iter().copied();
            sizes.filter(|size| is_missing(&size.0)).collect::<Vec<_>>()
        });
        for (target, cols, rows) in missing {
            let size = Size { cols, rows, ..self.size_of_new_tab() };
            let process = Arc::new(TmuxProcess::new(link, Some(target), size));
            let pane = self.pane_of_tmux(process.clone(), size);
            link.with(|state| state.panes.insert(target, (pane.id(), process)));
            match self.put_in_tab(&pane, tab) {
                Ok(own) => tab = Some(own),
                Err(error) => {
                    tracing::warn!("cannot show a pane of tmux: {error}");
                    link.with(|state| state.panes.remove(&target));
                }
            }
        }
        tab
    }

    /// The open tab of a window. For a window that the user has opened, this is the tab of its first pane.
    fn tab_of_window(&self, link: &Arc<Link>, window: WindowId, view: &View) -> Option<TabId> {
        let layout = self.layout();
        let tab_of = |pane: PaneId| layout.tab_of(pane).map(|index| layout.tabs[index].id);
        link.with(|state| {
            let is_open = |tab: &TabId| layout.tabs.iter().any(|open| open.id == *tab);
            let known = state.windows.get(&window).map(|shown| shown.tab).filter(is_open);
            let is_free = |tab: &TabId| state.windows.values().all(|shown| shown.tab != *tab);
            let own = || {
                let panes = view.sizes.iter().filter_map(|size| state.panes.get(&size.0));
                panes.filter_map(|(pane, _)| tab_of(*pane)).find(is_free)
            };
            known.or_else(own)
        })
    }

    /// Removes the panes that a window no longer contains. A pane that the user has opened may not be in the view yet.
    fn remove_former_panes(&self, link: &Arc<Link>, window: WindowId, tab: TabId, view: &View) {
        let before = link.with(|state| {
            let shown = state.windows.get(&window);
            shown.map(|shown| shown.view.layout.panes()).unwrap_or_default()
        });
        let layout = self.layout();
        let Some(tab) = layout.tabs.iter().find(|open| open.id == tab) else { return };
        self.end_panes(link, |target, pane| {
            tab.root.contains(pane)
                && before.contains(&target)
                && !view.sizes.iter().any(|size| size.0 == target)
        });
    }

    /// Removes the panes for which `is_gone` returns true. Their programs have ended in tmux.
    fn end_panes(&self, link: &Arc<Link>, is_gone: impl Fn(tmux::PaneId, PaneId) -> bool) {
        let gone: Vec<_> = link.with(|state| {
            let is_gone = |(target, shown): (&tmux::PaneId, &(PaneId, Arc<TmuxProcess>))| {
                is_gone(*target, shown.0).then_some(*target)
            };
            let gone: Vec<tmux::PaneId> = state.panes.iter().filter_map(is_gone).collect();
            gone.iter().filter_map(|target| state.panes.remove(target)).collect::<Vec<_>>()
        });
        gone.iter().for_each(|(_, process)| process.end(ExitStatus::Code(0)));
        let ids: Vec<PaneId> = gone.into_iter().map(|(pane, _)| pane).collect();
        self.remove(&ids);
    }

    fn close_window(&self, link: &Arc<Link>, window: WindowId) {
        let Some(shown) = link.with(|state| state.windows.remove(&window)) else { return };
        let panes: Vec<tmux::PaneId> = shown.view.layout.panes();
        self.while_applying(link, || {
            self.end_panes(link, |target, _| panes.contains(&target));
        });
    }

    /// Gives a tab the arrangement that tmux has described, and requests the size that the window has room for.
    pub(super) fn arrange_window(&self, link: &Arc<Link>, window: WindowId) {
        let (area, spacing) = self.space_of_tabs();
        let found = link.with(|state| {
            let shown = state.windows.get_mut(&window)?;
            let pane = |target: tmux::PaneId| state.panes.get(&target).map(|(pane, _)| *pane);
            let root = tree(&shown.view.layout, &pane, area, &spacing)?;
            let focused = shown.view.active.and_then(pane);
            let size = grid_of_window(&shown.view.layout, area, &spacing);
            if shown.size != size {
                shown.size = size;
                state.client.set_window_size(window, size.0, size.1);
            }
            Some((shown.tab, root, focused, shown.view.is_zoomed))
        });
        let Some((tab, root, focused, is_zoomed)) = found else { return };
        let before = self.layout();
        let Some(now) = before.tabs.iter().find(|open| open.id == tab) else { return };
        let focused = focused.unwrap_or(now.focused);
        let is_arranged = self.arrange(tab, root, focused, is_zoomed).is_ok();
        let after = self.layout();
        let root = after.tabs.iter().find(|open| open.id == tab).map(|tab| tab.root.clone());
        link.with(|state| {
            if let Some(shown) = state.windows.get_mut(&window) {
                shown.root = root.filter(|_| is_arranged);
            }
        });
    }

    /// The space of each tab, in pixels of the window or in cells.
    pub(super) fn space_of_tabs(&self) -> (Rect, Spacing) {
        let size = self.options.default_size;
        let (width, height) = (u32::from(size.cols), u32::from(size.rows));
        let space = self.state.lock().space.filter(|_| self.options.sized_by_window);
        space.unwrap_or((Rect { x: 0, y: 0, width, height }, Spacing::CELLS))
    }

    /// Activates the tab of the current window. Never takes the focus from a tab of another origin, except once from
    /// the pane in which tmux was started.
    fn show_window(&self, link: &Arc<Link>, window: WindowId) {
        let layout = self.layout();
        let Some(active) = layout.active_tab() else { return };
        let starts_here = link.pane().is_some_and(|pane| active.root.contains(pane.id()));
        let tab = link.with(|state| {
            let tab = state.windows.get(&window)?.tab;
            let is_own = state.windows.values().any(|shown| shown.tab == active.id);
            let may_move = is_own || (starts_here && !state.has_moved_focus);
            state.has_moved_focus = true;
            may_move.then_some(tab)
        });
        if let Some(tab) = tab {
            self.while_applying(link, || drop(self.activate_tab(tab)));
        }
    }

    /// Handles tmux's answer to a split or a new window of the user.
    fn pane_opened(&self, link: &Arc<Link>, ticket: Ticket, outcome: Result<Opened, String>) {
        let Some((id, process)) = link.with(|state| state.tickets.remove(&ticket)) else { return };
        match outcome {
            Ok(opened) => {
                let shown = (id, process.clone());
                link.with(|state| state.panes.insert(opened.pane, shown));
                process.bind(opened.pane);
            }
            Err(text) => {
                // The pane stays, so that the user can read why it is empty.
                if let Some(pane) = self.pane(id) {
                    pane.set_on_exit(OnExit::Hold);
                    pane.show_text(&format!("[tmux: {text}]\r\n"));
                }
                process.end(ExitStatus::Code(1));
            }
        }
    }

    /// Removes the tabs of a connection that has ended. Their programs go on in tmux.
    pub(super) fn end_link(&self, link: &Arc<Link>) {
        self.state.lock().links.retain(|known| !Arc::ptr_eq(known, link));
        let panes = link.end();
        let layout = self.layout();
        let is_own = |pane: &PaneId| layout.active_tab().is_some_and(|it| it.root.contains(*pane));
        if panes.iter().any(is_own)
            && let Some(pane) = link.pane()
        {
            // The pane may be closed.
            let _ = self.focus(pane.id());
        }
        self.remove(&panes);
    }
}

/// Shows text in the pane in which tmux was started.
fn show(link: &Link, text: &str) {
    if let Some(pane) = link.pane() {
        pane.show_text(text);
    }
}
