//! Chooses the panes whose surroundings must be read, and stores what was read.

use std::time::Instant;

use unterm_mux::{Layout, Mux, PaneId};

use crate::window::workspace::{
    Workspace,
    surroundings::{Surroundings, Survey},
};

impl Workspace {
    /// Requests a reading of panes that are in another project than when they were last read. This includes panes that
    /// were never read. Does nothing while a thread is reading.
    pub(crate) fn want_new_projects(&mut self, layout: &Layout, now: Instant) {
        if self.surveys.is_reading() {
            return;
        }
        let focused = layout.tabs.iter().map(|tab| tab.focused);
        let is_new = |pane: &PaneId| {
            let view = self.views.get(pane);
            view.is_some_and(|view| {
                view.project_root() != view.signals.surroundings.root.as_deref()
            })
        };
        let panes: Vec<_> = focused.filter(is_new).collect();
        self.surveys.want(panes, now);
    }

    /// Begins a reading if it is due. Returns the panes to read.
    pub(crate) fn begin_surveys(&mut self, mux: &Mux, now: Instant) -> Vec<Survey> {
        let panes = self.surveys.begin(now);
        let survey = |pane: PaneId| {
            let terminal = mux.pane(pane)?.process().tty();
            let root = self.views.get(&pane)?.project_root().map(Into::into);
            Some(Survey { pane, root, terminal })
        };
        let surveys: Vec<_> = panes.iter().filter_map(|pane| survey(*pane)).collect();
        if surveys.is_empty() && !panes.is_empty() {
            self.surveys.end();
        }
        surveys
    }

    /// Stores the surroundings that were read. Returns whether any have changed.
    pub(crate) fn store_surroundings(&mut self, read: Vec<(PaneId, Surroundings)>) -> bool {
        self.surveys.end();
        let mut is_new = false;
        for (pane, surroundings) in read {
            if let Some(view) = self.views.get_mut(&pane) {
                is_new |= view.signals.surroundings != surroundings;
                view.signals.surroundings = surroundings;
            }
        }
        is_new
    }
}
