//! Limits the number of connections that have logged in, over all ports and the socket. Each connection needs a file
//! descriptor, and panes need some as well.

use std::sync::Arc;

use super::fair_share::{FairShare, SharePart};
use crate::caller::TokenKind;

/// The maximum number of connections: `MOST` or, if that is lower, the process's limit of file descriptors divided by
/// `PART_OF_DESCRIPTORS`.
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
    /// A permit for a connection that logs in with a token. Dropping it returns the permit.
    pub fn part(&self, token: TokenKind) -> Result<SharePart, TooMany> {
        let mut place = self.places.part(token);
        place.resize(1).map_err(|exceeded| TooMany(exceeded.wanted - 1))?;
        Ok(place)
    }
}
