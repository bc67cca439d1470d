//! A bucket of NATS's JetStream that contains JSON values. Several hubs may change it at the same time.

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

/// The maximum time to wait for the next value of a bucket.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of attempts to change a value, if other hubs change it at the same time.
const TRIES: usize = 20;

/// A bucket of JSON values, with the JetStream context that it belongs to.
#[derive(Clone)]
pub struct Bucket(pub kv::Store, jetstream::Context);

impl Bucket {
    /// Wraps a bucket. `jetstream`: the JetStream context that it belongs to.
    pub fn new(bucket: kv::Store, jetstream: jetstream::Context) -> Self {
        Self(bucket, jetstream)
    }

    /// The value of a key. `None` if there is no value, or if the value has an unexpected form.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        Ok(self.get_revision(key).await?.map(|(value, _)| value))
    }

    /// The value of a key, with the value's revision.
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
    /// NATS does not store the value.
    pub async fn put(&self, key: &str, value: &impl Serialize) -> Result<()> {
        self.0.put(key, serde_json::to_vec(value)?.into()).await?;
        Ok(())
    }

    /// Stores a value that expires.
    ///
    /// # Errors
    /// NATS does not store the value.
    pub async fn put_for(&self, key: &str, value: &impl Serialize, age: Duration) -> Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_TTL, age.as_secs().to_string());
        let (subject, value) = (format!("{}{key}", self.0.prefix), serde_json::to_vec(value)?);
        let jetstream = &self.1;
        jetstream.publish_with_headers(subject, headers, value.into()).await?.await?;
        Ok(())
    }

    /// Stores a value if the key has no value. Returns false if the key already has a value.
    ///
    /// # Errors
    /// NATS does not store the value.
    pub async fn create(&self, key: &str, value: &impl Serialize) -> Result<bool> {
        match self.0.create(key, serde_json::to_vec(value)?.into()).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes a value, even if other hubs change it at the same time. Returns the new value, or `None` if the key has
    /// no value. If `change` returns false, nothing is stored.
    ///
    /// # Errors
    /// NATS does not store the value.
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

    /// Removes a value. Returns false if the key has no value, or if another hub removed it first.
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

    /// All values, sorted by their keys. Values with an unexpected form are left out.
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

    /// The bytes of all values, by their keys. They are read by one request instead of one request per key.
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
        // Without this, NATS would keep the consumer for 30 seconds.
        if let Err(error) = self.0.stream.delete_consumer(&name).await {
            tracing::debug!(%error, "a consumer was not deleted");
        }
        Ok(all)
    }
}

/// The header that marks a message as a removal of its key, by a hub or because the value has expired (NATS, ADR-8 and
/// ADR-43). `None` if the message is not a removal.
fn removal(message: &async_nats::Message) -> Option<&HeaderValue> {
    let headers = message.headers.as_ref()?;
    headers.get("KV-Operation").or_else(|| headers.get("Nats-Marker-Reason"))
}
