//! Holds the calls of a paused conversation, and replays them when the conversation resumes: in order, and each call
//! once.
//!
//! Each conversation has one consumer of the stream of held calls, and all hubs share that consumer. The consumer
//! delivers the next call when a hub has acknowledged the previous one. If a hub ends before it acknowledges a call,
//! another hub receives the same call again. A machine that has already begun the call reports that, and does not
//! repeat the call.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow};
use async_nats::{
    HeaderMap,
    header::NATS_MESSAGE_ID,
    jetstream::{
        AckKind, Message,
        consumer::{AckPolicy, PullConsumer, pull},
        kv::Operation,
    },
};
use futures_util::StreamExt as _;
use parking_lot::Mutex;

use super::{
    action::{Call, Executor, Failure},
    audit::{self, Event},
    blocked_lines::BlockedLines,
    conversations::{Conversation, Flow},
    decisions::Decisions,
    instance_tools::CallOutcome,
    store::{HELD, HELD_SUBJECT, Store},
};

/// The maximum time that a hub may work on a call without reporting progress. After that, NATS gives the call to
/// another hub. A hub that works on a call reports more often.
const ACK_WAIT: Duration = Duration::from_secs(30);
/// The delay before a call is tried again because its machine is not connected, or because the emergency stop is set.
const OFFLINE_PAUSE: Duration = Duration::from_secs(1);
/// The time of one request for the next call.
const PULL: Duration = Duration::from_secs(1);
/// The interval at which the hub looks for resumed conversations, in addition to watching them.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
/// The time for which NATS keeps a consumer that is not used.
const IDLE: Duration = Duration::from_secs(24 * 3600);

/// Holds calls, and replays them.
#[derive(Clone)]
pub struct HeldCalls {
    /// The fleet's state.
    pub store: Arc<Store>,
    /// The users' decisions, which may have changed since a call was held.
    pub decisions: Decisions,
    /// Executes calls.
    pub executor: Executor,
    /// Keeps calls whose lines the rules of a machine refuse.
    pub blocked_lines: BlockedLines,
    /// The conversations that this hub replays.
    pub replaying: Arc<Mutex<HashSet<String>>>,
}

impl HeldCalls {
    /// Holds a call of a conversation.
    ///
    /// # Errors
    /// NATS does not store the call, because too many calls are held.
    pub async fn hold(&self, key: &str, call: &Call) -> Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_ID, call.id.as_str());
        let (subject, value) = (format!("{HELD_SUBJECT}.{key}"), serde_json::to_vec(call)?);
        let stored = self.store.jetstream.publish_with_headers(subject, headers, value.into());
        stored.await?.await.context("too many calls are held")?;
        // The conversation may have been resumed while the call was stored.
        self.decisions.conversations.replay(key).await?;
        Ok(())
    }

    /// Replays resumed conversations while the future is polled.
    pub async fn serve(&self) {
        loop {
            if let Err(error) = self.follow().await {
                tracing::warn!(error = %format!("{error:#}"), "held calls are not replayed");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn follow(&self) -> Result<()> {
        let mut watch = self.store.conversations.0.watch_with_history(">").await?;
        let mut ticks = tokio::time::interval(LOOK_AGAIN);
        loop {
            tokio::select! {
                entry = watch.next() => {
                    let entry = entry.context("the watch ended")??;
                    let of = serde_json::from_slice::<Conversation>(&entry.value);
                    if let (Operation::Put, Ok(of)) = (entry.operation, of) {
                        self.begin(entry.key, &of);
                    }
                }
                // A watch may stall while the servers of a cluster choose a leader.
                _ = ticks.tick() => {
                    let counts = self.counts().await?;
                    for (key, mut of) in self.store.conversations.all::<Conversation>().await? {
                        // No held call may remain in a conversation that runs.
                        if of.flow == Flow::Running && counts.contains_key(&key) {
                            let replayed = self.decisions.conversations.replay(&key).await?;
                            of = replayed.unwrap_or(of);
                        }
                        self.begin(key, &of);
                    }
                }
            }
        }
    }

    /// Starts to replay a conversation that was resumed, unless this hub is already replaying it.
    fn begin(&self, key: String, of: &Conversation) {
        if of.flow != Flow::Replaying || !self.replaying.lock().insert(key.clone()) {
            return;
        }
        let held = self.clone();
        tokio::spawn(async move {
            while let Err(error) = held.replay(&key).await {
                tracing::warn!(error = %format!("{error:#}"), key, "a replay is tried again");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            held.replaying.lock().remove(&key);
            // The conversation may have been resumed before its key was removed above, in which case `begin` skipped
            // it. Writing the conversation again triggers the watch.
            if let Ok(Some(of)) = held.decisions.conversations.get(&key).await
                && of.flow == Flow::Replaying
            {
                let _ = held.store.conversations.put(&key, &of).await;
            }
        });
    }

    /// Executes the held calls of a conversation, until there are none or the conversation is paused.
    async fn replay(&self, key: &str) -> Result<()> {
        let consumer = self.consumer(key).await?;
        loop {
            let conversation = self.decisions.conversations.get(key).await?;
            if conversation.is_none_or(|of| of.flow != Flow::Replaying) {
                return Ok(());
            }
            if self.count(key).await? == 0 {
                self.decisions.conversations.replayed(key).await?;
                // A call may have been held after the calls were counted.
                if self.count(key).await? > 0 {
                    self.decisions.conversations.replay(key).await?;
                    continue;
                }
                return Ok(());
            }
            let next = consumer.batch().max_messages(1).expires(PULL);
            let mut messages = next.messages().await?;
            // If the server stops, it drops the request. Without this limit, the client would wait for a minute.
            let next = tokio::time::timeout(3 * PULL, messages.next()).await;
            if let Some(message) = next.context("NATS dropped a request for held calls")? {
                let message = message.map_err(|error| anyhow!("{error}"))?;
                self.handle(key, &message).await?;
            }
        }
    }

    /// The number of held calls of each conversation, by the conversation's key.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn counts(&self) -> Result<HashMap<String, usize>> {
        self.counts_of(">").await
    }

    /// The number of held calls of a conversation.
    async fn count(&self, key: &str) -> Result<usize> {
        Ok(self.counts_of(key).await?.remove(key).unwrap_or_default())
    }

    /// The number of held calls for each key that matches a filter. The numbers come from the stream and not from the
    /// consumers, because a consumer reports 0 pending messages while the servers of a cluster choose its leader.
    async fn counts_of(&self, filter: &str) -> Result<HashMap<String, usize>> {
        let stream = self.store.jetstream.get_stream(HELD).await?;
        let mut subjects = stream.info_with_subjects(format!("{HELD_SUBJECT}.{filter}")).await?;
        let mut counts = HashMap::new();
        while let Some(subject) = subjects.next().await {
            let (subject, count) = subject?;
            let key = subject.strip_prefix(HELD_SUBJECT).and_then(|key| key.strip_prefix('.'));
            counts.extend(key.map(|key| (key.to_owned(), count)));
        }
        Ok(counts)
    }

    async fn consumer(&self, key: &str) -> Result<PullConsumer> {
        let name = format!("conversation-{}", key.replace('.', "-"));
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: format!("{HELD_SUBJECT}.{key}"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            // Keeps the order: the next call is delivered when this call is acknowledged.
            max_ack_pending: 1,
            inactive_threshold: IDLE,
            ..pull::Config::default()
        };
        let stream = self.store.jetstream.get_stream(HELD).await?;
        Ok(stream.get_or_create_consumer(&name, config).await?)
    }

    /// Executes a held call, or drops it if it may no longer run.
    async fn handle(&self, key: &str, message: &Message) -> Result<()> {
        let acknowledge = async |kind| {
            message.double_ack_with(kind).await.map_err(|error| anyhow!("acknowledging: {error}"))
        };
        let Ok(call) = serde_json::from_slice::<Call>(&message.payload) else {
            return acknowledge(AckKind::Term).await;
        };
        let Some(conversation) = self.decisions.conversations.get(key).await? else {
            return acknowledge(AckKind::Term).await;
        };
        if conversation.flow == Flow::Paused {
            return acknowledge(AckKind::Nak(None)).await;
        }
        if self.decisions.stop.is_set().await? {
            return acknowledge(AckKind::Nak(Some(OFFLINE_PAUSE))).await;
        }
        if let Some(why) = self.decisions.refusal(&call).await? {
            self.record(&call, Event::Refused, why).await?;
            return acknowledge(AckKind::Ack).await;
        }
        // This is recorded at each try, because the hub of an earlier try may have ended before it recorded the call.
        self.record(&call, Event::Begun, "replayed").await?;
        let outcome = self.execute(&call, message).await;
        match outcome {
            Ok(outcome) => self.record(&call, Event::Done, &outcome.summary).await?,
            Err(Failure::Offline) => {
                return acknowledge(AckKind::Nak(Some(OFFLINE_PAUSE))).await;
            }
            // NATS delivers the call again, and the machine then reports the call's outcome.
            Err(Failure::Silent(why) | Failure::NotBegun(why)) => {
                tracing::info!(why, call = call.id, "a replayed call is asked about again");
                return acknowledge(AckKind::Nak(Some(OFFLINE_PAUSE))).await;
            }
            Err(Failure::Blocked(blocked)) => {
                let why = Failure::Blocked(blocked.clone()).message();
                let held = self.blocked_lines.hold(&call, blocked).await;
                // The store may be full. The later calls must not wait for it.
                let is_held = held.unwrap_or_else(|error| {
                    tracing::warn!(error = %format!("{error:#}"), "a blocked line is not kept");
                    false
                });
                let event = if is_held { Event::Held } else { Event::Refused };
                self.record(&call, event, &why).await?;
            }
            Err(Failure::Refused(why)) => self.record(&call, Event::Refused, &why).await?,
        }
        acknowledge(AckKind::Ack).await
    }

    /// Executes a call. Meanwhile reports progress to NATS, so that no other hub receives the call.
    async fn execute(&self, call: &Call, message: &Message) -> Result<CallOutcome, Failure> {
        let mut outcome = std::pin::pin!(self.executor.execute(call));
        let mut ticks = tokio::time::interval(ACK_WAIT / 3);
        loop {
            tokio::select! {
                biased;
                outcome = &mut outcome => return outcome,
                _ = ticks.tick() => {
                    if let Err(error) = message.ack_with(AckKind::Progress).await {
                        tracing::debug!(%error, "progress was not reported");
                    }
                }
            }
        }
    }

    async fn record(&self, call: &Call, event: Event, outcome: &str) -> Result<()> {
        audit::record(&self.store, call.entry(event, outcome)).await
    }
}
