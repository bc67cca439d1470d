//! Moves running programs between muxes: one mux releases a pane's program, and another mux adopts the program as a new
//! pane.
//!
//! Owns the parts of the new pane. Never ends a program: if adoption fails, the caller gets the program back.

use std::sync::Arc;

use unterm_term::{Parser, Size, Term};

use super::{Mux, MuxError, open::PanePlacement};
use crate::{Handover, OnExit, Pane, PaneId, TermChange, pane::Parts};

/// A program that could not be adopted. It keeps running.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct NotAdopted {
    /// The reason.
    pub error: MuxError,
    /// The program.
    pub handover: Handover,
}

impl Mux {
    /// Creates a pane for a running program. The terminal's contents are restored, and the terminal is resized to its
    /// position in the layout, unless its size is pinned or the pane is hidden. The program's environment does not
    /// change: it still contains the sockets and tokens of the first mux.
    ///
    /// # Errors
    /// If there is no room, or the mux has shut down. The error contains the program.
    pub fn adopt(
        &self,
        handover: Handover,
        place: PanePlacement,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, Box<NotAdopted>> {
        let own = (handover.is_pinned || place == PanePlacement::Hidden).then_some(handover.size);
        let size = match self.size_at(place, own) {
            Ok(size) => size,
            Err(error) => return Err(Box::new(NotAdopted { error, handover })),
        };
        let pane = self.rebuild_pane(handover, size, on_exit);
        pane.set_pinned(own.is_some());
        match self.put(&pane, place, size) {
            Ok(()) => Ok(pane),
            Err(error) => Err(Box::new(NotAdopted { error, handover: pane.release() })),
        }
    }

    /// Removes a pane and returns its running program, together with everything that another mux needs to adopt it: the
    /// terminal's contents and the input that the program has not read. Nothing is typed into the program. Recordings
    /// and taps of the pane end.
    ///
    /// Waits until the pane's threads have stopped. An [`crate::Observer`] must not call it.
    ///
    /// # Errors
    /// If there is no such pane, or the pane belongs to tmux.
    pub fn release(&self, pane: PaneId) -> Result<Handover, MuxError> {
        if self.pane(pane).is_some_and(|pane| pane.is_in_tmux()) {
            return Err(MuxError::InTmux(pane));
        }
        // Remove the pane from the list first, so that no other call can close it and end the program.
        let taken = self.take(&[pane]);
        let handover = taken.panes.first().ok_or(MuxError::NoPane(pane))?.release();
        self.announce_removed(&taken);
        Ok(handover)
    }

    /// Creates a pane for a running program. [`Pane::start`] starts the pane's threads later.
    fn rebuild_pane(&self, handover: Handover, size: Size, on_exit: OnExit) -> Arc<Pane> {
        let Handover { process, screen, pane, name, command, nonce, mut rest, .. } = handover;
        let defaults = self.defaults.lock().clone();
        let options = self.terminal_options(defaults.term, &process, &nonce);
        let mut term = rest.rebuild(handover.size, &options).unwrap_or_else(|| {
            let mut term = Term::new(handover.size, options);
            Parser::new().advance(&mut term, &screen);
            term
        });
        term.set_visible(self.options.sized_by_window);
        // The previous mux has already sent these replies and announced these events.
        term.take_replies();
        term.take_events();
        term.take_titles_set();
        // The last report to the program may be that its former pane was hidden.
        term.repeat_visibility();
        rest.push_reply(&term.take_replies());
        let size = Size { cols: size.cols.max(1), rows: size.rows.max(1), ..size };
        if term.size() != size {
            term.resize(size);
            if let Some(journal) = process.journal() {
                journal.note(TermChange::Size(size));
            }
            rest.push_reply(&term.take_replies());
            term.take_events();
            if let Err(error) = process.resize(size) {
                tracing::debug!(%error, "cannot resize the terminal of an adopted program");
            }
        }
        Pane::new(Parts {
            id: self.pane_numbers.shown_again(pane),
            process,
            term,
            command,
            nonce,
            name,
            rest,
            on_exit,
            observers: self.observers.clone(),
            owner: self.this.clone(),
        })
    }
}
