//! A connection to the settings server, and what all of them share.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::guard::Guard;
use crate::{
    dialect::mcp,
    dispatch::Dispatcher,
    transport::limits::{PendingLogin, PendingLogins},
};

/// Connections at a time that brought a right token; one more is refused.
pub const MOST_CONNECTIONS: usize = 64;

/// A connection: its number, and the addresses of both ends.
pub struct Connection {
    pub id: u64,
    pub peer: SocketAddr,
    pub own: SocketAddr,
    /// It counts among those that have not logged in, until a request brings a right token.
    pub login: PendingLogin,
    /// From then on, its place among the others.
    pub place: OnceLock<OwnedSemaphorePermit>,
}

impl Connection {
    /// A request brought a right token; false: there is no place for it.
    pub fn succeeded(&self, places: &Arc<Semaphore>) -> bool {
        if self.place.get().is_none() {
            let Ok(place) = places.clone().try_acquire_owned() else { return false };
            // A connection has one request at a time.
            let _ = self.place.set(place);
            self.login.succeeded();
        }
        true
    }
}

/// What all connections share.
pub struct Shared {
    pub dispatcher: Arc<Dispatcher>,
    pub guard: Guard,
    pub mcp: mcp::http::Http,
    pub logins: Arc<PendingLogins>,
    pub places: Arc<Semaphore>,
}
