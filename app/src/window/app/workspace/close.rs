//! Closes panes, tabs or the window without a question, and ends the programs of what was closed.

use std::time::{Duration, Instant};

use unterm_mux::{PaneId, Tab};

use crate::window::{app::App, workspace::closing::Closing};

/// The time during which a close can be undone. The closed programs keep running for this time.
const UNDO: Duration = Duration::from_secs(30);

impl App {
    /// Closes without asking. Closed panes and tabs can be restored for the time [`UNDO`]; a closed window can't.
    pub(crate) fn close_now(&mut self, what: Closing) {
        let layout = self.mux.layout();
        let is_closed = |tab: &&Tab| match what {
            Closing::Tab(id) => tab.id == id,
            Closing::OtherTabs(id) => tab.id != id,
            Closing::Pane(_) | Closing::Window | Closing::Detach => false,
        };
        let groups: Vec<Vec<PaneId>> = match what {
            Closing::Window => return self.inbox.post(|news| news.stop = true),
            Closing::Detach => {
                let count = self.mux.leave();
                tracing::info!(count, "programs continue without the window");
                return self.inbox.post(|news| news.stop = true);
            }
            Closing::Pane(pane) => vec![vec![pane]],
            _ => layout.tabs.iter().filter(is_closed).map(Tab::panes).collect(),
        };
        // The program may have exited after the question was asked.
        let closed = groups.iter().filter(|panes| self.mux.close_undoably(panes)).count();
        if closed > 0 {
            let until = self.now + UNDO;
            self.workspace.undo_until = Some(until);
            self.surface.wake_at(until);
        }
    }

    /// Ends the programs of panes that were closed at least [`UNDO`] ago. Returns the time of the next call if there
    /// are others.
    pub(crate) fn end_closed_in_time(&mut self, now: Instant) -> Option<Instant> {
        // Return early, because this function runs for each frame and usually nothing was closed.
        self.workspace.undo_until?;
        self.mux.end_closed(UNDO);
        self.workspace.undo_until.take_if(|until| *until <= now);
        self.workspace.undo_until
    }
}
