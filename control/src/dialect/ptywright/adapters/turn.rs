//! Waits for an adapter's program, with or without an intent before the wait.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};
use unterm_plugin::Matcher;

use super::{Adapter, Adapters, Locked, actions::Intent, redact::redact};
use crate::{
    dialect::ptywright::{
        error::{Error, Result},
        matcher::MatchOutcome,
        plugins::refused,
        redaction::Redaction,
        sessions::Wait,
    },
    services::pane::wait::deadline,
};

/// The plugin's function that is used if the caller names none.
const INTENT: &str = "wait_turn_matcher";
/// The default duration of a wait, in milliseconds.
const TIMEOUT_MS: u64 = 120_000;

/// The parameters of a wait.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Awaited {
    pub intent: Option<String>,
    pub params: Option<Map<String, Value>>,
    pub timeout_ms: Option<u64>,
    pub wait_id: Option<String>,
}

impl Adapters {
    /// Waits until the condition that a plugin's function returns is true. The adapter is locked before and after the
    /// wait, but not during the wait, so that other clients can answer a dialog.
    pub(super) async fn wait(
        self: &Arc<Self>,
        adapter: Arc<Adapter>,
        awaited: Awaited,
    ) -> Result<Value> {
        let wait_id = awaited.wait_id.clone();
        let id = adapter.id.clone();
        let work = async {
            let timeout_ms = awaited.timeout_ms.unwrap_or(TIMEOUT_MS);
            let deadline = deadline(Instant::now(), Duration::from_millis(timeout_ms));
            let locked = timeout_at(deadline, adapter.clone().lock()).await;
            let locked = locked.map_err(|_| Error::timeout(timeout_ms))??;
            let method = "adapter.wait";
            let matcher = matcher(&locked, &awaited, method).await?;
            drop(locked);
            let wait = Wait { matcher, deadline, timeout_ms, method };
            let outcome = self.sessions.matched(&adapter.session, wait).await?.outcome;
            Ok((adapter.lock().await?, outcome))
        };
        let (locked, outcome) = self.unless_cancelled(wait_id.as_deref(), &id, work).await?;
        self.reply(&locked, &outcome, wait_id).await
    }

    /// Performs an intent, and then waits. The adapter stays locked until the end.
    pub(super) async fn turn(
        self: &Arc<Self>,
        adapter: Arc<Adapter>,
        intent: Intent,
        awaited: Awaited,
    ) -> Result<Value> {
        let wait_id = awaited.wait_id.clone();
        let id = adapter.id.clone();
        let work = async {
            let locked = adapter.clone().lock().await?;
            let locked = self.perform(locked, intent, "adapter.turn").await?;
            let timeout_ms = awaited.timeout_ms.unwrap_or(TIMEOUT_MS);
            let deadline = deadline(Instant::now(), Duration::from_millis(timeout_ms));
            let method = "adapter.turn";
            let matcher = matcher(&locked, &awaited, method).await?;
            let wait = Wait { matcher, deadline, timeout_ms, method };
            let outcome = self.sessions.matched(&adapter.session, wait).await?.outcome;
            Ok((locked, outcome))
        };
        let (locked, outcome) = self.unless_cancelled(wait_id.as_deref(), &id, work).await?;
        self.reply(&locked, &outcome, wait_id).await
    }

    /// Runs work that `adapter.cancel_wait` can cancel. The wait's id is registered before the work begins.
    async fn unless_cancelled<T>(
        &self,
        wait_id: Option<&str>,
        adapter: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(wait_id) = wait_id else { return work.await };
        let mut bound = self.waits.bind(wait_id, adapter)?;
        tokio::select! {
            biased;
            () = bound.cancelled() => Err(Error::cancelled()),
            done = work => done,
        }
    }

    async fn reply(
        &self,
        locked: &Locked,
        outcome: &MatchOutcome,
        wait_id: Option<String>,
    ) -> Result<Value> {
        let mut matched = json!(outcome);
        redact(&mut matched, &Redaction::default());
        let mut reply = json!({"state": self.state(locked).await?, "matched": matched});
        if let Some(wait_id) = wait_id {
            reply["wait_id"] = wait_id.into();
        }
        Ok(reply)
    }
}

/// The condition that a plugin's function returns.
async fn matcher(locked: &Locked, awaited: &Awaited, method: &str) -> Result<Matcher> {
    let instance = locked.adapter.instance.clone();
    let name = awaited.intent.clone().unwrap_or_else(|| INTENT.to_owned());
    let params = Value::Object(awaited.params.clone().unwrap_or_default());
    let call = move || instance.wait_matcher(&name, &params);
    locked.adapter.calls.run(call).await?.map_err(|error| refused(&error, method))
}
