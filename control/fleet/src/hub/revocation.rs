//! Revokes the NATS tokens of machines that were removed.
//!
//! The token of the machines' account lists revoked keys. The hub sends that token to the running servers, which then
//! close the connections with those keys and accept no new ones. A server forgets the token when it restarts, so the
//! hub sends it after each reconnection. Even if a server was not reached, a hub sends no requests to removed machines
//! and answers none of their questions.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use async_nats::Client;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::time::sleep;

use super::store::Store;
use crate::nats_server::{Fleet, account_updates};

/// Revokes the tokens of machines.
#[derive(Clone)]
pub struct Revocation {
    store: Arc<Store>,
    fleet: Arc<Fleet>,
    /// The connection to NATS's system account.
    system: Client,
}

impl Revocation {
    /// Creates the revocation for a fleet. `system`: a connection to NATS's system account.
    pub fn new(store: Arc<Store>, fleet: &Fleet, system: Client) -> Self {
        Self { store, fleet: Arc::new(fleet.clone()), system }
    }

    /// The connection to NATS's system account.
    pub fn system(&self) -> &Client {
        &self.system
    }

    /// The public key of the machines' account.
    pub fn account(&self) -> &str {
        self.fleet.account()
    }

    /// Revokes all tokens of a key that were issued until now.
    ///
    /// # Errors
    /// NATS does not store the revocation. It is no error if a server was not reached.
    pub async fn revoke(&self, key: &str) -> Result<()> {
        self.store.revoked.put(key, &seconds()).await?;
        if let Err(error) = self.send().await {
            tracing::warn!(error = %format!("{error:#}"), key, "the NATS servers were not told of a revocation");
        }
        Ok(())
    }

    /// Waits until a new token for this key would be valid, which means that its time of issue is after the revocation.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn pass(store: &Store, key: &str) -> Result<()> {
        let at: Option<i64> = store.revoked.get(key).await?;
        while at.is_some_and(|at| at >= seconds()) {
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Sends the revocations to the servers.
    ///
    /// # Errors
    /// The servers do not accept the revocations.
    pub async fn send(&self) -> Result<()> {
        if !self.fleet.can_revoke() {
            tracing::warn!(
                "the NATS servers can't revoke the tokens of removed machines: give them what `unterm-hub nats-config` prints, and restart the hub"
            );
            return Ok(());
        }
        loop {
            let revoked = self.all().await?;
            let token = self.fleet.account_token(&revoked)?;
            let subject = account_updates(self.account());
            let reply = self.system.request(subject, token.into()).await?;
            let reply: Value = serde_json::from_slice(&reply.payload).context("their reply")?;
            ensure!(reply["error"].is_null(), "they refuse: {}", reply["error"]);
            // Another hub may have stored a newer revocation meanwhile.
            if self.all().await? == revoked {
                return Ok(());
            }
        }
    }

    async fn all(&self) -> Result<BTreeMap<String, i64>> {
        Ok(self.store.revoked.all().await?.into_iter().collect())
    }
}

fn seconds() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}
