//! Reads the surroundings of panes while the sidebar is shown.

use std::{collections::HashSet, sync::Arc, time::Instant};

use unterm_mux::{Layout, PaneId, TabId};

use crate::window::{
    app::App,
    effect::Effect,
    redraw::Redraw,
    workspace::surroundings::{Surroundings, Survey},
};

impl App {
    /// Notes that commands began or ended in panes. They may have changed the branch, or listen on ports.
    pub(crate) fn commands_changed(&mut self, panes: HashSet<PaneId>) {
        if self.has_sidebar() {
            self.workspace.surveys.want_twice(panes, self.now);
            self.wake_for_surveys();
        }
    }

    /// Requests a reading of the panes of tabs, because the user looks at their rows.
    pub(crate) fn survey_tabs(&mut self, is_wanted: impl Fn(TabId) -> bool) {
        if !self.has_sidebar() {
            return;
        }
        let layout = self.mux.layout();
        let tabs = layout.tabs.iter().filter(|tab| is_wanted(tab.id));
        self.workspace.surveys.want(tabs.flat_map(|tab| tab.panes()), self.now);
        self.wake_for_surveys();
    }

    /// Requests a reading of panes that are in another project than when they were last read. This includes panes that
    /// were never read.
    pub(crate) fn want_new_projects(&mut self, layout: &Layout) {
        self.workspace.want_new_projects(layout, self.now);
        self.wake_for_surveys();
    }

    fn wake_for_surveys(&mut self) {
        if let Some(due) = self.workspace.surveys.due() {
            self.surface.wake_at(due);
        }
    }

    /// Begins a reading if it is due. Otherwise, returns the time at which it is due.
    pub(crate) fn survey_in_time(&mut self, now: Instant) -> Option<Instant> {
        if !self.has_sidebar() {
            self.workspace.surveys.clear();
            return None;
        }
        let surveys = self.workspace.begin_surveys(&self.mux, now);
        if !surveys.is_empty() {
            self.effect(Effect::ReadSurroundings(surveys));
        }
        self.workspace.surveys.due()
    }

    /// Starts a thread that reads the surroundings of panes.
    pub(crate) fn start_surveys(&mut self, surveys: Vec<Survey>) {
        let (inbox, branches) = (Arc::clone(&self.inbox), self.workspace.surveys.branches());
        let work = move || {
            let read = branches.read(surveys);
            inbox.post(|news| news.system.surroundings = Some(read));
        };
        if let Err(error) = std::thread::Builder::new().name("surroundings".to_owned()).spawn(work)
        {
            tracing::warn!(%error, "can't read branches and ports");
            self.workspace.surveys.end();
        }
    }

    /// Stores the surroundings that were read. Returns the frame that is due.
    pub(crate) fn surroundings_read(&mut self, read: Vec<(PaneId, Surroundings)>) -> Redraw {
        let is_new = self.workspace.store_surroundings(read);
        self.wake_for_surveys();
        Redraw::if_changed(is_new)
    }
}
