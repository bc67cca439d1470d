//! Leaves programs to the keeper on purpose, so that another process can show them.

use std::sync::Arc;

use super::Mux;
use crate::{Pane, PaneState};

impl Mux {
    /// The panes in tabs whose programs can continue without this process: they run, and a keeper is their parent.
    pub fn kept_panes(&self) -> Vec<Arc<Pane>> {
        let can_continue =
            |pane: &Arc<Pane>| pane.state() == PaneState::Running && pane.process().is_kept();
        self.panes().into_iter().filter(can_continue).collect()
    }

    /// Removes the panes of [`Mux::kept_panes`], and lets their programs continue without an owner. [`Mux::attach_all`]
    /// of any process shows them again, in the same tabs and splits. Returns the number of programs. A program belongs
    /// to this process until the last reference to its [`crate::Process`] is dropped. Nothing takes the place of this
    /// process.
    ///
    /// Waits until the threads of the panes have stopped. An [`crate::Observer`] must not call it.
    pub fn leave(&self) -> usize {
        self.spawner.will_leave();
        self.leave_to_successor()
    }

    /// Like [`Mux::leave`], for a process that ends afterward: the program of [`crate::KeptSpawner::set_successor`] then
    /// takes its place.
    pub fn leave_to_successor(&self) -> usize {
        #[cfg(target_os = "linux")]
        self.store_placements_now();
        let left = self.kept_panes().into_iter().filter_map(|pane| {
            // Another thread may have closed the pane.
            let handover = self.release(pane.id()).ok()?;
            handover.process.leave();
            Some(())
        });
        left.count()
    }
}
