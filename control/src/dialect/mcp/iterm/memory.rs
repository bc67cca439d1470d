//! The state that the toolset keeps for its clients.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::AtomicU64},
};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::client::Remote;

/// The most registered terminals of a client.
pub const MOST: usize = 1000;

/// The state of all clients.
#[derive(Default)]
pub struct Memory(pub Mutex<HashMap<u64, Remembered>>);

/// The state of one client.
#[derive(Default)]
pub struct Remembered {
    /// The terminal devices that it registered.
    pub registered: HashSet<String>,
    /// Its position in the output of each session.
    pub read: HashMap<String, Read>,
    /// Its connections to other instances, by port.
    pub lines: HashMap<u16, Line>,
    /// The clients for its calls of methods on other instances, by port.
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
pub struct Read {
    /// The session's `seq` then.
    pub seq: u64,
    /// The line after the last one that was not blank.
    pub next: u64,
    /// The last rows that the client received, with their lines.
    pub last: Arc<[(u64, String)]>,
}

/// A message to send on a connection.
pub enum Outgoing {
    /// A request, and the receiver of its reply.
    Call(u64, Value, oneshot::Sender<Value>),
    /// The request with this id was cancelled.
    Cancel(u64),
}

/// A client's connection to another instance. Closes when the last clone is dropped.
#[derive(Clone)]
pub struct Line {
    pub send: mpsc::Sender<Outgoing>,
    pub last: Arc<AtomicU64>,
}
