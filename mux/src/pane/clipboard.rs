//! Answers to a program's requests to clipboards (OSC 5522), and reports of pastes (mode 5522).

use unterm_term::{ClipboardData, ClipboardError, ClipboardTarget};

use super::{Pane, WriteError};

impl Pane {
    /// Answers a request to read a clipboard. If the answer is longer than `most` bytes, it is
    /// [`ClipboardError::Busy`] instead.
    pub(crate) fn answer_clipboard_read(
        &self,
        handle: u64,
        data: Result<&ClipboardData, ClipboardError>,
        most: usize,
    ) {
        let Some(reader) = self.term.lock().take_clipboard_read(handle) else { return };
        // Encode the data without the lock, because it may be long.
        let mut reply = reader.reply(data.map(Vec::as_slice));
        if reply.len() > most {
            tracing::debug!(pane = self.id.0, "data of a clipboard dropped: too much input waits");
            reply = reader.reply(Err(ClipboardError::Busy));
        }
        if let Err(error) = self.queue.push_long(&reply) {
            tracing::debug!(pane = self.id.0, %error, "data of a clipboard dropped");
        }
    }

    /// Answers a request to write to a clipboard ([`unterm_term::Event::ClipboardWrite`]). Has no effect if the request no
    /// longer exists.
    pub fn answer_clipboard_write(&self, handle: u64, outcome: Result<(), ClipboardError>) {
        self.act_on(|term| term.answer_clipboard_write(handle, outcome));
    }

    /// Reports to the program that the user pasted: which types the clipboard has, and a password for one read of their
    /// data. Call it only if the program asked for such reports ([`unterm_term::Modes::PASTE_EVENTS`]).
    ///
    /// # Errors
    /// If the program does not read its input, or has ended.
    pub fn report_paste(
        &self,
        target: ClipboardTarget,
        types: &[&str],
        password: &str,
    ) -> Result<(), WriteError> {
        let report = self.term.lock().paste_event(target, types, password);
        self.queue.push(&report)
    }

    /// The bytes that the program has not read yet.
    pub(crate) fn unread_bytes(&self) -> usize {
        self.queue.waiting_bytes()
    }
}
