//! The one place where a call is allowed, denied or held, and where it is made.
//!
//! Every wire calls methods through a [`Dispatcher`]. It finds the method, checks the caller's scopes, asks the gates in
//! order, and turns a panic in a method into an error, so that a fault of ours costs one reply and no connection.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use serde_json::Value;
use unterm_mux::PaneId;

use crate::{
    caller::{Access, Caller, TokenKind},
    error::{Error, Result},
    methods::{self, Context, Entry},
    services::changes::Topic,
};

/// What a gate says to a call.
pub enum Decision {
    /// Go on.
    Allow,
    /// Refuse, for this reason.
    Deny(String),
    /// Wait for this, then do as it says. A call that is given up while it is held is dropped.
    Hold(Pin<Box<dyn Future<Output = Decision> + Send>>),
}

/// One who has a say in every call: policy, approvals, pauses.
pub trait Gate: Send + Sync {
    /// Decides on a call before it is made. Must not block.
    fn decide(&self, caller: &Caller, method: &Entry, params: &str) -> Decision;
}

/// Calls methods.
pub struct Dispatcher {
    context: Context,
    gates: Vec<Arc<dyn Gate>>,
    connections: AtomicU64,
}

impl Dispatcher {
    /// A dispatcher whose calls pass these gates, in order.
    pub fn new(context: Context, gates: Vec<Arc<dyn Gate>>) -> Self {
        Self { context, gates, connections: AtomicU64::new(0) }
    }

    /// Calls a method with parameters (JSON; empty: none) and appends its reply (JSON) to `reply`. After an error
    /// `reply` is as it was.
    pub async fn call(
        &self,
        caller: &Caller,
        method: &str,
        params: &str,
        reply: &mut Vec<u8>,
    ) -> Result<()> {
        let entry = methods::find(method).ok_or_else(|| Error::Unknown(method.to_owned()))?;
        self.call_entry(caller, entry, params, reply).await
    }

    /// The same of a method that is found already, which need not be in the table: a wire may have some of its own.
    pub async fn call_entry(
        &self,
        caller: &Caller,
        entry: &'static Entry,
        params: &str,
        reply: &mut Vec<u8>,
    ) -> Result<()> {
        let method = entry.name;
        tracing::trace!(
            method,
            wire = %caller.wire,
            connection = caller.connection,
            token = ?caller.token,
            client = caller.client,
            conversation = caller.conversation,
            "call"
        );
        let record = Record::of(&self.context, caller, entry, params);
        if let Err(error) = self.admit(caller, entry, params).await {
            record.write(Some(&error));
            return Err(error);
        }
        let start = reply.len();
        let result = {
            let mut call = unwound((entry.call)(&self.context, caller, params, reply));
            // What takes its time is told of when it begins.
            match poll_once(&mut call).await {
                Poll::Ready(result) => {
                    record.write(result.as_ref().ok().and_then(|result| result.as_ref().err()));
                    result
                }
                Poll::Pending => {
                    record.write(None);
                    call.await
                }
            }
        };
        let result = result.unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            tracing::error!(method, message, "a method panicked");
            Err(Error::Panicked(message.to_owned()))
        });
        if result.is_err() {
            reply.truncate(start);
        }
        if entry.access != Access::Read {
            self.context.changes.called(method);
        }
        result
    }

    /// A connection has ended: what it had is given back.
    pub fn disconnected(&self, connection: u64) {
        if self.context.leases.release_all(connection) {
            self.context.host.agents_changed();
        }
        if self.context.clients.remove(connection) {
            self.context.changes.tell(Topic::Agents);
        }
    }

    /// A connection of the TCP wire has logged in.
    pub fn logged_in(&self, caller: &Caller) {
        let Caller { connection, client, conversation, .. } = caller;
        self.context.clients.add(*connection, client.as_deref(), conversation.as_deref());
        self.context.changes.tell(Topic::Agents);
    }

    /// A number for a connection that no other has, on whatever wire.
    pub fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What methods work on.
    pub fn context(&self) -> &Context {
        &self.context
    }

    async fn admit(&self, caller: &Caller, entry: &Entry, params: &str) -> Result<()> {
        if !caller.scopes.allow(entry.access) {
            return Err(Error::Denied(format!("{} is out of the token's scopes", entry.name)));
        }
        // The person's own page goes on, and so does the switch.
        let waits = entry.access != Access::Read
            && caller.token != TokenKind::Page
            && entry.name != "agents.pause";
        if waits && self.context.clients.is_paused() {
            self.context.clients.go().await;
        }
        for gate in &self.gates {
            let mut decision = gate.decide(caller, entry, params);
            loop {
                match decision {
                    Decision::Allow => break,
                    Decision::Deny(reason) => return Err(Error::Denied(reason)),
                    Decision::Hold(until) => decision = until.await,
                }
            }
        }
        Ok(())
    }
}

/// A call that changes something, for the audit log.
struct Record<'a>(Option<(&'a Context, &'a Caller, &'static str, String, String)>);

impl<'a> Record<'a> {
    fn of(context: &'a Context, caller: &'a Caller, entry: &'static Entry, params: &str) -> Self {
        if entry.access == Access::Read || !entry.is_audited {
            return Self(None);
        }
        let params: serde_json::Map<String, Value> =
            serde_json::from_str(params).unwrap_or_default();
        let text = |key: &str| params.get(key).map(plain).filter(|text| !text.is_empty());
        let session = text("id").or_else(|| text("session_id")).unwrap_or_default();
        // What says most; what a program without echo is sent (a password) is for nobody.
        let is_secret =
            ["input", "text", "paste", "keys"].iter().any(|key| params.contains_key(*key))
                && session.parse().is_ok_and(|id| context.hides_input(PaneId(id)));
        let detail = if is_secret {
            "(not shown: the program does not echo it)".to_owned()
        } else {
            const TELLING: [&str; 9] = [
                "command",
                "input",
                "text",
                "paste",
                "keys",
                "signal",
                "name",
                "title",
                "node_name",
            ];
            TELLING.iter().find_map(|key| text(key)).unwrap_or_else(|| {
                let rest = params
                    .iter()
                    .filter(|(key, _)| !matches!(key.as_str(), "id" | "session_id" | "env"));
                let rest: Vec<_> =
                    rest.map(|(key, value)| format!("{key}: {}", plain(value))).collect();
                rest.join(", ")
            })
        };
        Self(Some((context, caller, entry.name, session, detail)))
    }

    /// Writes it, unless it came to nothing for another reason than that it was refused.
    fn write(self, error: Option<&Error>) {
        let Some((context, caller, method, session, detail)) = self.0 else { return };
        if error.is_none_or(Error::is_refusal) {
            let client = caller.client.clone();
            context.audit.add(method, session, &detail, error.is_none(), client);
        }
    }
}

/// A value as a person would write it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context))).await
}

/// The output of a future, or the panic that ended it.
pub(crate) fn unwound<'a, T>(
    mut future: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
) -> impl Future<Output = std::result::Result<T, Box<dyn Any + Send>>> + Send + Unpin + use<'a, T> {
    poll_fn(move |context| {
        // The future is dropped after a panic and never polled again; what it worked on are locks that a panic
        // releases and a reply that is cut back.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
}

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    if let Some(message) = panic.downcast_ref::<&str>() {
        message
    } else if let Some(message) = panic.downcast_ref::<String>() {
        message
    } else {
        "a panic without a message"
    }
}

#[cfg(test)]
mod tests;
