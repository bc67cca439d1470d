//! The client at the other end of a connection, in the form that dialects use.
//!
//! Owns the check of tokens, the delay after a wrong token, and the requests that can be canceled by their ids.

use std::{
    collections::HashMap,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use parking_lot::Mutex;
use subtle::ConstantTimeEq;
use tokio::sync::Notify;

use crate::{
    caller::{Caller, Capabilities, LONGEST_NAME, Scopes, SubscriptionSlot, TokenKind, Wire},
    dispatch::Dispatcher,
    error::Error,
    services::people::tokens::UNREADABLE,
    transport::throttle::Throttle,
};

/// The instance that connections reach.
pub struct Instance {
    dispatcher: Arc<Dispatcher>,
    token: String,
    throttle: Throttle,
}

impl Instance {
    /// Creates an instance that accepts its own token `token` and the tokens that the user created.
    pub fn new(dispatcher: Arc<Dispatcher>, token: String) -> Self {
        Self { dispatcher, token, throttle: Throttle::default() }
    }

    /// The dispatcher, which executes calls.
    pub fn dispatcher(&self) -> &Arc<Dispatcher> {
        &self.dispatcher
    }
}

/// The credentials of a client.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// The instance's own token, or a token that the user created.
    pub token: String,
    /// The name that the client reports.
    pub client: Option<String>,
    /// The client's name for the conversation that it acts for.
    pub conversation: Option<String>,
    /// Whether the client acts for an agent. It is then treated like an agent.
    pub is_agent: bool,
}

/// Why a login fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The token is unknown.
    #[error("Invalid auth token")]
    WrongToken,
    /// The file of the user's tokens can't be read.
    #[error("{UNREADABLE}")]
    Unreadable,
}

/// The properties of a token: its kind, its scopes, and the sessions that it reaches. `None` stands for all sessions.
type Rights = (TokenKind, Scopes, Option<Arc<[u64]>>);

/// A client.
pub struct Peer {
    instance: Arc<Instance>,
    connection: u64,
    /// The process at the client's end of a Unix socket.
    process: Option<i32>,
    caller: Option<Caller>,
    wrong_tokens: AtomicU32,
    /// The requests that can be canceled, by id.
    under_way: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Peer {
    /// Creates a client that has not logged in, on the connection with this number. `process` is the process at the
    /// client's end of a Unix socket.
    pub fn new(instance: Arc<Instance>, connection: u64, process: Option<i32>) -> Self {
        Self {
            instance,
            connection,
            process,
            caller: None,
            wrong_tokens: AtomicU32::default(),
            under_way: Mutex::default(),
        }
    }

    /// A copy of this client that is logged in as `caller`.
    pub fn logged_in(&self, caller: Caller) -> Self {
        let Self { instance, connection, process, .. } = self;
        Self { caller: Some(caller), ..Self::new(instance.clone(), *connection, *process) }
    }

    /// The caller. `None` before login.
    pub fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// Checks a token. The dialect returns the caller as
    /// [`MessageEffect::LoggedIn`](super::contract::MessageEffect).
    ///
    /// # Errors
    /// The token is wrong, or the user's tokens can't be read. A wrong token delays the error, and each further wrong
    /// token delays it longer.
    pub async fn log_in(&self, credentials: Credentials) -> Result<Caller, LoginError> {
        match self.rights(&credentials.token) {
            Ok((token, scopes, panes)) => {
                self.wrong_tokens.store(0, Ordering::Relaxed);
                Ok(Caller {
                    wire: if credentials.is_agent { Wire::Mcp } else { Wire::Tcp },
                    connection: self.connection,
                    token,
                    client: shown(credentials.client),
                    conversation: shown(credentials.conversation),
                    scopes,
                    panes,
                    capabilities: Capabilities::at_login(token, credentials.is_agent),
                    opener: None,
                    process: self.process,
                    approved: None,
                    subscription: SubscriptionSlot::default(),
                    signals: Default::default(),
                })
            }
            Err(error) => {
                self.slow_down().await;
                Err(error)
            }
        }
    }

    fn rights(&self, token: &str) -> Result<Rights, LoginError> {
        // The comparison takes constant time. The length of tokens is not secret.
        if token.as_bytes().ct_eq(self.instance.token.as_bytes()).into() {
            return Ok((TokenKind::Instance, Scopes::all(), None));
        }
        match self.instance.dispatcher.context().people.tokens.find(token) {
            Ok(Some(made)) => {
                let panes = made.panes.map(Into::into);
                Ok((TokenKind::Agent(made.number), made.scope.scopes(), panes))
            }
            Ok(None) => Err(LoginError::WrongToken),
            Err(why) => {
                tracing::warn!(why, "tokens for agents are not known");
                Err(LoginError::Unreadable)
            }
        }
    }

    /// Delays the response to a wrong or missing token.
    pub async fn slow_down(&self) {
        let count = self.wrong_tokens.fetch_add(1, Ordering::Relaxed) + 1;
        let delay = self.instance.throttle.delay(count);
        tracing::warn!(id = self.connection, count, ?delay, "wrong token");
        tokio::time::sleep(delay).await;
    }

    /// Calls a method and appends its reply to `reply`. Parameters and reply are JSON. An empty text stands for no
    /// parameters. If the call fails, `reply` is unchanged.
    ///
    /// # Errors
    /// The errors of the method.
    pub async fn call(
        &self,
        caller: &Caller,
        method: &str,
        params: &str,
        reply: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.instance.dispatcher.call_into(caller, method, params, reply).await
    }

    /// Runs the work of a request. If [`Peer::cancel`] is called with the request's id meanwhile, returns `None`. The
    /// id must be unique among the running requests.
    pub async fn cancellable<T>(&self, id: &str, work: impl Future<Output = T>) -> Option<T> {
        let canceled = Arc::new(Notify::new());
        self.under_way.lock().insert(id.to_owned(), canceled.clone());
        let _entry = PendingRequest { peer: self, id };
        tokio::select! {
            biased;
            () = canceled.notified() => None,
            done = work => Some(done),
        }
    }

    /// Cancels the request with this id. Returns false if no such request is running.
    pub fn cancel(&self, id: &str) -> bool {
        let request = self.under_way.lock().get(id).cloned();
        request.inspect(|canceled| canceled.notify_one()).is_some()
    }
}

/// Shortens a name for display.
fn shown(name: Option<String>) -> Option<String> {
    name.map(|name| name.chars().take(LONGEST_NAME).collect())
}

/// A running request. Dropping it removes its id.
struct PendingRequest<'a> {
    peer: &'a Peer,
    id: &'a str,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.peer.under_way.lock().remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_names_are_shortened() {
        assert_eq!(shown(Some("é".repeat(1000))), Some("é".repeat(LONGEST_NAME)));
        assert_eq!(shown(None), None);
    }
}
