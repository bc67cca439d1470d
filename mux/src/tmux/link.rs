//! The connection to a tmux server through the pane in which `tmux -CC` runs.
//!
//! Owns the client's state, and which pane and tab of this mux shows which pane and window of tmux. Commands are sent in
//! the order in which the client has created them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
    sync::{Arc, Weak},
};

use unterm_term::Size;
use unterm_tmux as tmux;

use super::process::{Server, TmuxProcess};
use crate::{
    ExitStatus, Node, Pane, PaneId, TabId,
    lock::{Condvar, Mutex},
};

/// The connection to a server.
pub(crate) struct Link {
    /// The pane in which `tmux -CC` runs.
    pane: Weak<Pane>,
    state: Mutex<State>,
    /// Wakes writers when the server has answered.
    answered: Condvar,
}

/// The state of the connection.
pub(crate) struct State {
    pub(crate) client: tmux::Client,
    pub(crate) windows: BTreeMap<tmux::WindowId, TabWindow>,
    pub(crate) panes: BTreeMap<tmux::PaneId, (PaneId, Arc<TmuxProcess>)>,
    /// Panes that tmux was asked to open.
    pub(crate) tickets: HashMap<tmux::Ticket, (PaneId, Arc<TmuxProcess>)>,
    /// Panes that tmux was asked to end.
    pub(crate) closing: BTreeSet<tmux::PaneId>,
    /// The number of changes of the server that are being applied. Meanwhile, changes of tabs are not the user's.
    pub(crate) applying: usize,
    /// Whether tabs have changed while changes of the server were applied.
    pub(crate) is_dirty: bool,
    /// Whether the focus has moved from the pane in which tmux was started to a tab of the server.
    pub(crate) has_moved_focus: bool,
    /// The last sent size of new windows.
    pub(crate) size: (u16, u16),
    /// Whether programs in tmux outlive their panes here, because the user has detached or Unterm ends.
    is_detached: bool,
    is_sending: bool,
}

/// A window of tmux in a tab.
pub(crate) struct TabWindow {
    pub(crate) tab: TabId,
    pub(crate) view: tmux::View,
    /// The tree of splits that the tab was given. `None`: the tab did not contain the same panes yet.
    pub(crate) root: Option<Node>,
    /// The size in cells that was requested for the window.
    pub(crate) size: (u16, u16),
}

impl Link {
    /// A connection at the beginning of the control mode, for windows of this size in cells. If `is_trusted` is false,
    /// nothing is sent until [`tmux::Client::allow`].
    pub(crate) fn new(pane: Weak<Pane>, size: (u16, u16), is_trusted: bool) -> Self {
        let state = State {
            client: tmux::Client::new(size.0, size.1, is_trusted),
            windows: BTreeMap::new(),
            panes: BTreeMap::new(),
            tickets: HashMap::new(),
            closing: BTreeSet::new(),
            applying: 0,
            is_dirty: false,
            has_moved_focus: false,
            size,
            is_detached: false,
            is_sending: false,
        };
        Self { pane, state: Mutex::new(state), answered: Condvar::default() }
    }

    /// The pane in which `tmux -CC` runs. `None` if it was removed.
    pub(crate) fn pane(&self) -> Option<Arc<Pane>> {
        self.pane.upgrade()
    }

    /// Calls `act` with the state locked, and then sends the commands that it has created.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let result = act(&mut self.state.lock());
        self.flush();
        result
    }

    /// Sends commands. One thread at a time sends, so that commands keep their order.
    fn flush(&self) {
        loop {
            let commands = {
                let mut state = self.state.lock();
                if state.is_sending {
                    return;
                }
                let commands = state.client.take_commands();
                state.is_sending = !commands.is_empty();
                commands
            };
            if commands.is_empty() {
                return;
            }
            let is_sent = self.pane().is_some_and(|pane| pane.send_command(&commands));
            let mut state = self.state.lock();
            state.is_sending = false;
            if !is_sent {
                // A server without one of the commands would answer the others in another order.
                state.client.abort("tmux does not read its input");
            }
        }
    }

    /// Wakes writers, because the server may have answered.
    pub(crate) fn notify(&self) {
        self.answered.notify_all();
    }

    /// From now on, the end of a pane does not end its program in tmux.
    pub(crate) fn detach(&self) {
        self.state.lock().is_detached = true;
        self.notify();
    }

    /// Ends the processes of all panes, and returns the panes.
    pub(crate) fn end(&self) -> Vec<PaneId> {
        let ended: Vec<_> = {
            let mut state = self.state.lock();
            state.is_detached = true;
            state.windows.clear();
            let panes = std::mem::take(&mut state.panes).into_values();
            let opening = std::mem::take(&mut state.tickets).into_values();
            panes.chain(opening).collect()
        };
        ended.iter().for_each(|(_, process)| process.end(ExitStatus::Code(0)));
        self.notify();
        ended.into_iter().map(|(pane, _)| pane).collect()
    }

    /// The pane of tmux that a pane shows. `None` if tmux has not opened it yet.
    pub(crate) fn shown_in(&self, pane: PaneId) -> Option<tmux::PaneId> {
        let state = self.state.lock();
        state.panes.iter().find(|(_, (own, _))| *own == pane).map(|(target, _)| *target)
    }

    /// Whether a pane belongs to this connection, even if tmux has not opened it yet.
    pub(crate) fn contains(&self, pane: PaneId) -> bool {
        let state = self.state.lock();
        let mut own = state.panes.values().chain(state.tickets.values());
        own.any(|(own, _)| *own == pane)
    }
}

impl Server for Link {
    fn try_input(&self, pane: tmux::PaneId, bytes: &[u8]) -> io::Result<usize> {
        self.with(|state| {
            if state.client.has_ended() || state.is_detached {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(state.client.input(pane, bytes))
        })
    }

    fn wait(&self) {
        let mut state = self.state.lock();
        if !state.client.accepts_input() && !state.is_detached && !state.client.has_ended() {
            self.answered.wait(&mut state);
        }
    }

    fn wake(&self) {
        drop(self.state.lock());
        self.answered.notify_all();
    }

    fn kill(&self, pane: tmux::PaneId) {
        self.with(|state| {
            if !state.is_detached && state.panes.remove(&pane).is_some() {
                state.closing.insert(pane);
                state.client.kill(pane);
            }
        });
    }

    fn resize(&self, pane: tmux::PaneId, size: Size) {
        self.with(|state| state.client.resize_pane(pane, size.cols, size.rows));
    }
}
