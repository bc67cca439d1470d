//! Copies of the output of panes, on their way from a method to the wire of its caller. A method can return only JSON,
//! so it stores the copy here for the wire.

use parking_lot::Mutex;
use unterm_mux::{PaneId, Tap};

/// The maximum number of copies that wait. If a wire does not fetch its copy, newer copies replace it.
const MOST: usize = 64;

/// The waiting copies, the oldest first.
#[derive(Default)]
pub struct Streams(Mutex<Vec<Waiting>>);

struct Waiting {
    connection: u64,
    pane: PaneId,
    tap: Tap,
}

impl Streams {
    /// Stores a copy for a connection.
    pub fn put(&self, connection: u64, pane: PaneId, tap: Tap) {
        let mut waiting = self.0.lock();
        waiting.retain(|it| it.connection != connection || it.pane != pane);
        if waiting.len() >= MOST {
            waiting.remove(0);
        }
        waiting.push(Waiting { connection, pane, tap });
    }

    /// Removes and returns the copy of a pane's output that a method stored for a connection.
    pub fn take(&self, connection: u64, pane: PaneId) -> Option<Tap> {
        let mut waiting = self.0.lock();
        let at = waiting.iter().position(|it| it.connection == connection && it.pane == pane)?;
        Some(waiting.remove(at).tap)
    }
}
