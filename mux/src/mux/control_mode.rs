//! Shows the windows of a tmux server as tabs, while `tmux -CC` runs in a pane.
//!
//! Owns the client of each such pane, and the pane's display and input meanwhile. `apply` carries out the server's
//! changes, and `follow` sends the user's changes. The end of a client never ends a program in tmux.
//!
//! Any program can print the beginning of the control mode, and so open tabs with its own output. It can't do more: a
//! tab opens in the background, the number of tabs is limited, and the focus moves only between the server's own tabs.
//! Nothing is typed into a program before the user allows it, unless the program is tmux on this machine. A program
//! that connects to another machine may show a file there.

mod apply;
mod follow;
mod open;

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use unterm_tmux as tmux;

use super::Mux;
use crate::{Pane, PaneId, pane::ControlClient, process::is_tmux, tmux::Link};

/// The client of one pane in which `tmux -CC` runs.
struct Driver {
    link: Arc<Link>,
    mux: Weak<Mux>,
    /// Whether the user has asked to detach.
    is_leaving: AtomicBool,
}

impl Mux {
    /// Creates the client for a pane whose program has begun the control mode. `None` while the mux shuts down.
    pub(super) fn begin_control_mode(&self, pane: &Pane) -> Option<Arc<dyn ControlClient>> {
        let pane = self.pane(pane.id())?;
        let is_trusted = pane.process().carrier().is_some_and(|name| is_tmux(&name));
        let size = self.size_of_new_tab();
        let size = (size.cols.max(1), size.rows.max(1));
        let link = Arc::new(Link::new(Arc::downgrade(&pane), size, is_trusted));
        let is_first = {
            let mut state = self.state.lock();
            if state.is_closed {
                return None;
            }
            state.links.push(link.clone());
            !std::mem::replace(&mut state.follows_tmux, true)
        };
        if is_first {
            self.observe(follow::observer(self.this.clone()));
        }
        let is_leaving = AtomicBool::new(false);
        Some(Arc::new(Driver { link, mux: self.this.clone(), is_leaving }))
    }

    /// The connection to the tmux server that a pane belongs to.
    pub(super) fn link_of(&self, pane: PaneId) -> Option<Arc<Link>> {
        let links = self.state.lock().links.clone();
        links.into_iter().find(|link| link.contains(pane))
    }

    /// Ends the connections to all tmux servers. Their programs go on.
    pub(super) fn detach_from_tmux(&self) {
        let links = self.state.lock().links.clone();
        links.iter().for_each(|link| link.detach());
    }
}

impl Driver {
    /// Carries out the actions that the client has returned.
    fn carry_out(&self, mux: &Mux) {
        while let Some(action) = self.link.with(|state| state.client.next_action()) {
            mux.apply_action(&self.link, action);
        }
    }

    /// Detaches, or leaves at once if tmux was already asked to detach.
    fn leave(&self) {
        let must_end = self.link.with(|state| {
            let must_end =
                self.is_leaving.swap(true, Ordering::AcqRel) || !state.client.is_trusted();
            match must_end {
                true => state.client.abort("You have left the control mode."),
                false => state.client.detach(),
            }
            must_end
        });
        if must_end {
            if let Some(mux) = self.mux.upgrade() {
                self.carry_out(&mux);
            }
            if let Some(pane) = self.link.pane() {
                pane.end_control_mode();
            }
        }
    }
}

impl ControlClient for Driver {
    fn output(&self, bytes: &[u8]) -> usize {
        let Some(mux) = self.mux.upgrade() else { return 0 };
        let mut at = 0;
        loop {
            let (taken, has_ended) = self.link.with(|state| {
                let taken = state.client.advance(&bytes[at..]);
                (taken, state.client.has_ended())
            });
            at += taken;
            self.link.notify();
            self.carry_out(&mux);
            if has_ended || at == bytes.len() {
                return at;
            }
        }
    }

    fn input(&self, bytes: &[u8]) {
        match bytes {
            b"\r" | b"\n" | b"\x1b[13u" => {
                if let Some(mux) = self.mux.upgrade() {
                    self.link.with(|state| state.client.allow());
                    self.carry_out(&mux);
                }
            }
            // Escape, also in the encoding of kitty's keyboard protocol, and the keys that end or interrupt programs.
            b"\x1b" | b"\x1b[27u" | b"q" | b"\x03" | b"\x04" => self.leave(),
            _ => {}
        }
    }

    fn close(&self) {
        if let Some(mux) = self.mux.upgrade() {
            mux.end_link(&self.link);
        }
    }
}

/// The text that a pane shows while its windows are tabs.
fn introduction(session: &str, is_trusted: bool) -> String {
    match is_trusted {
        true => format!(
            "\r\n[The windows of the tmux session {session} are tabs now. Press Esc here to detach.]\r\n"
        ),
        false => format!(
            "\r\n[A program asks to show the windows of the tmux session {session} as tabs. Press Enter to allow it, \
             or Esc to refuse.]\r\n"
        ),
    }
}

/// The text that a pane shows when the control mode has ended.
fn farewell(end: &tmux::End) -> String {
    let text = match end {
        tmux::End::Exit(reason) if reason.is_empty() => "Detached from tmux.",
        tmux::End::Exit(reason) => reason.as_str(),
        tmux::End::NotTmux => "The connection to tmux has ended.",
        tmux::End::Limit(reason) => reason,
    };
    format!("\r\n[{text}]\r\n")
}
