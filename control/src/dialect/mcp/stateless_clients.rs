//! Assigns connection numbers to clients with stateless requests, so that a client keeps its leases and running calls from
//! one request to the next.

use std::collections::VecDeque;

use axum::http::{HeaderMap, HeaderValue, header};
use parking_lot::Mutex;

use crate::caller::{Caller, TokenKind};

/// The header that names a session with `initialize`.
pub const SESSION: &str = "mcp-session-id";
/// The maximum number of remembered clients. A new client replaces the client that was idle longest: a client of the
/// same token if there is one, or else any client. So a client that uses many names can't displace the clients of other
/// tokens.
const MOST: usize = 64;

/// The identity of a client, as determined from its requests. The address does not identify a client, because a client
/// uses several connections. Two agents of the same program that share a token, and name neither a session nor a
/// conversation, count as one client: each may type during the other's lease. To separate them, give each its own
/// token, or a `conversation` in the address. In the protocol without sessions (2026-07-28), a client could be
/// recognized only by a handle that a tool returns and the client sends back. If leases relied on such handles, an
/// agent that omitted its handle would be locked out by its own lease.
#[derive(PartialEq, Eq)]
pub struct ClientIdentity {
    token: TokenKind,
    conversation: Option<String>,
    /// The name and version that the client reports.
    name: Option<String>,
    version: Option<String>,
    /// The `User-Agent` header.
    program: Option<HeaderValue>,
    /// The session that the requests name although they are stateless.
    session: Option<HeaderValue>,
}

impl ClientIdentity {
    /// Identifies the client of a request. `name` and `version`: the name and version that the client reports.
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

/// The clients and their connection numbers. The most recently used client is last.
#[derive(Default)]
pub struct StatelessClients(Mutex<VecDeque<(ClientIdentity, u64)>>);

impl StatelessClients {
    /// Returns the caller with the connection number of its client. Assigns a new number to a new client.
    pub fn number(
        &self,
        caller: Caller,
        who: ClientIdentity,
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

/// A client with its connection number.
pub struct Numbered {
    /// The caller, with the client's connection number.
    pub caller: Caller,
    /// Whether the client is new.
    pub is_new: bool,
    /// The number of the client that was replaced, if one was.
    pub gone: Option<u64>,
}

/// The index of the client that a new client replaces.
fn given_up(clients: &VecDeque<(ClientIdentity, u64)>, new: &ClientIdentity) -> usize {
    clients.iter().position(|(who, _)| who.token == new.token).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::{Capabilities, Scopes, SubscriptionSlot, Wire};

    #[test]
    fn a_new_client_takes_the_place_of_one_of_the_same_token_first() {
        let who = |token, name: &str| ClientIdentity {
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
                opener: None,
                process: None,
                approved: None,
                subscription: SubscriptionSlot::default(),
                signals: Default::default(),
            };
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                let name: header::HeaderName = name.parse().unwrap();
                map.insert(name, HeaderValue::from_str(value).unwrap());
            }
            ClientIdentity::of(&caller, Some("agent".to_owned()), Some(version.to_owned()), &map)
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
