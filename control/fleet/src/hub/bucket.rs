//! A bucket of NATS's JetStream with JSON values, which several hubs may change at the same time.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, Result, anyhow};
use async_nats::{
    HeaderMap, HeaderValue,
    header::NATS_MESSAGE_TTL,
    jetstream::{
        self,
        consumer::{DeliverPolicy, pull},
        kv::{self, UpdateErrorKind},
    },
};
use axum::body::Bytes;
use futures_util::StreamExt as _;
use serde::{Serialize, de::DeserializeOwned};

/// How long the next value of a bucket may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a change is tried again because another hub changed the same value.
const TRIES: usize = 20;

/// A bucket of JSON values, with the JetStream that has it.
#[derive(Clone)]
pub struct Bucket(pub kv::Store, jetstream::Context);

impl Bucket {
    /// A bucket, and the JetStream that has it.
    pub fn new(bucket: kv::Store, jetstream: jetstream::Context) -> Self {
        Self(bucket, jetstream)
    }

    /// The value under a key. A value of another form counts as none.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        Ok(self.get_revision(key).await?.map(|(value, _)| value))
    }

    /// The same, with the value's revision.
    async fn get_revision<T: DeserializeOwned>(&self, key: &str) -> Result<Option<(T, u64)>> {
        let entry = self.0.entry(key).await.with_context(|| format!("reading {key}"))?;
        let Some(entry) = entry.filter(|entry| entry.operation == kv::Operation::Put) else {
            return Ok(None);
        };
        match serde_json::from_slice(&entry.value) {
            Ok(value) => Ok(Some((value, entry.revision))),
            Err(error) => {
                tracing::warn!(key, %error, "a value is not understood");
                Ok(None)
            }
        }
    }

    /// Stores a value.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn put(&self, key: &str, value: &impl Serialize) -> Result<()> {
        self.0.put(key, serde_json::to_vec(value)?.into()).await?;
        Ok(())
    }

    /// Stores a value that expires.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn put_for(&self, key: &str, value: &impl Serialize, age: Duration) -> Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_TTL, age.as_secs().to_string());
        let (subject, value) = (format!("{}{key}", self.0.prefix), serde_json::to_vec(value)?);
        let jetstream = &self.1;
        jetstream.publish_with_headers(subject, headers, value.into()).await?.await?;
        Ok(())
    }

    /// Stores a value under a key that has none. False: the key has a value.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn create(&self, key: &str, value: &impl Serialize) -> Result<bool> {
        match self.0.create(key, serde_json::to_vec(value)?.into()).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes a value, also if others change it at the same time. Returns the new value, or `None` if there is none. If `change`
    /// returns false, nothing is stored.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn change<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        change: impl Fn(&mut T) -> bool,
    ) -> Result<Option<T>> {
        for _ in 0..TRIES {
            let Some((mut value, revision)) = self.get_revision::<T>(key).await? else {
                return Ok(None);
            };
            if !change(&mut value) {
                return Ok(Some(value));
            }
            match self.0.update(key, serde_json::to_vec(&value)?.into(), revision).await {
                Ok(_) => return Ok(Some(value)),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {}
                Err(error) => return Err(error.into()),
            }
        }
        anyhow::bail!("{key} was changed by others {TRIES} times in a row")
    }

    /// Removes a value. False: there is none, or another hub removed it first.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn take(&self, key: &str) -> Result<bool> {
        let Some(entry) = self.0.entry(key).await?.filter(|e| e.operation == kv::Operation::Put)
        else {
            return Ok(false);
        };
        match self.0.delete_expect_revision(key, Some(entry.revision)).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// All values, sorted by their keys. Values of another form are left out.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn all<T: DeserializeOwned>(&self) -> Result<Vec<(String, T)>> {
        let mut all = Vec::new();
        for (key, value) in self.read().await? {
            match serde_json::from_slice(&value) {
                Ok(value) => all.push((key, value)),
                Err(error) => tracing::warn!(key, %error, "a value is not understood"),
            }
        }
        Ok(all)
    }

    /// The bytes of all values, by their keys, in one request instead of one for each key.
    async fn read(&self) -> Result<BTreeMap<String, Bytes>> {
        let config = pull::OrderedConfig {
            deliver_policy: DeliverPolicy::LastPerSubject,
            filter_subject: format!("{}>", self.0.prefix),
            ..pull::OrderedConfig::default()
        };
        let consumer = self.0.stream.create_consumer(config).await?;
        let mut all = BTreeMap::new();
        if consumer.cached_info().num_pending == 0 {
            return Ok(all);
        }
        let name = consumer.cached_info().name.clone();
        let mut messages = consumer.messages().await?;
        loop {
            let next = tokio::time::timeout(PATIENCE, messages.next()).await;
            let message = next
                .context("NATS did not send the bucket's next value in time")?
                .context("the stream of values ended")??;
            let info = message.info().map_err(|error| anyhow!("{error}"))?;
            let is_last = info.pending == 0;
            let key = message.subject.strip_prefix(self.0.prefix.as_str());
            if let (Some(key), None) = (key, removal(&message)) {
                all.insert(key.to_owned(), message.payload.clone());
            }
            if is_last {
                break;
            }
        }
        drop(messages);
        // NATS would keep it for 30 seconds.
        if let Err(error) = self.0.stream.delete_consumer(&name).await {
            tracing::debug!(%error, "a consumer was not deleted");
        }
        Ok(all)
    }
}

/// The header of a message that removes a key, by a hub or because it has expired (NATS, ADR-8 and ADR-43).
fn removal(message: &async_nats::Message) -> Option<&HeaderValue> {
    let headers = message.headers.as_ref()?;
    headers.get("KV-Operation").or_else(|| headers.get("Nats-Marker-Reason"))
}
