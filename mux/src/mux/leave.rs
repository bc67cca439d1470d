//! Leaves programs to the keeper on purpose, so that another process can show them.

use std::sync::Arc;

use super::{Mux, MuxError};
use crate::{Pane, PaneId, PaneState};

impl Mux {
    /// The panes in tabs whose programs can continue without this process: they run, and a keeper is their parent.
    pub fn kept_panes(&self) -> Vec<Arc<Pane>> {
        let can_continue =
            |pane: &Arc<Pane>| pane.state() == PaneState::Running && pane.process().is_kept();
        self.panes().into_iter().filter(can_continue).collect()
    }

    /// The panes that another process can show: those of [`Mux::kept_panes`], and panes whose program has ended and whose
    /// end is kept ([`crate::Process::has_kept_end`]).
    fn panes_to_leave(&self) -> Vec<Arc<Pane>> {
        let ended = self.panes().into_iter().filter(|pane| pane.process().has_kept_end());
        self.kept_panes().into_iter().chain(ended).collect()
    }

    /// Removes the panes of [`Mux::kept_panes`] and panes with a kept end, and lets their programs continue without an
    /// owner. [`Mux::attach_all`] of any process shows them again, in the same tabs and splits. Returns the number of
    /// programs. A program belongs to this process until the last reference to its [`crate::Process`] is dropped. Nothing
    /// takes the place of this process.
    ///
    /// Waits until the threads of the panes have stopped. An [`crate::Observer`] must not call it.
    pub fn leave(&self) -> usize {
        self.spawner.will_leave();
        self.leave_to_successor()
    }

    /// The keeper's numbers of the programs that [`Mux::leave`] would leave, with their panes.
    pub fn kept_numbers(&self) -> Vec<(u64, PaneId)> {
        let number = |pane: Arc<Pane>| Some((pane.process().keeper_number()?, pane.id()));
        self.panes_to_leave().into_iter().filter_map(number).collect()
    }

    /// Removes some panes, and lets their programs continue without an owner, so that another process can show them in the
    /// same splits ([`Mux::attach_all`]). Returns the keeper's numbers of the programs, in the order of the panes. If a pane
    /// can't be left, removes none. A pane that another thread closes meanwhile is missing in the result.
    ///
    /// Waits until the threads of the panes have stopped. An [`crate::Observer`] must not call it.
    ///
    /// # Errors
    /// If there is no such pane, or its program can't continue without this process.
    pub fn leave_panes(&self, panes: &[PaneId]) -> Result<Vec<u64>, MuxError> {
        let number = |id: &PaneId| {
            let pane = self.pane(*id).ok_or(MuxError::NoPane(*id))?;
            let is_running = pane.state() == PaneState::Running;
            let number = pane.process().keeper_number().filter(|_| is_running);
            number.ok_or(MuxError::NotKept(*id))
        };
        let numbers = panes.iter().map(number).collect::<Result<Vec<u64>, MuxError>>()?;
        #[cfg(target_os = "linux")]
        self.store_placements_now();
        let left = panes.iter().zip(numbers).filter(|(pane, _)| self.leave_one(**pane));
        Ok(left.map(|(_, number)| number).collect())
    }

    /// Like [`Mux::leave`], for a process that ends afterward: the program of [`crate::KeptSpawner::set_successor`] then
    /// takes its place.
    pub fn leave_to_successor(&self) -> usize {
        #[cfg(target_os = "linux")]
        self.store_placements_now();
        self.panes_to_leave().into_iter().filter(|pane| self.leave_one(pane.id())).count()
    }

    /// Removes a pane, and lets its program continue. Returns false if another thread has closed the pane.
    fn leave_one(&self, pane: PaneId) -> bool {
        self.release(pane).is_ok_and(|handover| {
            handover.leave();
            true
        })
    }
}
