//! The state that the toolset `iterm` stores for its clients.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::client::{Remote, Tools};

/// The maximum number of registered terminals of a client.
pub const MOST: usize = 1000;

/// The state of all clients.
#[derive(Default)]
pub struct Memory(pub Mutex<HashMap<u64, Remembered>>);

/// The state of one client.
#[derive(Default)]
pub struct Remembered {
    /// The terminal devices that the client registered.
    pub registered: HashSet<String>,
    /// The client's position in the output of each session.
    pub read: HashMap<String, ReadPosition>,
    /// The client's connections to the tools of other instances, by port.
    pub tools: HashMap<u16, Tools>,
    /// The connections for the client's method calls on other instances, by port.
    pub remotes: HashMap<u16, Arc<Remote>>,
}

impl Memory {
    /// Whether a client registered a device.
    pub fn has(&self, connection: u64, tty: &str) -> bool {
        self.0.lock().get(&connection).is_some_and(|of| of.registered.contains(tty))
    }

    /// Forgets a client.
    pub fn release(&self, connection: u64) {
        self.0.lock().remove(&connection);
    }
}

/// A client's position in the output of a session.
#[derive(Clone)]
pub struct ReadPosition {
    /// The session's `seq` at the client's last call.
    pub seq: u64,
    /// The line after the last line that was not blank.
    pub next: u64,
    /// The last rows that the client received, with their line ids.
    pub last: Arc<[(u64, String)]>,
}
