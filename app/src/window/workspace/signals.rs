//! Reads the signals and names of panes: what the tabs show of their programs.

use std::time::{Duration, Instant};

use unterm_control::Server;
use unterm_mux::{Layout, Mux, Pane, Tab};

use crate::window::workspace::{
    Workspace,
    title::PaneTitle,
    work::{Fare, LastCommand, Work},
};

/// The time for which the active tab shows the mark of a bell.
const BELL_MARK: Duration = Duration::from_secs(1);

impl Workspace {
    /// Updates the signals of a pane whose state depends on the time and on the user's look. Returns the time at which
    /// they change next.
    pub(crate) fn update_signals(
        &mut self,
        pane: &Pane,
        is_seen: bool,
        server: Option<&Server>,
        now: Instant,
    ) -> Option<Instant> {
        let signals = &mut self.views.entry(pane.id()).or_default().signals;
        let mut next = None;
        if let Some(rang) = signals.bell.filter(|_| is_seen) {
            match now >= rang + BELL_MARK {
                true => signals.bell = None,
                false => next = Some(rang + BELL_MARK),
            }
        }
        if is_seen && !std::mem::replace(&mut signals.looked, true) {
            // What the user has seen no longer counts, such as the end of a command.
            match server {
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
        signals.driver = server.and_then(|server| server.driver(pane));
        next.into_iter().chain(signals.driver.as_ref().map(|driver| driver.until)).min()
    }

    /// The title of a tab. Reads the names of its focused pane if they may have changed.
    pub(crate) fn tab_title(&mut self, tab: &Tab, is_active: bool, mux: &Mux) -> PaneTitle {
        let Some(pane) = mux.pane(tab.focused) else { return PaneTitle::default() };
        let view = self.views.entry(tab.focused).or_default();
        // A program of a hidden tab may have started or ended since its names were read.
        let comes_in_sight =
            is_active && self.names.active.replace(tab.focused) != Some(tab.focused);
        if comes_in_sight || !view.are_names_known() {
            view.read_names(&pane);
        }
        match &tab.title {
            Some(title) => PaneTitle::given(title.clone()),
            None => view.pane_title().clone(),
        }
    }

    /// Reads the progress and the tab color that the programs of a pane report, and how its last command ended. Returns
    /// whether anything that the tabs show has changed. `has_sidebar`: whether the sidebar shows them.
    pub(crate) fn read_work(
        &mut self,
        pane: &Pane,
        has_sidebar: bool,
        server: Option<&Server>,
    ) -> bool {
        let work = Work::of(pane, server);
        let (tab_color, last) = {
            let term = pane.term();
            (term.tab_color(), LastCommand::of(&term))
        };
        let signals = &mut self.views.entry(pane.id()).or_default().signals;
        signals.looked = false;
        let before = (signals.work, signals.tab_color);
        let details_before = (signals.message.clone(), signals.last_command);
        signals.set_work(work);
        (signals.tab_color, signals.last_command) = (tab_color, last);
        before != (signals.work, signals.tab_color)
            || has_sidebar && details_before != (signals.message.clone(), signals.last_command)
    }

    /// Reads the titles of the tabs of a layout again, which queries the operating system. Schedules a second read,
    /// because a shell shows the command line before it starts the program. Returns whether a title has changed.
    pub(crate) fn read_names(&mut self, layout: &Layout, mux: &Mux, now: Instant) -> bool {
        self.names.again = std::mem::take(&mut self.names.stale);
        self.names.read = Some(now);
        let mut is_new = false;
        for tab in &layout.tabs {
            let Some(pane) = mux.pane(tab.focused) else { continue };
            is_new |= self.views.entry(tab.focused).or_default().read_names(&pane);
        }
        is_new
    }
}
