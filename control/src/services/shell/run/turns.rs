//! Decides which caller may run a command in a pane next.
//!
//! Owns a queue for each pane in which a command runs. A shell reports the end of a command, but not whose command it
//! was. So a caller types its command only after the previous caller's command has ended, or its wait has ended.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    sync::{Mutex as Queue, OwnedMutexGuard},
    time::{Instant, timeout_at},
};
use unterm_mux::PaneId;

/// The queues of all panes. Callers get their turns in the order of their calls.
#[derive(Default)]
pub struct RunTurns(Mutex<HashMap<PaneId, Arc<Queue<()>>>>);

/// A caller's turn. Dropping it ends the turn.
#[derive(Debug)]
pub struct RunTurn {
    _turn: OwnedMutexGuard<()>,
}

impl RunTurns {
    /// Waits for a turn in a pane, at most until the deadline. `None` if another caller's command is still running
    /// then.
    pub async fn turn(&self, pane: PaneId, deadline: Instant) -> Option<RunTurn> {
        let queue = {
            let mut queues = self.0.lock();
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
            queues.entry(pane).or_default().clone()
        };
        let turn = timeout_at(deadline, queue.lock_owned()).await.ok()?;
        Some(RunTurn { _turn: turn })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test]
    async fn callers_of_one_pane_take_turns_in_order() {
        let turns = RunTurns::default();
        let first = turns.turn(PaneId(1), soon()).await.unwrap();
        let order = Mutex::new(Vec::new());
        let next = async |number| {
            let turn = turns.turn(PaneId(1), soon()).await;
            order.lock().push(number);
            drop(turn);
        };
        let leave = async {
            assert!(
                turns.turn(PaneId(2), soon()).await.is_some(),
                "another pane has its own queue"
            );
            drop(first);
        };
        tokio::join!(next(1), next(2), next(3), leave);
        assert_eq!(*order.lock(), [1, 2, 3]);
    }

    #[tokio::test]
    async fn a_caller_that_waited_too_long_gets_no_turn() {
        let turns = RunTurns::default();
        let first = turns.turn(PaneId(1), soon()).await;
        assert!(turns.turn(PaneId(1), Instant::now()).await.is_none());
        drop(first);
        assert!(turns.turn(PaneId(1), Instant::now()).await.is_some());
        assert!(turns.turn(PaneId(2), soon()).await.is_some());
        assert_eq!(turns.0.lock().len(), 1, "queues without a command are dropped");
    }
}
