//! Releases a pane's program without ending it.
//!
//! Owns the order in which the pane's threads stop, so that no byte is lost or sent twice. Never ends the program, and
//! types nothing into it.

use std::sync::atomic::Ordering;

use super::{
    Pane, PaneState,
    handover::{Handover, PromptMarks, Rest},
};
use crate::KILL_GRACE;

impl Pane {
    /// Stops the pane's threads, and returns its program with everything that the next pane needs. Waits for the
    /// threads, so an [`crate::Observer`] must not call it. Afterward the pane counts as removed.
    pub(crate) fn release(&self) -> Handover {
        // Release the queue first, so that the writer thread keeps the bytes that it can no longer write.
        self.queue.release();
        self.process.detach();
        while !self.threads.wait(KILL_GRACE) {
            tracing::warn!(pane = self.id.0, "waiting for the threads of a pane that is released");
        }
        *self.state.lock() = PaneState::Removed;
        self.end_control_mode();
        self.taps.end();
        let (screen, size) = {
            let term = self.term.lock();
            (term.to_vt(), term.size())
        };
        let load = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Acquire);
        let marks = PromptMarks {
            enters: load(&self.enters_at_prompt),
            touches: load(&self.touches_at_prompt),
            inputs: load(&self.inputs_at_prompt),
            shell: *self.shell_at_prompt.lock(),
            cwd_reporter: self.cwd_reporter.load(Ordering::Acquire),
            inputs_shown: load(&self.inputs_shown),
            touches_now: self.touches(),
        };
        // Use separate statements, because each holds its lock until the end of the statement.
        let parser = std::mem::take(&mut *self.parser.lock());
        let titles = self.titles.lock().clone();
        let name = self.name.lock().clone();
        let unsent = self.queue.take_unsent();
        let unread = std::mem::take(&mut *self.unread.lock());
        let variables = self.variables.clone();
        let rest = Rest { parser, titles, unsent, unread, recovered: None, marks, variables };
        let handover = Handover {
            process: self.process.clone(),
            size,
            screen,
            pane: Some(self.id),
            is_pinned: self.is_pinned(),
            name,
            command: self.command.clone(),
            nonce: self.nonce.clone(),
            rest,
        };
        self.seq.send_modify(|_| {});
        handover
    }
}
