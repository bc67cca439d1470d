//! The table of methods: their names and their parameters.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use unterm_plugin::{Action, Matcher, Resize};

use super::{
    adapters::{Adapters, methods as adapters},
    error::{Error, Result},
    notifications::{Filter, NAMES as NOTIFICATIONS, Notifications},
    plugins::methods as plugins,
    redaction::{Additions, Redaction},
    request::{NoParams, Request, read, result},
    sessions::{Create, Sessions, Wait},
};
use crate::VERSION;

/// The methods of sessions and of the server.
const METHODS: [&str; 11] = [
    "server.capabilities",
    "server.set_notifications",
    "session.create",
    "session.list",
    "session.input",
    "session.wait",
    "session.snapshot",
    "session.transcript",
    "session.resize",
    "session.kill",
    "session.close",
];
/// The default duration of a wait, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnSession {
    session: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputParams {
    session: String,
    action: Action,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitParams {
    session: String,
    matcher: Matcher,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadParams {
    session: String,
    #[serde(default)]
    redact: Option<bool>,
    #[serde(default)]
    redaction: Option<Additions>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResizeParams {
    session: String,
    rows: u16,
    cols: u16,
    #[serde(default)]
    pixel_width: u16,
    #[serde(default)]
    pixel_height: u16,
}

/// The objects that a method needs.
pub struct Client<'a> {
    /// The sessions.
    pub sessions: &'a Arc<Sessions>,
    /// The adapters.
    pub adapters: &'a Arc<Adapters>,
    /// The notifications of this client.
    pub notifications: &'a mut Notifications,
    /// The name of the client's framing.
    pub framing: &'static str,
}

/// Whether a request may take long. Clients may cancel such requests. All others end immediately.
pub fn lasts(request: &Request) -> bool {
    match request.method.as_str() {
        "session.wait" => true,
        "session.input" => {
            let action = request.params.get("action").and_then(|action| action.get("type"));
            action.is_some_and(|action| action == "stream_text")
        }
        method => adapters::lasts(method),
    }
}

/// Executes a request.
///
/// # Errors
/// The errors that the protocol documents for each method.
pub async fn call(
    client: Client<'_>,
    method: &str,
    params: Map<String, Value>,
) -> Result<Box<RawValue>> {
    let Client { sessions, adapters, notifications, framing } = client;
    match method {
        "server.capabilities" => {
            let NoParams {} = read(params)?;
            let methods = [&METHODS[..], &adapters::METHODS, &plugins::METHODS].concat();
            result(&json!({
                "name": "unterm",
                "version": VERSION,
                "framing": framing,
                "methods": methods,
                "notifications": NOTIFICATIONS,
            }))
        }
        "server.set_notifications" => {
            let filter: Filter = read(params)?;
            result(notifications.set(sessions, filter)?)
        }
        "session.create" => {
            let params: Create = read(params)?;
            let session = sessions.create(params).await?;
            result(&json!({"session": session.id()}))
        }
        "session.list" => {
            let NoParams {} = read(params)?;
            let own = sessions.own();
            let ids: Vec<_> = own.iter().map(|session| session.id()).collect();
            result(&json!({"sessions": ids}))
        }
        "session.input" => {
            let InputParams { session, action } = read(params)?;
            sessions.act(&sessions.get(&session)?, action).await?;
            result(&json!({"sent": true}))
        }
        "session.wait" => {
            let WaitParams { session, matcher, timeout_ms } = read(params)?;
            let wait = Wait::new(matcher, timeout_ms.unwrap_or(TIMEOUT_MS), "session.wait");
            let session = sessions.get(&session)?;
            let evidence = sessions.wait(&session, wait).await?;
            tracing::debug!(session = session.id(), outcome = ?evidence.outcome, "matched");
            result(&evidence)
        }
        "session.snapshot" => {
            let (session, redaction) = read_params(params).await?;
            let screen = sessions.screen(&*sessions.get(&session)?).await?;
            result(&screen.redacted(&redaction, sessions.searches()).await?)
        }
        "session.transcript" => {
            let (session, redaction) = read_params(params).await?;
            let text = sessions.get(&session)?.transcript();
            let text = redaction.texts(sessions.searches(), vec![text]).await?.pop();
            result(&json!({"text": text.unwrap_or_default()}))
        }
        "session.resize" => {
            let ResizeParams { session, rows, cols, pixel_width, pixel_height } = read(params)?;
            let size = Resize { rows, cols, pixel_width, pixel_height };
            sessions.resize(&*sessions.get(&session)?, size).await?;
            result(&json!({"resized": true}))
        }
        "session.kill" => {
            let OnSession { session } = read(params)?;
            sessions.kill(&*sessions.get(&session)?).await?;
            result(&json!({"killed": true}))
        }
        "session.close" => {
            let OnSession { session } = read(params)?;
            sessions.close(&*sessions.get(&session)?).await?;
            result(&json!({"closed": true}))
        }
        method if plugins::METHODS.contains(&method) => {
            plugins::call(sessions.plugins(), method, params).await
        }
        method if adapters::METHODS.contains(&method) => {
            adapters::call(adapters, method, params).await
        }
        method => Err(Error::method_not_found(method)),
    }
}

async fn read_params(params: Map<String, Value>) -> Result<(String, Redaction)> {
    let ReadParams { session, redact, redaction } = read(params)?;
    Ok((session, Redaction::of(redact, redaction).await?))
}
