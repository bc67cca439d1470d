//! A connection to the settings server, and what all of them share.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use super::guard::Guard;
use crate::{
    caller::TokenKind,
    dialect::mcp,
    dispatch::Dispatcher,
    services::fair_share::{FairShare, Part},
    transport::limits::{PendingLogin, PendingLogins},
};

/// The most connections with a right token. One token gets half of them, so that the connections of an agent leave the
/// person's own page some.
pub const MOST_CONNECTIONS: usize = 128;

/// A connection: its number, and the addresses of both ends.
pub struct Connection {
    pub id: u64,
    pub peer: SocketAddr,
    pub own: SocketAddr,
    /// It counts among those that have not logged in, until a request brings a right token.
    pub login: PendingLogin,
    /// From then on, its place among the others.
    pub place: OnceLock<Part>,
}

impl Connection {
    /// A request brought a right token; false: there is no place for it.
    pub fn succeeded(&self, places: &Arc<FairShare>, token: TokenKind) -> bool {
        if self.place.get().is_none() {
            let mut place = places.part(token);
            if place.resize(1).is_err() {
                return false;
            }
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
    pub places: Arc<FairShare>,
}
