//! Shows that another process could rebuild a pane's terminal exactly, while the program runs.

use unterm_term::Term;

use super::{Mux, MuxError};
use crate::PaneId;

/// A terminal, and the terminal that another process would rebuild if this process were killed at the same moment.
#[derive(Clone, Debug)]
pub struct HandoverCheck {
    /// The whole state of the terminal as text ([`Term::dump`]).
    pub live: String,
    /// The whole state of the rebuilt terminal. The error is the reason why there is no rebuilt terminal, as a
    /// sentence.
    pub rebuilt: Result<String, String>,
    /// The length of the checkpoint in bytes.
    pub checkpoint: usize,
    /// The length of the output since the checkpoint in bytes.
    pub output: usize,
}

impl HandoverCheck {
    /// Whether both terminals are equal.
    pub fn is_equal(&self) -> bool {
        self.rebuilt.as_ref().is_ok_and(|rebuilt| *rebuilt == self.live)
    }
}

impl Mux {
    /// Rebuilds a pane's terminal from the journal of its program, and compares both. The program is not affected.
    /// Takes time and memory in proportion to history and images.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn verify_handover(&self, pane: PaneId) -> Result<HandoverCheck, MuxError> {
        let pane = self.pane(pane).ok_or(MuxError::NoPane(pane))?;
        // Both belong to the same moment, because the journal changes with the terminal's lock.
        let (live, size, contents) = {
            let term = pane.term();
            let contents = match pane.process().journal() {
                Some(journal) => journal.inspect(),
                None => Err("the program has no journal: see sessions.keep".to_owned()),
            };
            (term.dump(), term.size(), contents)
        };
        let lengths = contents.as_ref().map_or((0, 0), |it| (it.screen.len(), it.applied));
        let rebuilt = contents.map(|contents| {
            let nonce = pane.nonce().cloned();
            let defaults = self.defaults.lock().clone();
            let options = self.terminal_options(defaults.term, pane.process(), &nonce);
            let term: Term = contents.rebuild(size, options).term;
            term.dump()
        });
        Ok(HandoverCheck { live, rebuilt, checkpoint: lengths.0, output: lengths.1 })
    }
}
