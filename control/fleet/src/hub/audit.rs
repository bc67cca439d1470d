//! The audit log. A stream contains each call of an agent, and each decision of a user.

use std::ops::Range;

use anyhow::{Context as _, Result};
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};

use super::store::{AUDIT, AUDIT_SUBJECT, Store, now};

/// The text that stands for the token in entries about actions of a user.
pub const PERSON: &str = "person";
/// The maximum number of characters of a call that are stored.
const LONGEST: usize = 2000;

/// The event that an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The call waits for the user's approval, and was not executed.
    Pending,
    /// The call waits until its conversation is resumed.
    Held,
    /// The call is about to be executed.
    Begun,
    /// The call was executed.
    Done,
    /// The call was refused, or failed.
    Refused,
    /// A user made a decision.
    Decided,
}

impl Event {
    /// The event's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Held => "held",
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Decided => "decided",
        }
    }
}

/// An entry of the audit log. A field that does not apply is absent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// When the event happened (RFC 3339, UTC).
    pub at: String,
    /// The event.
    pub event: Event,
    /// The call's id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// The tool, or the decision.
    pub tool: String,
    /// The token's id.
    pub token: String,
    /// The token's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token_name: String,
    /// The conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub conversation: String,
    /// A short description of the call, such as the text to type.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The outcome of the call, or the reason of a refusal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outcome: String,
}

impl Entry {
    /// Creates an entry with the current time.
    pub fn new(event: Event, tool: &str, token: &str) -> Self {
        Self {
            at: now(),
            event,
            tool: tool.to_owned(),
            token: token.to_owned(),
            call: String::new(),
            token_name: String::new(),
            conversation: String::new(),
            detail: String::new(),
            outcome: String::new(),
        }
    }
}

/// Adds an entry, and waits until it is stored.
///
/// # Errors
/// NATS does not store the entry.
pub async fn record(store: &Store, mut entry: Entry) -> Result<()> {
    for text in [&mut entry.detail, &mut entry.outcome, &mut entry.conversation] {
        if text.len() > LONGEST && text.chars().count() > LONGEST {
            *text = text.chars().take(LONGEST).chain("…".chars()).collect();
        }
    }
    let subject = format!("{AUDIT_SUBJECT}.{}", entry.token);
    let stored = store.jetstream.publish(subject, serde_json::to_vec(&entry)?.into()).await;
    stored.context("writing the audit log")?.await.context("writing the audit log")?;
    Ok(())
}

/// Adds an entry about a change that a user made.
///
/// # Errors
/// NATS does not store the entry.
pub async fn changed(store: &Store, what: &str, detail: &str) -> Result<()> {
    let entry =
        Entry { detail: unterm_control::escaped(detail), ..Entry::new(Event::Done, what, PERSON) };
    record(store, entry).await
}

/// The range of the numbers of stored entries. Some numbers in the range may be missing.
///
/// # Errors
/// NATS does not answer.
pub async fn span(store: &Store) -> Result<Range<u64>> {
    let stream = store.jetstream.get_stream(AUDIT).await?;
    let state = &stream.cached_info().state;
    Ok(state.first_sequence..state.last_sequence + 1)
}

/// The last entries, oldest first.
///
/// # Errors
/// NATS does not answer.
pub async fn last(store: &Store, most: u64) -> Result<Vec<Entry>> {
    let span = span(store).await?;
    let start = span.end.saturating_sub(most).max(span.start);
    let entries = read(store, start..span.end).await?;
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// The entries with these numbers, oldest first.
///
/// # Errors
/// NATS does not answer.
pub async fn read(store: &Store, numbers: Range<u64>) -> Result<Vec<(u64, Entry)>> {
    let stream = store.jetstream.get_stream(AUDIT).await?;
    let state = stream.cached_info().state.clone();
    let end = numbers.end.min(state.last_sequence + 1);
    if state.messages == 0 || numbers.start >= end {
        return Ok(Vec::new());
    }
    let config = pull::OrderedConfig {
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: numbers.start.max(1) },
        ..pull::OrderedConfig::default()
    };
    let mut messages = stream.create_consumer(config).await?.messages().await?;
    let mut entries = Vec::new();
    while let Some(message) = messages.next().await {
        let message = message?;
        let number = message.info().map_err(|error| anyhow::anyhow!("{error}"))?.stream_sequence;
        if number < end {
            entries.push((number, serde_json::from_slice(&message.payload)?));
        }
        if number + 1 >= end {
            break;
        }
    }
    Ok(entries)
}
