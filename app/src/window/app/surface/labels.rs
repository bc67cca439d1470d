//! Updates what the tab bar and the sidebar show of the tabs.

use std::time::Instant;

use unterm_mux::{Layout, Pane, PaneId, Tab};

use crate::window::{
    app::{App, BELL_MARK},
    chrome::{tab_label::TabLabel, tab_titles},
    redraw::Redraw,
    workspace::{
        title::PaneTitle,
        work::{Fare, LastCommand, Work},
    },
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
                let changes = self.update_signals(&pane, is_seen, now);
                next = next.into_iter().chain(changes).min();
                let view = self.workspace.views.entry(id).or_default();
                label.marks.tmux |= pane.is_in_tmux();
                if has_sidebar {
                    label.add_details(view, id == tab.focused);
                }
                label.add(&view.signals, id == tab.focused);
            }
            titles.push(self.tab_title(tab, index == layout.active));
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

    /// Updates the signals of a pane whose state depends on the time and on the user's look. Returns the time at which
    /// they change next.
    fn update_signals(&mut self, pane: &Pane, is_seen: bool, now: Instant) -> Option<Instant> {
        let signals = &mut self.workspace.views.entry(pane.id()).or_default().signals;
        let mut next = None;
        if let Some(rang) = signals.bell.filter(|_| is_seen) {
            match now >= rang + BELL_MARK {
                true => signals.bell = None,
                false => next = Some(rang + BELL_MARK),
            }
        }
        if is_seen && !std::mem::replace(&mut signals.looked, true) {
            // What the user has seen no longer counts, such as the end of a command.
            match &self.server {
                Some(server) => {
                    server.looked_at(pane.id());
                    signals.set_work(Work::of(pane, Some(server)));
                }
                None if signals.work.is_some_and(|work| work.fare == Fare::Done) => {
                    signals.set_work(None);
                }
                None => {}
            }
        }
        signals.driver = self.server.as_ref().and_then(|server| server.driver(pane));
        next.into_iter().chain(signals.driver.as_ref().map(|driver| driver.until)).min()
    }

    /// The title of a tab. Reads the names of its focused pane if they may have changed.
    fn tab_title(&mut self, tab: &Tab, is_active: bool) -> PaneTitle {
        let Some(pane) = self.mux.pane(tab.focused) else { return PaneTitle::default() };
        let view = self.workspace.views.entry(tab.focused).or_default();
        // A program of a hidden tab may have started or ended since its names were read.
        let comes_in_sight =
            is_active && self.workspace.names.active.replace(tab.focused) != Some(tab.focused);
        if comes_in_sight || !view.are_names_known() {
            view.read_names(&pane);
        }
        match &tab.title {
            Some(title) => PaneTitle::given(title.clone()),
            None => view.pane_title().clone(),
        }
    }

    /// Reads the progress and the tab color that the programs of a pane report, and how its last command ended. Returns
    /// the frame that is due.
    pub(crate) fn read_work(&mut self, pane: PaneId) -> Redraw {
        let Some(pane) = self.mux.pane(pane) else { return Redraw::No };
        let work = Work::of(&pane, self.server.as_ref());
        let (tab_color, last) = {
            let term = pane.term();
            (term.tab_color(), LastCommand::of(&term))
        };
        let has_sidebar = self.has_sidebar();
        let signals = &mut self.workspace.views.entry(pane.id()).or_default().signals;
        signals.looked = false;
        let before = (signals.work, signals.tab_color);
        let details_before = (signals.message.clone(), signals.last_command);
        signals.set_work(work);
        (signals.tab_color, signals.last_command) = (tab_color, last);
        let is_new = before != (signals.work, signals.tab_color)
            || has_sidebar && details_before != (signals.message.clone(), signals.last_command);
        Redraw::if_changed(is_new)
    }

    /// Reads the work of every pane again, because an agent or a plugin reported something. Returns the frame that is
    /// due.
    pub(crate) fn read_all_work(&mut self) -> Redraw {
        let panes: Vec<_> = self.mux.panes().iter().map(|pane| pane.id()).collect();
        panes.into_iter().map(|pane| self.read_work(pane)).max().unwrap_or(Redraw::No)
    }
}
