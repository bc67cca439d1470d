//! This machine's connection to its hubs: the machine's NATS tokens, and the questions that it asks hubs.
//!
//! The token with the machine's permissions is valid for a day. After half of that time, a hub renews it. If it has
//! expired, for example because the machine was off, the connector connects with a second token, which only permits
//! asking for a new token.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result, anyhow};
use async_nats::Client;
use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::time::sleep;

use super::connection::Connection;
use crate::{
    identity::MachineId,
    jwt,
    nats::{Credentials, WAITING},
    protocol::{self, Question, QuestionReply, Tokens},
};

/// The interval at which the connector checks whether its token must be renewed.
const CHECK: Duration = Duration::from_secs(2);
/// The pause after a renewal that failed.
const PAUSE: Duration = Duration::from_secs(20);

/// A machine's connection to its hubs.
#[derive(Clone)]
pub struct HubLine {
    machine: MachineId,
    client: Client,
    connection: Arc<Mutex<Connection>>,
}

/// Whether a NATS token has expired, and whether half of its lifetime is over. Both are false for a token that never
/// expires.
fn age(token: &str) -> (bool, bool) {
    let Some((start, end)) = jwt::span(token) else { return (false, false) };
    let now = OffsetDateTime::now_utc().unix_timestamp();
    (now >= end, now >= start + (end - start) / 2)
}

/// The token to connect with: the machine's token or, if that has expired, the renewal token.
fn usable(credentials: &Credentials) -> String {
    match &credentials.renewal {
        Some(renewal) if age(&credentials.jwt).0 => renewal.clone(),
        _ => credentials.jwt.clone(),
    }
}

impl HubLine {
    /// Connects to NATS. `waits`: whether to return immediately, even if no server answers yet.
    ///
    /// # Errors
    /// No server answers, or no server accepts the machine's key.
    pub async fn connect(connection: &Connection, waits: bool) -> Result<Self> {
        let machine = connection.machine()?;
        let credentials = connection.credentials().clone();
        let connection = Arc::new(Mutex::new(connection.clone()));
        let token = {
            let connection = connection.clone();
            move || usable(connection.lock().credentials())
        };
        let inbox = protocol::inbox(&machine);
        let client =
            credentials.connect_by(token, "unterm-connect", Some(&inbox), waits, WAITING).await?;
        Ok(Self { machine, client, connection })
    }

    /// The connection to NATS.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Asks a hub, and returns the hub's answer.
    ///
    /// # Errors
    /// No hub answers.
    pub async fn ask(&self, ask: &Question) -> Result<QuestionReply> {
        let subject = protocol::asks(&self.machine);
        let reply = self.client.request(subject, serde_json::to_vec(ask)?.into()).await;
        let reply = reply.map_err(|error| anyhow!("no hub answers: {error}"))?;
        serde_json::from_slice(&reply.payload).context("the hub's answer")
    }

    /// Renews the token whenever that is necessary, while the future is polled.
    pub async fn keep_token(&self) {
        loop {
            if let Err(error) = self.renew_if_needed().await {
                tracing::debug!(error = %format!("{error:#}"), "the machine's token was not renewed");
                sleep(PAUSE).await;
            }
            sleep(CHECK).await;
        }
    }

    /// Asks a hub to renew the token if the token has expired, never expires, or half of its lifetime is over.
    ///
    /// # Errors
    /// No hub renews the token. The machine may have been removed from the fleet.
    pub async fn renew_if_needed(&self) -> Result<()> {
        let credentials = self.connection.lock().credentials().clone();
        let (has_ended, is_old) = age(&credentials.jwt);
        let subject = match (&credentials.renewal, is_old) {
            // The token was issued by an earlier version.
            (None, _) => protocol::earlier_renewals(&self.machine),
            (Some(_), true) => protocol::renewals(&self.machine),
            (Some(_), false) => return Ok(()),
        };
        let reply = self.client.request(subject, "{}".into()).await;
        let reply = reply.map_err(|error| anyhow!("no hub answers: {error}"))?.payload;
        let Tokens { jwt, renewal } = serde_json::from_slice(&reply).map_err(|_| {
            anyhow!("{}", unterm_control::escaped(&String::from_utf8_lossy(&reply)))
        })?;
        let is_first = credentials.renewal.is_none();
        let credentials = Credentials { jwt, renewal: Some(renewal), ..credentials };
        self.connection.lock().renew(credentials)?;
        tracing::info!("the machine's token was renewed");
        if has_ended || is_first {
            // The connection must be opened again, because the current connection has other permissions.
            self.client.force_reconnect().await?;
        }
        Ok(())
    }
}
