//! The one place where a call is allowed, denied or held, and where it is made.
//!
//! Every wire calls methods through a [`Dispatcher`]. It finds the method, checks the caller's scopes, asks the gates in
//! order, and turns a panic in a method into an error, so that a fault of ours costs one reply and no connection.

use std::{
    any::Any,
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

use serde::Deserialize;
use serde_json::{Map, Value};
use unterm_mux::PaneId;

use crate::{
    caller::{Access, Caller, Scopes, TokenKind},
    error::{Denial, Error, Result},
    methods::{self, Context, Detail, Entry, NOT_SHOWN},
    services::{audit::Outcome, changes::Topic},
};

/// How often the token of an agent is looked at whose call goes on.
const TOKEN_CHECK: Duration = Duration::from_millis(500);

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
        let mut record = match Record::of(&self.context, caller, entry, params) {
            Ok(record) => record,
            Err(error) => {
                Record::unread(&self.context, caller, entry).write(Some(&error), &[]);
                return Err(error);
            }
        };
        let mut admitted = pin!(self.admit(caller, entry, params));
        let admitted = match poll_once(&mut admitted).await {
            Poll::Ready(admitted) => admitted,
            Poll::Pending => {
                let admitted = admitted.await;
                // Its program may have begun to ask for a secret while the call was held.
                let now = Record::of(&self.context, caller, entry, params)?;
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
        let mut record = Begun { record: Some(record), is_written: false };
        let start = reply.len();
        let result = {
            let mut call = unwound((entry.call)(&self.context, caller, params, reply));
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
        // What is not audited looks, though not everybody may: a page that hears of changes asks by it.
        if is_noted(entry) {
            self.context.changes.called(method);
            if Topic::of_method(method) == Some(Topic::Recording) {
                self.context.host.recordings_changed();
            }
        }
        result
    }

    /// A connection has ended: what it had is given back.
    pub fn disconnected(&self, connection: u64) {
        self.context.approvals.release(connection);
        if self.context.questions.release(connection) {
            self.context.questions_changed();
        }
        if self.context.leases.release_all(connection) {
            self.context.host.agents_changed();
        }
        if self.context.clients.remove(connection) {
            self.context.changes.tell(Topic::Agents);
        }
    }

    /// A connection has logged in, or a client was told from others by its requests.
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

    /// Whether an agent's token is still worth something: what goes on for it ends with it.
    pub(crate) fn check_token(&self, caller: &Caller) -> Result<()> {
        let TokenKind::Agent(number) = caller.token else { return Ok(()) };
        match self.context.tokens.is_live(number) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Denied(Denial::Ended)),
            Err(why) => {
                Err(Error::Denied(Denial::Other(format!("the token can't be checked: {why}"))))
            }
        }
    }

    /// Waits until an agent's token is worth nothing any more; why.
    async fn token_end(&self, caller: &Caller) -> Error {
        loop {
            if !matches!(caller.token, TokenKind::Agent(_)) {
                std::future::pending::<()>().await;
            }
            // Any instance may take it back, in the file that all of them share: no event tells of it.
            tokio::time::sleep(TOKEN_CHECK).await;
            if let Err(why) = self.check_token(caller) {
                return why;
            }
        }
    }

    async fn admit(&self, caller: &Caller, entry: &Entry, params: &str) -> Result<()> {
        check_scope(caller.scopes, entry.access, entry.name)?;
        self.check_token(caller)?;
        if let Some(panes) = &caller.panes
            && !is_within(panes, entry, params)
        {
            let (what, reached) = (entry.name.to_owned(), panes.clone());
            // One that the token reaches is not what the method reaches beyond.
            let session = session_of(entry, params).filter(|session| !panes.contains(session));
            return Err(Error::Denied(Denial::Sessions { what, session, reached }));
        }
        if entry.access != Access::Read
            && !caller.is_approved
            && !self.context.approvals.is_settled(caller)
            // One that comes by another instance can't be asked here; what the person said of it holds.
            && !self.context.approvals.is_let_in(caller)
        {
            return Err(Error::Denied(Denial::Approval(entry.name.to_owned())));
        }
        if entry.is_for_people && matches!(caller.token, TokenKind::Agent(_)) {
            return Err(Error::Denied(Denial::Agents(entry.name.to_owned())));
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
                    Decision::Deny(reason) => return Err(Error::Denied(Denial::Other(reason))),
                    Decision::Hold(until) => decision = until.await,
                }
            }
        }
        Ok(())
    }
}

/// Whether scopes hold an access.
///
/// # Errors
/// They don't: what `what` names is refused.
pub(crate) fn check_scope(scopes: Scopes, access: Access, what: &str) -> Result<()> {
    if scopes.allow(access) {
        return Ok(());
    }
    Err(Error::Denied(Denial::Scope { what: what.to_owned(), needs: access, has: scopes }))
}

/// Whether a call stays within some sessions: it is about one of them, and of no other, or tells nothing of any. What is not
/// known to be so is none, whatever sessions its parameters name.
fn is_within(panes: &[u64], entry: &Entry, params: &str) -> bool {
    if !entry.is_of_session {
        return entry.is_of_none;
    }
    let Ok(params) = by_name(params) else { return false };
    let named = entry.named.iter().filter_map(|name| params.get(*name));
    let mut named = named.filter(|value| !value.is_null()).peekable();
    let is_one = |value: &Value| session_number(value).is_some_and(|it| panes.contains(&it));
    (entry.is_of_none || named.peek().is_some()) && named.all(is_one)
}

fn session_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The session that the parameters of a call name first.
fn session_of(entry: &Entry, params: &str) -> Option<u64> {
    let params = by_name(params).ok()?;
    entry.named.iter().find_map(|name| session_number(params.get(*name)?))
}

/// Parameters by their names, none where a method reads none. A method passes over what it does not know, also what serde_json
/// makes no value of (a number without bounds, a list too deep): what is decided and logged here must be all that it reads.
fn by_name(params: &str) -> Result<Map<String, Value>> {
    if !params.starts_with('{') {
        return Ok(Map::new());
    }
    serde_json::from_str(params).map_err(Error::Params)
}

/// A call that changes something, for the audit log; none where that leaves it out.
#[derive(Clone)]
struct Record<'a>(Option<Noted<'a>>);

#[derive(Clone)]
struct Noted<'a> {
    context: &'a Context,
    caller: &'a Caller,
    method: &'static str,
    session: String,
    detail: String,
    /// A program is sent what it does not show: nobody else does, also where the call is refused for it.
    is_secret: bool,
}

impl<'a> Record<'a> {
    fn of(
        context: &'a Context,
        caller: &'a Caller,
        entry: &'static Entry,
        params: &str,
    ) -> Result<Self> {
        if !is_noted(entry) {
            return Ok(Self(None));
        }
        let params = by_name(params)?;
        let text = |key: &str| params.get(key).map(plain).filter(|text| !text.is_empty());
        let session = text("id").or_else(|| text("session_id")).unwrap_or_default();
        let is_secret = session.parse().map(PaneId).is_ok_and(|pane| context.hides(pane, &params));
        let most = if is_secret {
            Detail::not_shown()
        } else {
            Detail { text: told(&params, entry.telling), is_secret }
        };
        let Detail { text: detail, is_secret } = (entry.detail)(context, &params, most);
        let method = entry.name;
        Ok(Self(Some(Noted { context, caller, method, session, detail, is_secret })))
    }

    fn is_secret(&self) -> bool {
        self.0.as_ref().is_some_and(|noted| noted.is_secret)
    }

    /// One whose parameters can't be read.
    fn unread(context: &'a Context, caller: &'a Caller, entry: &'static Entry) -> Self {
        let (session, detail) = (String::new(), "(parameters that can't be read)".to_owned());
        let method = entry.name;
        Self(is_noted(entry).then_some(Noted {
            context,
            caller,
            method,
            session,
            detail,
            is_secret: false,
        }))
    }

    /// Writes it, with what came of it. One that is about no session is about the one that its reply says was made.
    fn write(self, error: Option<&Error>, reply: &[u8]) {
        #[derive(Deserialize)]
        struct Made {
            session_id: String,
        }

        let Some(Noted { context, caller, method, mut session, detail, is_secret }) = self.0 else {
            return;
        };
        if session.is_empty()
            && let Ok(made) = serde_json::from_slice::<Made>(reply)
        {
            session = made.session_id;
        }
        let outcome = match error.map_or(Outcome::Done, Error::outcome) {
            Outcome::Failed(_) if is_secret => Outcome::Failed(NOT_SHOWN.to_owned()),
            outcome => outcome,
        };
        context.audit.add(method, session, &detail, outcome, caller.client.clone());
    }
}

/// Whether the audit log has the calls of a method.
fn is_noted(entry: &Entry) -> bool {
    entry.access != Access::Read && entry.is_audited
}

/// The record of a call under way: written when that is done, or given up; of one that lasts when it begins, and again where
/// it then comes to nothing.
struct Begun<'a> {
    record: Option<Record<'a>>,
    is_written: bool,
}

impl Begun<'_> {
    /// Writes that it began.
    fn begin(&mut self) {
        if let Some(record) = self.record.clone() {
            record.write(None, &[]);
            self.is_written = true;
        }
    }

    /// Writes what came of it, unless that is written.
    fn write(&mut self, error: Option<&Error>, reply: &[u8]) {
        if let Some(record) = self.record.take()
            && (error.is_some() || !self.is_written)
        {
            record.write(error, reply);
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.write(None, &[]);
    }
}

/// What the audit log says of a call by its parameters: the first of those that say most, else all but the session and the
/// variables of programs.
pub(crate) fn told(params: &Map<String, Value>, telling: &[&str]) -> String {
    let most =
        telling.iter().find_map(|key| params.get(*key).map(plain).filter(|text| !text.is_empty()));
    most.unwrap_or_else(|| {
        let rest =
            params.iter().filter(|(key, _)| !matches!(key.as_str(), "id" | "session_id" | "env"));
        let rest: Vec<_> = rest.map(|(key, value)| format!("{key}: {}", plain(value))).collect();
        rest.join(", ")
    })
}

/// A value as a person would write it.
pub(crate) fn plain(value: &Value) -> String {
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
mod matrix;
#[cfg(test)]
mod tests;
