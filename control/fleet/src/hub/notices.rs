//! Notices of changes in the fleet, for pages of the dashboard. Follows the store only while a page listens.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, bail};
use async_nats::jetstream::{
    consumer::{DeliverPolicy, pull},
    kv,
};
use futures_util::StreamExt as _;
use tokio::{
    sync::{Notify, broadcast, watch},
    time::interval,
};

use super::{
    machines::Machines,
    store::{AUDIT, Store},
};

/// The maximum number of notices that wait for the slowest page. A page that is slower misses notices.
const WAITING: usize = 256;
/// The minimum time between two notices about machines.
const APART: Duration = Duration::from_millis(200);
/// The interval at which to check whether a page still listens.
const CHECK: Duration = Duration::from_secs(5);

/// A part of the fleet's state that a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Machines and their sessions.
    Machines,
    /// Conversations.
    Conversations,
    /// Tokens.
    Tokens,
    /// Passkeys.
    Passkeys,
    /// The emergency stop.
    Stop,
    /// The refused lines that wait for a user's decision.
    Lines,
}

impl Topic {
    /// The name of the topic, as pages receive it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Machines => "machines",
            Self::Conversations => "conversations",
            Self::Tokens => "tokens",
            Self::Passkeys => "passkeys",
            Self::Stop => "stop",
            Self::Lines => "lines",
        }
    }
}

/// A notice.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A part of the state has changed.
    Changed(Topic),
    /// A new entry of the audit log, as JSON.
    Call(Arc<str>),
}

/// The notices of a fleet.
#[derive(Clone)]
pub struct Notices {
    store: Arc<Store>,
    machines: Machines,
    sender: broadcast::Sender<Notice>,
    wanted: Arc<Notify>,
}

impl Notices {
    /// Creates the notices of changes in a store, and of changes of its machines.
    pub fn new(store: Arc<Store>, machines: Machines) -> Self {
        let sender = broadcast::Sender::new(WAITING);
        Self { store, machines, sender, wanted: Arc::default() }
    }

    /// Returns a receiver of all notices from now on.
    pub fn listen(&self) -> broadcast::Receiver<Notice> {
        let notices = self.sender.subscribe();
        self.wanted.notify_one();
        notices
    }

    /// Serves pages while the future is polled.
    pub async fn serve(&self) {
        loop {
            self.wanted.notified().await;
            while self.sender.receiver_count() > 0 {
                if let Err(error) = self.follow().await {
                    tracing::warn!(error = %format!("{error:#}"), "changes are not followed");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    /// Follows the store until no page listens.
    async fn follow(&self) -> Result<()> {
        let Store { conversations, tokens, passkeys, switches, blocked_lines, .. } = &*self.store;
        let conversations = conversations.0.watch(">").await?;
        let tokens = tokens.0.watch(">").await?;
        let passkeys = passkeys.0.watch(">").await?;
        let switches = switches.0.watch(">").await?;
        let lines = blocked_lines.0.watch(">").await?;
        let machines = self.machines.changes();
        let calls = self.store.jetstream.get_stream(AUDIT).await?;
        let config = pull::OrderedConfig {
            deliver_policy: DeliverPolicy::New,
            ..pull::OrderedConfig::default()
        };
        let calls = calls.create_consumer(config).await?.messages().await?;
        // From here on, no change is missed. Each page loads each topic once.
        use Topic::{Conversations, Lines, Machines, Passkeys, Stop, Tokens};
        for topic in [Machines, Conversations, Tokens, Passkeys, Stop, Lines] {
            self.changed(topic);
        }
        tokio::select! {
            end = self.follow_machines(machines) => end,
            end = self.follow_bucket(conversations, Topic::Conversations) => end,
            end = self.follow_bucket(tokens, Topic::Tokens) => end,
            end = self.follow_bucket(passkeys, Topic::Passkeys) => end,
            end = self.follow_bucket(switches, Topic::Stop) => end,
            end = self.follow_bucket(lines, Topic::Lines) => end,
            end = self.follow_calls(calls) => end,
            () = self.unheard() => Ok(()),
        }
    }

    async fn unheard(&self) {
        let mut ticks = interval(CHECK);
        while self.sender.receiver_count() > 0 {
            ticks.tick().await;
        }
    }

    fn changed(&self, topic: Topic) {
        // Sending fails if no page listens.
        let _ = self.sender.send(Notice::Changed(topic));
    }

    async fn follow_bucket(&self, mut watch: kv::Watch, topic: Topic) -> Result<()> {
        while let Some(entry) = watch.next().await {
            entry?;
            self.changed(topic);
        }
        bail!("the watch ended")
    }

    async fn follow_machines(&self, mut changes: watch::Receiver<()>) -> Result<()> {
        loop {
            changes.changed().await?;
            self.changed(Topic::Machines);
            // A machine may change often, so the changes of this time become one notice.
            tokio::time::sleep(APART).await;
        }
    }

    async fn follow_calls(&self, mut calls: pull::Ordered) -> Result<()> {
        while let Some(message) = calls.next().await {
            let message = message?;
            if let Ok(entry) = std::str::from_utf8(&message.payload) {
                let _ = self.sender.send(Notice::Call(entry.into()));
            }
        }
        bail!("the log ended")
    }
}
