//! Passes data of clipboards to programs that asked for it (OSC 5522).
//!
//! Owns the limit for data that programs have not read yet, over all panes together.

use std::sync::Arc;

use unterm_term::{ClipboardData, ClipboardError};

use super::Mux;
use crate::{Pane, PaneId};

/// The maximum number of bytes that may wait for the programs of all panes together when clipboard data is queued.
const UNREAD_BUDGET: usize = 128 << 20;

impl Mux {
    /// Answers a program's request to read a clipboard ([`unterm_term::Event::ClipboardRead`]). If too much input waits
    /// for programs, the answer is [`ClipboardError::Busy`]. Has no effect if the pane or the request no longer exists.
    pub fn answer_clipboard_read(
        &self,
        pane: PaneId,
        handle: u64,
        data: Result<&ClipboardData, ClipboardError>,
    ) {
        let panes: Vec<Arc<Pane>> = self.state.lock().panes.values().cloned().collect();
        let Some(pane) = panes.iter().find(|found| found.id() == pane) else { return };
        let unread: usize = panes.iter().map(|pane| pane.unread_bytes()).sum();
        pane.answer_clipboard_read(handle, data, UNREAD_BUDGET.saturating_sub(unread));
    }
}
