//! The control mode of tmux in a pane: a program exchanges lines with a client of this process instead of drawing.
//!
//! Owns when the client starts and ends, and which bytes it gets. The pane's owner provides the client. Never parses a
//! line.

use std::sync::{Arc, atomic::Ordering};

use unterm_term::Parser;

use super::Pane;

/// The client of a program in control mode. Called with no lock held.
pub(crate) trait ControlClient: Send + Sync {
    /// Handles output of the program. Returns the number of bytes handled. If it is less than all, the client has
    /// ended, and the rest is ordinary output.
    fn output(&self, bytes: &[u8]) -> usize;
    /// Handles input that was typed into the pane.
    fn input(&self, bytes: &[u8]);
    /// The control mode, or the program, has ended.
    fn close(&self);
}

/// The reader's state of the control mode.
#[derive(Default)]
pub(super) struct Controlled {
    /// Whether the owner was asked for a client since the control mode began.
    has_asked: bool,
    /// Whether the owner has provided a client.
    has_client: bool,
}

impl Pane {
    /// Passes output in control mode to the client. Returns the rest, which the terminal handles.
    pub(super) fn follow_control_mode<'a>(
        &self,
        controlled: &mut Controlled,
        parser: &mut Parser,
        bytes: &'a [u8],
    ) -> &'a [u8] {
        if !parser.is_in_control_mode() {
            return bytes;
        }
        if !std::mem::replace(&mut controlled.has_asked, true)
            // The program's own terminal would have to be the client.
            && !self.process.has_inner_terminal()
            && let Some(owner) = self.owner.upgrade()
            && let Some(client) = owner.control_client(self)
        {
            *self.control.lock() = Some(client);
            controlled.has_client = true;
            self.is_control_client.store(true, Ordering::Release);
        }
        let len = Parser::control_mode_len(bytes);
        let Some(client) = self.control_client() else {
            if controlled.has_client {
                // The user has left the mode before its end.
                parser.leave_control_mode();
            }
            // Otherwise the terminal drops the lines.
            if controlled.has_client || len < bytes.len() {
                *controlled = Controlled::default();
            }
            return bytes;
        };
        let taken = client.output(&bytes[..len]).min(len);
        if taken < len {
            parser.leave_control_mode();
        }
        if taken < len || len < bytes.len() {
            *controlled = Controlled::default();
            self.end_control_mode();
        }
        &bytes[taken..]
    }

    fn control_client(&self) -> Option<Arc<dyn ControlClient>> {
        self.control.lock().clone()
    }

    /// Ends the client, if there is one.
    pub(crate) fn end_control_mode(&self) {
        let client = self.control.lock().take();
        self.is_control_client.store(false, Ordering::Release);
        if let Some(client) = client {
            client.close();
        }
    }

    /// Whether the program's lines go to a client of tmux's control mode, and input does not reach the program.
    pub fn is_control_client(&self) -> bool {
        self.is_control_client.load(Ordering::Acquire)
    }

    /// Passes input to the client instead of the program. Returns false if there is no client.
    pub(super) fn control_input(&self, bytes: &[u8]) -> bool {
        let client = if self.is_control_client() { self.control_client() } else { None };
        if let Some(client) = &client {
            client.input(bytes);
        }
        client.is_some()
    }

    /// Whether the pane shows a pane of a tmux server.
    pub fn is_in_tmux(&self) -> bool {
        self.process.has_inner_terminal()
    }

    /// Sends a command of the client to the program. Returns false if the program does not read its input.
    pub(crate) fn send_command(&self, command: &[u8]) -> bool {
        self.queue.push(command).is_ok()
    }

    /// Shows text of the client, which is not output of the program.
    pub(crate) fn show_text(&self, text: &str) {
        self.show(text.as_bytes(), None);
    }
}
