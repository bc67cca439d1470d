//! The user's actions in tabs and panes, as commands for tmux.
//!
//! Each method changes the model at once, so that the server's confirmation changes nothing.

use super::{Client, INPUTS, Purpose, Ticket};
use crate::{
    Layout, NewProgram, PaneId, Side, WindowId,
    command::{self, INPUT_CAP},
};

impl Client {
    /// Types bytes into a pane. Returns the number of bytes accepted. If it is 0, tmux has not answered earlier input
    /// yet, or the pane does not exist.
    pub fn input(&mut self, pane: PaneId, bytes: &[u8]) -> usize {
        if !self.accepts_input() || bytes.is_empty() || self.has_ended() {
            return 0;
        }
        let part = &bytes[..bytes.len().min(INPUT_CAP)];
        self.send(&[Purpose::Input], &command::input(pane, part));
        part.len()
    }

    /// Whether [`Client::input`] would accept input.
    pub fn accepts_input(&self) -> bool {
        self.inputs < INPUTS
    }

    /// Requests a pane beside another pane.
    pub fn split(&mut self, pane: PaneId, side: Side, program: &NewProgram) -> Ticket {
        let ticket = self.ticket();
        self.send(&[Purpose::NewPane(ticket)], &command::split(pane, side, program));
        ticket
    }

    /// Requests a new window with one pane.
    pub fn new_window(&mut self, program: &NewProgram) -> Ticket {
        let ticket = self.ticket();
        self.send(&[Purpose::NewWindow(ticket)], &command::new_window(program));
        ticket
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }

    /// Ends a pane's program.
    pub fn kill(&mut self, pane: PaneId) {
        self.send(&[Purpose::Request], &command::kill_pane(pane));
    }

    /// Makes a pane the active pane of its window. Ends zoom.
    pub fn select_pane(&mut self, window: WindowId, pane: PaneId) {
        if self.model.activate(window, pane) {
            self.send(&[Purpose::Request], &command::select_pane(pane));
        }
    }

    /// Makes a window the current window.
    pub fn select_window(&mut self, window: WindowId) {
        if self.model.make_current(window) {
            self.send(&[Purpose::Request], &command::select_window(window));
        }
    }

    /// Begins or ends the zoom of a window's active pane.
    pub fn toggle_zoom(&mut self, window: WindowId, pane: PaneId) {
        self.model.toggle_zoom(window);
        self.send(&[Purpose::Request], &command::toggle_zoom(pane));
    }

    /// Sets the size of a pane in cells.
    pub fn resize_pane(&mut self, pane: PaneId, cols: u16, rows: u16) {
        self.send(&[Purpose::Request], &command::resize_pane(pane, cols.max(1), rows.max(1)));
    }

    /// Exchanges two panes.
    pub fn swap_panes(&mut self, one: PaneId, other: PaneId) {
        self.send(&[Purpose::Request], &command::swap_panes(one, other));
    }

    /// Sets the sizes of a window's panes. `layout` must contain the same panes in the same order.
    pub fn set_layout(&mut self, window: WindowId, layout: &Layout) {
        if self.model.layout(window).is_some_and(|known| known != layout) {
            self.send(&[Purpose::Request], &command::select_layout(window, layout));
        }
    }

    /// Names a window.
    pub fn rename(&mut self, window: WindowId, name: &str) {
        if self.model.rename(window, name.to_owned()) {
            self.send(&[Purpose::Request], &command::rename_window(window, name));
        }
    }

    /// Sets the size of new windows in cells.
    pub fn set_size(&mut self, cols: u16, rows: u16) {
        let size = (cols.max(1), rows.max(1));
        if self.size != size {
            self.size = size;
            if self.phase == super::Phase::Attached {
                self.send(&[Purpose::Quiet], &command::client_size(size.0, size.1));
            }
        }
    }

    /// Sets the size of one window in cells. Versions of tmux before 3.3 give all windows the size of
    /// [`Client::set_size`].
    pub fn set_window_size(&mut self, window: WindowId, cols: u16, rows: u16) {
        self.send(&[Purpose::Quiet], &command::window_size(window, cols.max(1), rows.max(1)));
    }

    /// Asks tmux to detach the client. The session and its programs go on.
    pub fn detach(&mut self) {
        self.send(&[Purpose::Quiet], &command::detach());
    }
}
