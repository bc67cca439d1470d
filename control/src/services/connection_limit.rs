//! Bounds the connections that have logged in, on the ports and the socket: each needs a file descriptor, of which panes need some
//! too.

use std::sync::Arc;

use super::fair_share::{FairShare, Part};
use crate::caller::TokenKind;

/// The most connections, and the part of the process's file descriptors that they may take at most.
const MOST: usize = 1024;
const PART_OF_DESCRIPTORS: usize = 2;

/// The connections of the process. Tokens share them.
pub struct ConnectionLimit {
    places: Arc<FairShare>,
}

/// A token has too many connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("This token has too many connections: {0}. Close some of them first")]
pub struct TooMany(usize);

impl Default for ConnectionLimit {
    fn default() -> Self {
        let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let descriptors =
            descriptors.map_or(usize::MAX, |most| most.try_into().unwrap_or(usize::MAX));
        Self { places: FairShare::new(MOST.min(descriptors / PART_OF_DESCRIPTORS)) }
    }
}

impl ConnectionLimit {
    /// A place for a connection that logs in with a token, until it is dropped.
    ///
    /// # Errors
    /// The token has too many connections.
    pub fn part(&self, token: TokenKind) -> Result<Part, TooMany> {
        let mut place = self.places.part(token);
        place.resize(1).map_err(|exceeded| TooMany(exceeded.wanted - 1))?;
        Ok(place)
    }
}
