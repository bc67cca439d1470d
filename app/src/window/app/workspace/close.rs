//! Closes panes, tabs or the window without a question, and ends the programs of what was closed.

use std::time::{Duration, Instant};

use unterm_mux::{PaneId, Tab};

use crate::{
    own_program,
    succession::Restart,
    window::{app::App, workspace::closing::Closing},
};

/// The time during which a close can be undone. The closed programs keep running for this time.
const UNDO: Duration = Duration::from_secs(30);

impl App {
    /// Closes without asking. Closed panes and tabs can be restored for the time [`UNDO`]; a closed window can't.
    pub(crate) fn close_now(&mut self, what: Closing) {
        let layout = self.mux.layout();
        let is_closed = |tab: &&Tab| match what {
            Closing::Tab(id) => tab.id == id,
            Closing::OtherTabs(id) => tab.id != id,
            Closing::Pane(_) | Closing::Window | Closing::Detach | Closing::Restart => false,
        };
        let groups: Vec<Vec<PaneId>> = match what {
            Closing::Window => {
                self.workspace.kept.ends_programs = true;
                return self.inbox.post(|news| news.stop = true);
            }
            Closing::Detach => {
                let count = self.mux.leave();
                tracing::info!(count, "programs continue without the window");
                return self.inbox.post(|news| news.stop = true);
            }
            Closing::Restart => {
                match Restart::prepare(&self.prefs.args, &self.workspace.kept.sessions) {
                    Ok(restart) => self.workspace.kept.restart = Some(restart),
                    Err(error) => return self.complain("restart", format!("{error:#}")),
                }
                let count = self.mux.leave_to_successor();
                tracing::info!(count, "programs continue while Unterm restarts");
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

    /// Shows a message, once, if an upgrade has replaced this program. Without programs that can continue, a restart would
    /// end them, so the message does not offer it.
    pub(crate) fn offer_restart(&mut self) {
        if self.workspace.kept.has_offered_restart || !own_program::is_replaced() {
            return;
        }
        self.workspace.kept.has_offered_restart = true;
        let text = match self.mux.kept_panes().is_empty() {
            true => "New windows use the new version.".to_owned(),
            false => {
                let press = self.prefs.press("restart", "runs it");
                format!("The action “Restart Unterm” starts it, and your programs continue.{press}")
            }
        };
        self.keep_saying("restart", format!("A new version of Unterm is installed.\n{text}"));
    }

    /// Ends the programs of panes that were closed at least [`UNDO`] ago. Returns the time of the next call if other
    /// panes remain.
    pub(crate) fn end_closed_in_time(&mut self, now: Instant) -> Option<Instant> {
        // Return early, because this function runs for each frame and usually nothing was closed.
        self.workspace.undo_until?;
        self.mux.end_closed(UNDO);
        self.workspace.undo_until.take_if(|until| *until <= now);
        self.workspace.undo_until
    }
}
