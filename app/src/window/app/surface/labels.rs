//! Updates what the tab bar and the sidebar show of the tabs.

use std::time::Instant;

use unterm_mux::{Layout, PaneId};

use crate::window::{
    app::App,
    chrome::{tab_label::TabLabel, tab_titles},
    redraw::Redraw,
};

impl App {
    /// Whether the sidebar is shown.
    pub(crate) fn has_sidebar(&self) -> bool {
        self.surface.geometry.is_some_and(|geometry| geometry.sidebar().width > 0)
    }

    /// Updates the labels of all tabs.
    pub(crate) fn label_tabs(&mut self, layout: &Layout, now: Instant) {
        let mut labels = Vec::with_capacity(layout.tabs.len());
        let mut titles = Vec::with_capacity(layout.tabs.len());
        let has_sidebar = self.has_sidebar();
        let mut next: Option<Instant> = None;
        for (index, tab) in layout.tabs.iter().enumerate() {
            let is_seen = index == layout.active && self.input.focused;
            let mut label = TabLabel::new(tab.id, String::new());
            label.marks.zoomed = tab.zoomed;
            label.marks.broadcast = self.workspace.broadcast.covers(tab.id);
            for id in tab.panes() {
                let Some(pane) = self.mux.pane(id) else { continue };
                let changes =
                    self.workspace.update_signals(&pane, is_seen, self.server.as_ref(), now);
                next = next.into_iter().chain(changes).min();
                let view = self.workspace.views.entry(id).or_default();
                label.marks.tmux |= pane.is_in_tmux();
                if has_sidebar {
                    label.add_details(view, id == tab.focused);
                }
                label.add(&view.signals, id == tab.focused);
            }
            titles.push(self.workspace.tab_title(tab, index == layout.active, &self.mux));
            labels.push(label);
        }
        for (label, title) in labels.iter_mut().zip(tab_titles::distinguish(titles)) {
            label.title = title;
        }
        self.chrome.tabs.set_labels(labels);
        if let Some(time) = next {
            self.surface.wake_at(time);
        }
        if has_sidebar {
            self.want_new_projects(layout);
        }
    }

    /// Reads the work of a pane again. Returns the frame that is due.
    pub(crate) fn read_work(&mut self, pane: PaneId) -> Redraw {
        let Some(pane) = self.mux.pane(pane) else { return Redraw::No };
        let has_sidebar = self.has_sidebar();
        Redraw::if_changed(self.workspace.read_work(&pane, has_sidebar, self.server.as_ref()))
    }

    /// Reads the work of every pane again, because an agent or a plugin reported something. Returns the frame that is
    /// due.
    pub(crate) fn read_all_work(&mut self) -> Redraw {
        let panes: Vec<_> = self.mux.panes().iter().map(|pane| pane.id()).collect();
        panes.into_iter().map(|pane| self.read_work(pane)).max().unwrap_or(Redraw::No)
    }
}
