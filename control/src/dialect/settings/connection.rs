//! A connection to the settings server, and the state that all connections share.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use super::guard::Guard;
use crate::{
    caller::TokenKind,
    dialect::mcp,
    dispatch::Dispatcher,
    services::limits::fair_share::{FairShare, SharePart},
    transport::limits::{PendingLogin, PendingLogins},
};

/// The maximum number of connections with a valid token. The limit is shared fairly between tokens, so that agents'
/// connections do not shut out the user's page.
pub const MOST_CONNECTIONS: usize = 128;

/// A connection: its number, and the addresses of both ends.
pub struct Connection {
    pub id: u64,
    pub peer: SocketAddr,
    pub own: SocketAddr,
    /// The connection's slot for connections before login. It is used until a request has a valid token.
    pub login: PendingLogin,
    /// The connection's slot for connections after login.
    pub place: OnceLock<SharePart>,
}

impl Connection {
    /// Records that a request had a valid token. Returns false if the maximum number of connections is reached.
    pub fn succeeded(&self, places: &Arc<FairShare>, token: TokenKind) -> bool {
        if self.place.get().is_none() {
            let mut place = places.part(token);
            if place.resize(1).is_err() {
                return false;
            }
            // The cell can't be set twice, because a connection has only one request at a time.
            let _ = self.place.set(place);
            self.login.succeeded();
        }
        true
    }
}

/// The state that all connections share.
pub struct Shared {
    pub dispatcher: Arc<Dispatcher>,
    pub guard: Guard,
    pub mcp: mcp::http::Http,
    pub logins: Arc<PendingLogins>,
    pub places: Arc<FairShare>,
}
