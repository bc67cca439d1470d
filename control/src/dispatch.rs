//! Calls methods.
//!
//! Every wire calls methods through a [`Dispatcher`]. It finds the method and asks the [`authority`](crate::authority)
//! whether the caller may call it. It turns a panic in a method into an error, so that a bug in a method fails one call
//! and not the whole connection.

use std::{
    any::Any,
    convert::Infallible,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use serde_json::Value;
use unterm_mux::PaneId;

use crate::{
    authority::{
        Decision,
        audit::{CallInProgress, Detail, Logged, Record},
        parameters::{by_name, plain, summary},
        settle,
    },
    backend::{self, Backend, Calling, Calls as _, Events, Request, Subscribing},
    caller::{Caller, TokenKind},
    error::{Error, Result},
    methods::{
        self, Context, Entry,
        events::{Subscribe, SubscribeParams},
    },
    poll::poll_once,
    services::{pane::events::Subscription, people::changes::Topic},
};

/// While a call of an agent runs, the agent's token is checked at this interval.
const TOKEN_CHECK: Duration = Duration::from_millis(500);

/// A gate that an app adds after the built-in gates.
pub trait Gate: Send + Sync {
    /// Decides about a call before the method runs. Must not block.
    fn decide(&self, caller: &Caller, method: &Entry, params: &str) -> Decision;
}

/// Calls methods on behalf of callers.
pub struct Dispatcher {
    context: Context,
    gates: Vec<Arc<dyn Gate>>,
    connections: AtomicU64,
}

impl Dispatcher {
    /// Creates a dispatcher. `gates`: the app's gates, which every call must pass, in order.
    pub fn new(context: Context, gates: Vec<Arc<dyn Gate>>) -> Self {
        Self { context, gates, connections: AtomicU64::new(0) }
    }

    /// Calls a method and appends its reply as JSON to `reply`. `params`: the parameters as JSON; empty if there are
    /// none. If the call fails, `reply` is unchanged.
    pub async fn call_into(
        &self,
        caller: &Caller,
        method: &str,
        params: &str,
        reply: &mut Vec<u8>,
    ) -> Result<()> {
        let entry = methods::find(method).ok_or_else(|| Error::Unknown(method.to_owned()))?;
        self.call_entry(caller, entry, params, reply).await
    }

    /// Calls a method like [`Self::call_into`]. The method need not be in the table, because some wires have their own
    /// methods.
    pub async fn call_entry(
        &self,
        caller: &Caller,
        entry: &Entry,
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
        let mut record = match self.record(caller, entry, params) {
            Ok(record) => record,
            Err(error) => {
                self.record_unread(caller, entry).write(Some(&error), &[]);
                return Err(error);
            }
        };
        let mut admitted = pin!(self.admit(caller, entry, params));
        let admitted = match poll_once(&mut admitted).await {
            Poll::Ready(admitted) => admitted,
            Poll::Pending => {
                let admitted = admitted.await;
                // While a gate held the call, the pane's program may have begun to ask for a secret.
                let now = self.record(caller, entry, params)?;
                if now.is_secret() {
                    record = now;
                }
                admitted
            }
        };
        if let Err(error) = admitted {
            record.write(Some(&error), &[]);
            return Err(error);
        }
        let mut record = CallInProgress::new(record);
        let start = reply.len();
        let result = {
            let mut call = unwound(entry.call(&self.context, caller, params, reply));
            match poll_once(&mut call).await {
                Poll::Ready(result) => result,
                Poll::Pending => {
                    if entry.lasts {
                        record.begin();
                    }
                    tokio::select! {
                        biased;
                        result = call => result,
                        why = self.token_end(caller) => Ok(Err(why)),
                    }
                }
            }
        };
        let result = result.unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            tracing::error!(method, message, "a method panicked");
            Err(Error::Panicked(message.to_owned()))
        });
        record.write(result.as_ref().err(), &reply[start..]);
        if result.is_err() {
            reply.truncate(start);
        }
        // Only logged calls are reported, because other calls change nothing. Settings pages call such methods after a
        // report, so reporting them would never end.
        if Logged::of(entry) != Logged::Nothing {
            self.context.people.changes.called(method);
            if Topic::of_method(method) == Some(Topic::Recording) {
                self.context.host.recordings_changed();
            }
        }
        result
    }

    /// Releases everything that a connection holds. Called when the connection ends.
    pub fn disconnected(&self, connection: u64) {
        self.context.people.approvals.release(connection);
        if self.context.people.questions.release(connection) {
            self.context.questions_changed();
        }
        if self.context.panes.leases.release_all(connection) {
            self.context.host.agents_changed();
        }
        if self.context.people.clients.remove(connection) {
            self.context.people.changes.notify(Topic::Agents);
        }
    }

    /// Registers a client: a connection that has logged in, or a stateless client that was recognized by its requests.
    pub fn logged_in(&self, caller: &Caller) {
        let Caller { connection, client, conversation, .. } = caller;
        self.context.people.clients.add(*connection, client.as_deref(), conversation.as_deref());
        self.context.people.changes.notify(Topic::Agents);
    }

    /// Returns a new connection number, which is unique across all wires.
    pub fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The services that methods use.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// See [`Authority::check_token`](crate::authority::Authority::check_token).
    pub(crate) fn check_token(&self, caller: &Caller) -> Result<()> {
        self.context.authority.check_token(caller)
    }

    /// Waits until an agent's token expires or is revoked, and returns the reason.
    async fn token_end(&self, caller: &Caller) -> Error {
        loop {
            if !matches!(caller.token, TokenKind::Agent(_)) {
                std::future::pending::<()>().await;
            }
            // The token is checked at intervals, because any instance may revoke it in the file that all instances
            // share, and no event reports that.
            tokio::time::sleep(TOKEN_CHECK).await;
            if let Err(why) = self.check_token(caller) {
                return why;
            }
        }
    }

    async fn admit(&self, caller: &Caller, entry: &Entry, params: &str) -> Result<()> {
        self.context.authority.admit(caller, &entry.demand, params).await?;
        for gate in &self.gates {
            settle("app", gate.decide(caller, entry, params)).await?;
        }
        Ok(())
    }

    /// The audit record of a call.
    ///
    /// # Errors
    /// The parameters can't be parsed.
    fn record<'a>(&'a self, caller: &'a Caller, entry: &Entry, params: &str) -> Result<Record<'a>> {
        let context = &self.context;
        Record::of(&context.records.audit, caller, entry, || {
            let params = by_name(params)?;
            let text = |key: &str| params.get(key).map(plain).filter(|text| !text.is_empty());
            let session = text("id").or_else(|| text("session_id")).unwrap_or_default();
            let hides = |pane| context.hides(pane, &params);
            let summary = match session.parse().map(PaneId).is_ok_and(hides) {
                true => Detail::not_shown(),
                false => Detail { text: summary(&params, entry.described_by), is_secret: false },
            };
            Ok((session, (entry.detail)(context, &params, summary)))
        })
    }

    /// The audit record of a call whose parameters can't be parsed.
    fn record_unread<'a>(&'a self, caller: &'a Caller, entry: &Entry) -> Record<'a> {
        let text = "(parameters that can't be read)".to_owned();
        let detail = || Ok::<_, Infallible>((String::new(), Detail { text, is_secret: false }));
        let Ok(record) = Record::of(&self.context.records.audit, caller, entry, detail);
        record
    }
}

impl Backend for Dispatcher {
    fn call_json<'a>(&'a self, caller: &'a Caller, request: Request<'a>) -> Calling<'a> {
        Box::pin(async move {
            let mut reply = Vec::new();
            let call = self.call_into(caller, request.method, request.params, &mut reply);
            backend::within(request, call).await?;
            Ok(reply)
        })
    }

    fn subscribe<'a>(&'a self, caller: &'a Caller, filter: SubscribeParams<'a>) -> Subscribing<'a> {
        Box::pin(async move {
            // The subscription needs its own slot, because the caller's connection may already have a subscription.
            let listener = caller.listener();
            self.call::<Subscribe>(&listener, filter).await?;
            match listener.subscription.take().flatten() {
                Some(subscription) => Ok(Box::new(subscription) as Box<dyn Events>),
                None => Err(Error::Failed("The subscription ended at once".to_owned())),
            }
        })
    }
}

impl Events for Subscription {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<Value>> + Send + '_>> {
        Box::pin(async { Some(Self::next(self).await) })
    }
}

/// Runs a future, and returns its output or the panic that ended it.
pub(crate) fn unwound<'a, T>(
    mut future: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
) -> impl Future<Output = std::result::Result<T, Box<dyn Any + Send>>> + Send + Unpin + use<'a, T> {
    poll_fn(move |context| {
        // This is unwind safe: after a panic, the future is dropped and never polled again. It shares only locks, which
        // a panic releases, and the reply, which is truncated.
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
pub(crate) mod tests;
