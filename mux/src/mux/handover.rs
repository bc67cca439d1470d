//! Programs that change their mux: one that runs is adopted as a pane, and a pane lets go of its own.
//!
//! Owns what the new pane is made of. Never ends a program: what can't be adopted is given back.

use std::sync::{Arc, atomic::Ordering};

use unterm_term::{Parser, Size, Term};

use super::{
    Mux, MuxError,
    open::{Place, terminal_options},
};
use crate::{Handover, OnExit, Pane, PaneId, pane::Parts};

/// A program that was not adopted; it runs on.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct NotAdopted {
    /// Why.
    pub error: MuxError,
    /// The program.
    pub handover: Handover,
}

impl Mux {
    /// Makes a running program a pane. Its terminal is rebuilt and gets the size of its place, unless its size is pinned or it
    /// has no tab. What stands in the program's environment stays: the sockets and tokens of the mux that started it.
    ///
    /// # Errors
    /// When there is no room, or the mux is shut down. The program comes back with the error.
    pub fn adopt(
        &self,
        handover: Handover,
        place: Place,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, Box<NotAdopted>> {
        let own = (handover.is_pinned || place == Place::Hidden).then_some(handover.size);
        let size = match self.size_at(place, own, true) {
            Ok(size) => size,
            Err(error) => return Err(Box::new(NotAdopted { error, handover })),
        };
        let pane = self.rebuild_pane(handover, size, on_exit);
        pane.set_pinned(own.is_some());
        match self.put(&pane, place, size, true) {
            Ok(()) => Ok(pane),
            Err(error) => Err(Box::new(NotAdopted { error, handover: pane.release() })),
        }
    }

    /// Takes a pane away and lets go of its program, which runs on, with all that another mux needs to adopt it: what its
    /// terminal shows, and the input that it has not read. Nothing is typed into it. Recordings and taps of the pane end.
    ///
    /// Waits until the pane's threads have stopped. Must not be called by an [`crate::Observer`].
    ///
    /// # Errors
    /// When there is no such pane.
    pub fn release(&self, pane: PaneId) -> Result<Handover, MuxError> {
        // Out of the list first: whoever closes the pane from now on would end the program.
        let taken = self.take(&[pane]);
        let handover = taken.panes.first().ok_or(MuxError::NoPane(pane))?.release();
        self.announce_removed(&taken);
        Ok(handover)
    }

    /// A pane for a program that runs, whose threads do not run yet.
    fn rebuild_pane(&self, handover: Handover, size: Size, on_exit: OnExit) -> Arc<Pane> {
        let Handover { process, screen, pane, name, command, nonce, mut rest, .. } = handover;
        let defaults = self.defaults.lock().clone();
        let options = terminal_options(defaults.term, &process, &nonce);
        let mut term = Term::new(handover.size, options);
        Parser::new().advance(&mut term, &screen);
        // The program was answered, and others were told, when it wrote this.
        term.take_replies();
        term.take_events();
        term.take_titles_set();
        let size = Size { cols: size.cols.max(1), rows: size.rows.max(1), ..size };
        if term.size() != size {
            term.resize(size);
            rest.push_reply(&term.take_replies());
            term.take_events();
            if let Err(error) = process.resize(size) {
                tracing::debug!(%error, "cannot resize the terminal of an adopted program");
            }
        }
        Pane::new(Parts {
            id: self.next_id(pane),
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

    /// A number for a pane: the one it had, if that is above all that were given out.
    fn next_id(&self, last: Option<PaneId>) -> PaneId {
        let keep = |next: u64| last.filter(|last| last.0 >= next)?.0.checked_add(1);
        match (last, self.next_pane.fetch_update(Ordering::Relaxed, Ordering::Relaxed, keep)) {
            (Some(last), Ok(_)) => last,
            _ => PaneId(self.next_pane.fetch_add(1, Ordering::Relaxed)),
        }
    }
}
