//! The methods `adapter.*`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{Adapter, Adapters, actions::Intent, start::Start, to_its_end, turn::Awaited};
use crate::dialect::ptywright::{
    error::{Error, Result},
    redaction::{Additions, Redaction},
    request::{NoParams, read, result},
};

/// The names of all methods `adapter.*`.
pub const METHODS: [&str; 16] = [
    "adapter.list",
    "adapter.live",
    "adapter.start",
    "adapter.resume",
    "adapter.state",
    "adapter.send",
    "adapter.wait",
    "adapter.turn",
    "adapter.cancel_wait",
    "adapter.snapshot",
    "adapter.transcript",
    "adapter.inspect",
    "adapter.close",
    "adapter.attach",
    "adapter.detach",
    "adapter.states",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnAdapter {
    adapter: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SendParams {
    adapter: String,
    intent: String,
    #[serde(default)]
    params: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitParams {
    adapter: String,
    #[serde(default)]
    intent: Option<String>,
    #[serde(default)]
    params: Option<Map<String, Value>>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    wait_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnParams {
    adapter: String,
    send: TurnSend,
    #[serde(default)]
    wait: Option<Awaited>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnSend {
    intent: String,
    #[serde(default)]
    params: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelParams {
    wait_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadParams {
    adapter: String,
    #[serde(default)]
    redact: Option<bool>,
    #[serde(default)]
    redaction: Option<Additions>,
}

/// Whether a method waits for the adapter's lock or for its program. Clients may cancel such a method.
pub fn lasts(method: &str) -> bool {
    matches!(
        method,
        "adapter.state"
            | "adapter.send"
            | "adapter.wait"
            | "adapter.turn"
            | "adapter.snapshot"
            | "adapter.transcript"
            | "adapter.inspect"
            | "adapter.close"
            | "adapter.attach"
    )
}

/// Executes a method.
///
/// # Errors
/// The errors that the protocol documents for each method.
pub async fn call(
    adapters: &Arc<Adapters>,
    method: &str,
    params: Map<String, Value>,
) -> Result<Box<RawValue>> {
    match method {
        "adapter.list" => {
            let NoParams {} = read(params)?;
            result(&json!({"plugins": adapters.sessions.plugins().manifests()}))
        }
        "adapter.live" => {
            let NoParams {} = read(params)?;
            let live: Vec<_> = adapters.all().iter().map(|adapter| live(adapter)).collect();
            result(&json!({"adapters": live}))
        }
        "adapter.start" => start(adapters, read(params)?, "adapter.start").await,
        "adapter.resume" => start(adapters, read(params)?, "adapter.resume").await,
        "adapter.state" => {
            let OnAdapter { adapter } = read(params)?;
            let locked = permitted(adapters, &adapter, method)?.lock().await?;
            result(&json!({"state": adapters.state(&locked).await?}))
        }
        "adapter.send" => {
            let SendParams { adapter, intent, params } = read(params)?;
            let locked = permitted(adapters, &adapter, method)?.lock().await?;
            let intent = Intent { name: intent, params: params.unwrap_or_default() };
            let locked = adapters.perform(locked, intent, "adapter.send").await?;
            result(&json!({"state": adapters.state(&locked).await?}))
        }
        "adapter.wait" => {
            let WaitParams { adapter, intent, params, timeout_ms, wait_id } = read(params)?;
            let awaited = Awaited { intent, params, timeout_ms, wait_id };
            let adapter = permitted(adapters, &adapter, method)?;
            result(&adapters.wait(adapter, awaited).await?)
        }
        "adapter.turn" => {
            let TurnParams { adapter, send, wait } = read(params)?;
            let adapter = permitted(adapters, &adapter, method)?;
            let intent = Intent { name: send.intent, params: send.params.unwrap_or_default() };
            result(&adapters.turn(adapter, intent, wait.unwrap_or_default()).await?)
        }
        "adapter.cancel_wait" => {
            let CancelParams { wait_id } = read(params)?;
            match adapters.waits.cancel(&wait_id) {
                Some(adapter) => {
                    result(&json!({"cancelled": true, "adapter": adapter, "wait_id": wait_id}))
                }
                None => result(&json!({"cancelled": false, "wait_id": wait_id})),
            }
        }
        "adapter.snapshot" => {
            let (adapter, redaction) = read_params(adapters, method, params).await?;
            result(&adapters.snapshot(&adapter.lock().await?, &redaction).await?)
        }
        "adapter.transcript" => {
            let (adapter, redaction) = read_params(adapters, method, params).await?;
            result(&adapters.transcript(&adapter.lock().await?, &redaction).await?)
        }
        "adapter.inspect" => {
            let (adapter, redaction) = read_params(adapters, method, params).await?;
            result(&adapters.inspect(&adapter.lock().await?, &redaction).await?)
        }
        "adapter.close" => {
            let OnAdapter { adapter } = read(params)?;
            let locked = permitted(adapters, &adapter, method)?.lock().await?;
            let adapters = adapters.clone();
            to_its_end(async move { adapters.close(locked).await }).await?;
            result(&json!({"closed": true}))
        }
        "adapter.attach" => result(&adapters.attach(params).await?),
        "adapter.detach" => result(&adapters.detach(params).await?),
        "adapter.states" => result(&adapters.states(params).await?),
        method => Err(Error::method_not_found(method)),
    }
}

/// Starts an adapter. If the client disconnects, the start continues, so that `adapter.live` lists everything that was
/// started.
async fn start(
    adapters: &Arc<Adapters>,
    params: Start,
    method: &'static str,
) -> Result<Box<RawValue>> {
    let adapters = adapters.clone();
    result(&to_its_end(async move { adapters.start(params, method).await }).await?)
}

fn live(adapter: &Adapter) -> Value {
    let progress = adapter.session.progress();
    json!({
        "adapter": adapter.id,
        "plugin": adapter.manifest.name,
        "session": adapter.session.id(),
        "sequence": progress.sequence,
        "finished": progress.has_ended,
    })
}

/// The adapter with this id, if its plugin has the permissions that a method needs.
fn permitted(adapters: &Adapters, id: &str, method: &str) -> Result<Arc<Adapter>> {
    let adapter = adapters.get(id)?;
    adapter.permit(method)?;
    Ok(adapter)
}

async fn read_params(
    adapters: &Adapters,
    method: &str,
    params: Map<String, Value>,
) -> Result<(Arc<Adapter>, Redaction)> {
    let ReadParams { adapter, redact, redaction } = read(params)?;
    let adapter = permitted(adapters, &adapter, method)?;
    Ok((adapter, Redaction::of(redact, redaction).await?))
}
