//! The number of programs and agents that wait for the user.

use unterm_mux::Layout;

use crate::window::{
    app::App,
    workspace::{panes::in_sight, work::Fare},
};

impl App {
    /// Whether agents are paused, so that their calls that change anything wait.
    pub(crate) fn are_agents_paused(&self) -> bool {
        self.server.as_ref().is_some_and(unterm_control::Server::is_paused)
    }

    /// The number of panes out of the user's sight whose programs or agents report that they need the user, and of
    /// agents' questions about no pane. Also returns the title of the first tab with such a pane.
    pub(crate) fn who_waits(&self, layout: &Layout) -> (usize, Option<&str>) {
        let (mut count, mut first) = (self.overlays.asked.about_no_pane, None);
        for (index, tab) in layout.tabs.iter().enumerate() {
            let seen = match index == layout.active && self.input.focused {
                true => in_sight(tab),
                false => Vec::new(),
            };
            let waits = |pane: &unterm_mux::PaneId| {
                let view = self.workspace.views.get(pane);
                let work = view.and_then(|view| view.signals.work);
                !seen.contains(pane) && work.is_some_and(|work| work.fare == Fare::Waits)
            };
            let waiting = tab.panes().iter().filter(|pane| waits(pane)).count();
            if waiting > 0 && first.is_none() {
                first = self.chrome.tabs.title(tab.id);
            }
            count += waiting;
        }
        (count, first)
    }
}
