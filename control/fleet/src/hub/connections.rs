//! The connections of a hub's HTTP server.
//!
//! Strangers can open connections, but can't keep others out: if there are too many, the oldest connection that has not
//! authenticated is closed in favor of the new one. An authenticated connection is not closed, unless its token has
//! more than its share of connections.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::concurrency_limit::{ConcurrencyLimit, Permit};

/// The maximum number of connections.
const MOST: usize = 512;
/// The maximum number of authenticated connections. So at least 128 connections remain for clients that have not
/// authenticated.
const MOST_AUTHENTICATED: usize = 384;
/// The maximum number of connections of one token, or of one sign-in, that are protected from being closed.
const MOST_OF_ONE: usize = 64;

/// The open connections.
pub struct Connections {
    open: Mutex<Open>,
    authenticated: ConcurrencyLimit,
}

#[derive(Default)]
struct Open {
    last: u64,
    /// The connections, by their numbers. The first entry is the oldest.
    all: BTreeMap<u64, Arc<State>>,
}

/// A connection's state.
struct State {
    /// The connection's permit of an authenticated client. `None` if the client has not authenticated.
    authenticated: Mutex<Option<Permit>>,
    gives_way: Notify,
}

/// An open connection. Dropping this removes the connection.
pub struct OpenConnection {
    connections: Arc<Connections>,
    number: u64,
    state: Arc<State>,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            authenticated: ConcurrencyLimit::new(MOST_AUTHENTICATED, MOST_OF_ONE),
        }
    }
}

impl Connections {
    /// Adds a connection.
    pub fn add(self: &Arc<Self>) -> OpenConnection {
        let mut open = self.open.lock();
        if open.all.len() >= MOST {
            let is_stranger = |state: &State| state.authenticated.lock().is_none();
            let oldest = open.all.iter().find(|(_, state)| is_stranger(state));
            // Fewer than the maximum are authenticated, so there is such a connection.
            if let Some(number) = oldest.map(|(number, _)| *number)
                && let Some(state) = open.all.remove(&number)
            {
                state.gives_way.notify_one();
            }
        }
        open.last += 1;
        let number = open.last;
        let state = Arc::new(State { authenticated: Mutex::default(), gives_way: Notify::new() });
        open.all.insert(number, state.clone());
        OpenConnection { connections: self.clone(), number, state }
    }
}

impl OpenConnection {
    /// Protects the connection from being closed, unless the token or the sign-in with this name already has its share
    /// of protected connections.
    pub fn authenticate(&self, name: &str) {
        let mut authenticated = self.state.authenticated.lock();
        if authenticated.is_none() {
            *authenticated = self.connections.authenticated.acquire(name);
        }
    }

    /// Waits until the connection must be closed in favor of another.
    pub async fn gives_way(&self) {
        self.state.gives_way.notified().await;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.open.lock().all.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn unauthenticated_connections_close_first_and_tokens_share() {
        let connections = Arc::new(Connections::default());
        let has_given_way = |of: &OpenConnection| of.gives_way().now_or_never().is_some();
        let user = connections.add();
        user.authenticate("user");
        let authenticated = |name| {
            let connection = connections.add();
            connection.authenticate(name);
            connection
        };
        let greedy: Vec<_> = (0..MOST).map(|_| authenticated("token")).collect();
        let late = connections.add();
        assert!(!has_given_way(&user) && !has_given_way(&late));
        let gone: Vec<_> = greedy.iter().map(has_given_way).collect();
        // There are two connections too many. So the token's two oldest unprotected connections were closed.
        assert!(gone.iter().enumerate().all(|(at, gone)| *gone == (at / 2 == MOST_OF_ONE / 2)));
        let strangers: Vec<_> = (0..2 * MOST).map(|_| connections.add()).collect();
        assert!(!has_given_way(&user));
        assert!(has_given_way(&late));
        assert_eq!(connections.open.lock().all.len(), MOST);
        drop((strangers, greedy, late, user));
        assert!(connections.open.lock().all.is_empty());
        assert!(connections.authenticated.acquire("token").is_some());
    }
}
