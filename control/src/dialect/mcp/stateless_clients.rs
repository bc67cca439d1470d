//! Numbers for clients whose requests stand for themselves, so that what one of them holds (a lease, a call that goes on)
//! is its own in the next request too.

use std::collections::VecDeque;

use axum::http::{HeaderMap, HeaderValue, header};
use parking_lot::Mutex;

use crate::caller::{Caller, TokenKind};

/// What names a session of the older era.
pub const SESSION: &str = "mcp-session-id";
/// Clients that are remembered; the one that was silent for longest gives way to another, of the same token where there is
/// one: no client pushes out those of other tokens by using many names.
const MOST: usize = 64;

/// One client, as far as its requests tell it from others. Where it connects from tells nothing: one client has several
/// connections, and opens others. So two of the same program that bring one token, and name no session or conversation, are
/// one client: what one leases, the other may type through, as the lease says. A token of its own for each tells them apart, or
/// a `conversation` in the address. Without sessions (2026-07-28) the protocol has but handles, which a tool gives and is given
/// back: an agent that left one out would be kept from typing by its own lease.
#[derive(PartialEq, Eq)]
pub struct Who {
    token: TokenKind,
    conversation: Option<String>,
    /// Its name for itself, and its version.
    name: Option<String>,
    version: Option<String>,
    /// What it sends its requests with (`User-Agent`).
    program: Option<HeaderValue>,
    /// A session that it names, as in the older era, though it begins none.
    session: Option<HeaderValue>,
}

impl Who {
    /// Who sends a request: `name` and `version` are what it says of itself.
    pub fn of(
        caller: &Caller,
        name: Option<String>,
        version: Option<String>,
        headers: &HeaderMap,
    ) -> Self {
        Self {
            token: caller.token,
            conversation: caller.conversation.clone(),
            name,
            version,
            program: headers.get(header::USER_AGENT).cloned(),
            session: headers.get(SESSION).cloned(),
        }
    }
}

/// The clients, the one that asked last behind the others.
#[derive(Default)]
pub struct StatelessClients(Mutex<VecDeque<(Who, u64)>>);

impl StatelessClients {
    /// A client with its name for itself and the number that stands for its connection.
    pub fn number(
        &self,
        caller: Caller,
        who: Who,
        next_connection: impl FnOnce() -> u64,
    ) -> Numbered {
        let mut clients = self.0.lock();
        let known = match clients.iter().position(|(other, _)| *other == who) {
            Some(index) => clients.remove(index),
            None => None,
        };
        let is_new = known.is_none();
        let (who, connection) = known.unwrap_or_else(|| (who, next_connection()));
        let client = who.name.clone().or_else(|| caller.client.clone());
        let given = (is_new && clients.len() == MOST).then(|| given_up(&clients, &who));
        let gone = given.and_then(|index| clients.remove(index));
        clients.push_back((who, connection));
        drop(clients);
        let caller = Caller { connection, client, ..caller.for_agent() };
        Numbered { caller, is_new, gone: gone.map(|(_, connection)| connection) }
    }
}

/// A client that has its number.
pub struct Numbered {
    /// The client.
    pub caller: Caller,
    /// It was not known before.
    pub is_new: bool,
    /// The number of the client that gave way to it.
    pub gone: Option<u64>,
}

/// Which client gives way to a new one.
fn given_up(clients: &VecDeque<(Who, u64)>, new: &Who) -> usize {
    clients.iter().position(|(who, _)| who.token == new.token).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::{Capabilities, Scopes, SubscriptionSlot, Wire};

    #[test]
    fn a_new_client_takes_the_place_of_one_of_the_same_token_first() {
        let who = |token, name: &str| Who {
            token,
            conversation: None,
            name: Some(name.to_owned()),
            version: None,
            program: None,
            session: None,
        };
        let [one, two] = [1, 2].map(TokenKind::Agent);
        let clients = VecDeque::from([(who(one, "a"), 1), (who(two, "b"), 2), (who(two, "c"), 3)]);
        assert_eq!(given_up(&clients, &who(two, "new")), 1);
        assert_eq!(given_up(&clients, &who(TokenKind::Instance, "new")), 0);
    }

    #[test]
    fn clients_are_told_apart_by_what_their_requests_say() {
        let who = |token, conversation: Option<&str>, version: &str, headers: &[(&str, &str)]| {
            let caller = Caller {
                wire: Wire::Http,
                connection: 1,
                token,
                client: None,
                conversation: conversation.map(str::to_owned),
                scopes: Scopes::all(),
                panes: None,
                capabilities: Capabilities::at_login(token, true),
                approved: None,
                subscription: SubscriptionSlot::default(),
                cancel: Default::default(),
            };
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                let name: header::HeaderName = name.parse().unwrap();
                map.insert(name, HeaderValue::from_str(value).unwrap());
            }
            Who::of(&caller, Some("agent".to_owned()), Some(version.to_owned()), &map)
        };
        let agent = |headers: &[(&str, &str)]| who(TokenKind::Instance, None, "1", headers);
        let one = agent(&[("user-agent", "a/1")]);
        assert!(one == agent(&[("user-agent", "a/1"), ("accept", "*/*")]));
        for other in [
            agent(&[]),
            agent(&[("user-agent", "b/1")]),
            agent(&[("user-agent", "a/1"), (SESSION, "5")]),
            who(TokenKind::Agent(1), None, "1", &[("user-agent", "a/1")]),
            who(TokenKind::Instance, Some("second"), "1", &[("user-agent", "a/1")]),
            who(TokenKind::Instance, None, "2", &[("user-agent", "a/1")]),
        ] {
            assert!(one != other);
        }
    }
}
