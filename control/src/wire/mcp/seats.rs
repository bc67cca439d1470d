//! Numbers for clients whose requests stand for themselves, so that what one of them holds (a lease, a call that goes on)
//! is its own in the next request too.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

use super::Server;
use crate::caller::{Caller, TokenKind, Wire};

/// Clients that are remembered; the one that was silent for longest gives way to another.
const MOST: usize = 64;

/// One client: the token it brings, and its name for itself. The protocol tells no more of who sends a request, so two
/// agents with one token and one name are one client: what one leases, the other may type through. A token of its own for
/// each tells them apart.
#[derive(PartialEq, Eq)]
struct Who {
    token: TokenKind,
    name: Option<String>,
}

/// The clients, the one that asked last behind the others.
#[derive(Default)]
pub struct Seats(Mutex<VecDeque<(Who, u64)>>);

impl Seats {
    /// A client with its name for itself and the number that stands for its connection.
    pub fn seated(&self, caller: Caller, name: Option<String>, server: &Arc<Server>) -> Caller {
        let who = Who { token: caller.token, name };
        let mut seats = self.0.lock();
        let seat = match seats.iter().position(|(other, _)| *other == who) {
            Some(index) => seats.remove(index),
            None => None,
        };
        let is_new = seat.is_none();
        let (who, connection) = seat.unwrap_or_else(|| (who, server.dispatcher.next_connection()));
        let client = who.name.clone().or(caller.client);
        seats.push_back((who, connection));
        let gone = if seats.len() > MOST { seats.pop_front() } else { None };
        drop(seats);
        if let Some((_, gone)) = gone {
            server.release(gone);
        }
        let caller = Caller { wire: Wire::Mcp, connection, client, ..caller };
        if is_new {
            server.dispatcher.logged_in(&caller);
        }
        caller
    }
}
