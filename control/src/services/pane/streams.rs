//! Copies of the output of panes, on their way from a method to the wire of its caller. A method can return only JSON, so
//! it leaves the copy here.

use parking_lot::Mutex;
use unterm_mux::{PaneId, Tap};

/// The maximum number of copies that wait. If a wire does not take its copy, newer ones replace it.
const MOST: usize = 64;

/// The copies that wait, the oldest first.
#[derive(Default)]
pub struct Streams(Mutex<Vec<Waiting>>);

struct Waiting {
    connection: u64,
    pane: PaneId,
    tap: Tap,
}

impl Streams {
    /// Leaves a copy for a connection.
    pub fn put(&self, connection: u64, pane: PaneId, tap: Tap) {
        let mut waiting = self.0.lock();
        waiting.retain(|it| it.connection != connection || it.pane != pane);
        if waiting.len() >= MOST {
            waiting.remove(0);
        }
        waiting.push(Waiting { connection, pane, tap });
    }

    /// Takes the copy of a pane's output that a method left for a connection.
    pub fn take(&self, connection: u64, pane: PaneId) -> Option<Tap> {
        let mut waiting = self.0.lock();
        let at = waiting.iter().position(|it| it.connection == connection && it.pane == pane)?;
        Some(waiting.remove(at).tap)
    }
}
