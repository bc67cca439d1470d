//! Starts a new program in the place of a pane.
//!
//! Owns the exchange of the two panes: the new pane has the id, the position, the size and the name of the old pane.

use std::sync::Arc;

use super::{Mux, MuxError, MuxEvent};
use crate::{OnExit, Pane, PaneId, Spawn, SpawnError};

impl Mux {
    /// Ends a pane's program, and starts another program in a new pane with the same id and position. The terminal
    /// starts empty.
    ///
    /// # Errors
    /// If there is no such pane, the pane belongs to tmux, or the program can't be started. The old pane then stays.
    pub fn respawn(
        &self,
        id: PaneId,
        spawn: Spawn,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        let failed = |error: String| SpawnError::Program { program: "a pane".into(), error };
        let old = self.pane(id).ok_or(MuxError::NoPane(id))?;
        if old.is_in_tmux() {
            return Err(MuxError::InTmux(id));
        }
        let size = old.term().size();
        let new = self.start_pane_as(id, spawn, size, on_exit)?;
        new.set_pinned(old.is_pinned());
        new.take_name(&old);
        let alive = [self.threads.alive(), self.threads.alive()];
        let is_replaced = {
            let mut state = self.state.lock();
            let is_current = state.panes.get(&id).is_some_and(|now| Arc::ptr_eq(now, &old));
            let is_replaced = is_current && !state.is_closed;
            if is_replaced {
                state.panes.insert(id, new.clone());
            }
            is_replaced
        };
        if !is_replaced {
            new.close();
            return Err(MuxError::NoPane(id));
        }
        old.close();
        for event in [MuxEvent::PaneRemoved(id), MuxEvent::PaneOpened(id), MuxEvent::Layout] {
            self.observers.event(event);
        }
        // The new pane starts last, for the reason that `admit` gives.
        if let Err(error) = new.start(alive) {
            self.close_pane(id)?;
            return Err(failed(format!("no thread: {error}")).into());
        }
        self.divide_cells();
        Ok(new)
    }
}
