//! Follows the fleet's machines: which are paired and connected, and what they report.

use std::{sync::atomic::Ordering, time::Duration};

use async_nats::{Client, jetstream::kv::Operation};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::time::{Instant, interval};

use super::{AT_A_TIME, Machines, State, Unreachable, list::Machine, presence::visible_presence};
use crate::{
    hub::bucket::Bucket,
    identity::MachineId,
    protocol::{PRESENCE_TTL, Presence, Reply, Sessions, Verb},
};

/// The maximum time to wait for a machine's answer at each try, when the hub checks the machine's connection. The sum
/// is longer than a presence lasts.
const CHECKS: [Duration; 18] = {
    let mut checks = [Duration::from_secs(2); 18];
    checks[0] = Duration::from_millis(100);
    checks[1] = Duration::from_millis(300);
    checks[2] = Duration::from_millis(600);
    checks
};
/// The time between a start or a reconnection and the check of all machines.
const SETTLING: Duration = Duration::from_millis(500);
/// The interval at which the hub checks that its watches receive changes.
const STALL_CHECK: Duration = Duration::from_secs(10);
/// The maximum age of the last report of any connected machine. After that time, a machine must have renewed its
/// presence, or NATS must have reported that the presence expired.
const OLDEST_REPORT: Duration = PRESENCE_TTL.saturating_add(Duration::from_secs(5));
/// The interval at which the hub checks whether it was disconnected from NATS.
const RECONNECT_CHECK: Duration = Duration::from_secs(1);
/// The pause before revocations are sent again to servers that did not accept them.
const REVOCATION_PAUSE: Duration = Duration::from_secs(60);

impl Machines {
    /// Follows which machines are paired and connected, and what their connectors report, while the future is polled.
    pub async fn follow(&self) {
        loop {
            let presence = follow_bucket(&self.store.presence, |id, presence: Option<Presence>| {
                let presence = presence.map(visible_presence);
                self.change(|state| match presence {
                    Some(presence) => {
                        state.reported_at = Some(Instant::now());
                        let is_news = state.present.get(&id) != Some(&presence);
                        state.present.insert(id, presence);
                        is_news
                    }
                    None => state.present.remove(&id).is_some(),
                });
            });
            let paired = follow_bucket(&self.store.machines, |id, machine| {
                self.change(|state| {
                    match machine {
                        Some(machine) => drop(state.paired.insert(id, machine)),
                        None => drop(state.paired.remove(&id)),
                    }
                    true
                });
                self.pairings.send_replace(());
            });
            // The store may contain the presence of a machine that has disconnected since it reported.
            self.check_all();
            let error = tokio::select! {
                error = presence => error,
                error = paired => error,
                error = self.follow_connections() => error,
                error = self.find_stall() => error,
            };
            tracing::warn!(error = %format!("{error:#}"), "restarting the watches on machines");
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.state.write().reported_at = None;
            if let Err(error) = self.load().await {
                tracing::debug!(error = %format!("{error:#}"), "the machines are not loaded");
            }
        }
    }

    /// Returns when a watch has stalled. While the servers of a cluster choose a leader, a watch may end without an
    /// error.
    async fn find_stall(&self) -> anyhow::Error {
        let (mut ticks, mut differed) = (interval(STALL_CHECK), false);
        loop {
            ticks.tick().await;
            let is_overdue = {
                let state = self.state.read();
                let age = state.reported_at.map(|at| at.elapsed());
                !state.present.is_empty() && age.is_some_and(|age| age > OLDEST_REPORT)
            };
            if is_overdue {
                return anyhow::anyhow!("no machine has renewed its presence");
            }
            let Ok(stored) = self.store.machines.all::<Machine>().await else { continue };
            let stored = stored.iter().map(|(_, machine)| &machine.id);
            let differs = !self.state.read().paired.keys().eq(stored);
            // A single difference may be a change that the watch has not received yet.
            if differs && differed {
                return anyhow::anyhow!("the paired machines are not those in the store");
            }
            differed = differs;
        }
    }

    /// Changes the state, and reports the change to those who wait for it. `change` returns whether it changed
    /// something.
    fn change(&self, change: impl FnOnce(&mut State) -> bool) {
        if change(&mut self.state.write()) {
            self.changes.send_replace(());
        }
    }

    /// Follows the machines' connections until that fails. NATS reports a lost connection immediately, while a presence
    /// only expires later.
    async fn follow_connections(&self) -> anyhow::Error {
        let (client, account) = (self.revocation.system(), self.revocation.account());
        let count = |client: &Client| client.statistics().connects.load(Ordering::Relaxed);
        let connects = || count(client) + count(&self.store.client);
        let mut events = match client.subscribe(format!("$SYS.ACCOUNT.{account}.DISCONNECT")).await
        {
            Ok(events) => events,
            Err(error) => return error.into(),
        };
        let (mut connected, mut ticks) = (connects(), interval(RECONNECT_CHECK));
        let mut revokes_at = Some(Instant::now());
        loop {
            tokio::select! {
                event = events.next() => {
                    let Some(event) = event else { break };
                    let Ok(event) = serde_json::from_slice::<ConnectionEvent>(&event.payload) else {
                        continue;
                    };
                    let (machines, id) = (self.clone(), MachineId::of_key(&event.client.user));
                    tokio::spawn(async move { machines.check(id).await });
                }
                // While this hub was disconnected, it received no events.
                _ = ticks.tick() => {
                    if connects() != connected {
                        connected = connects();
                        revokes_at = Some(Instant::now());
                        self.check_all();
                    }
                    // A server that restarted has forgotten the revocations.
                    if revokes_at.is_some_and(|at| at <= Instant::now()) {
                        let sent = self.revocation.send().await;
                        revokes_at = sent.is_err().then(|| Instant::now() + REVOCATION_PAUSE);
                        if let Err(error) = sent {
                            let error = format!("{error:#}");
                            tracing::warn!(error, "the NATS servers did not get the revocations");
                        }
                    }
                }
            }
        }
        anyhow::anyhow!("the connection to NATS's system account was closed")
    }

    /// Asks a machine that has a presence, and removes the presence if the machine is not connected. The machine may
    /// have another connection besides the connection that ended.
    async fn check(&self, machine: MachineId) {
        if !self.state.read().present.contains_key(&machine) {
            return;
        }
        for patience in CHECKS {
            let asked: Result<Reply<Sessions>, _> =
                self.request_within(&machine, Verb::Sessions, &(), patience).await;
            match asked {
                Err(Unreachable::Offline) => {
                    self.change(|state| state.present.remove(&machine).is_some());
                    return;
                }
                // Another server of a cluster may not have received the end of the connection yet.
                Err(_) => {}
                Ok(_) => return,
            }
        }
    }

    /// Checks all machines that have a presence, in the background.
    fn check_all(&self) {
        let machines = self.clone();
        tokio::spawn(async move {
            // Reports that were sent earlier must arrive first.
            tokio::time::sleep(SETTLING).await;
            let present: Vec<_> = machines.state.read().present.keys().cloned().collect();
            let checks = stream::iter(present).map(|machine| machines.check(machine));
            checks.buffer_unordered(AT_A_TIME).collect::<()>().await;
        });
    }
}

/// An event of NATS about a connection (docs.nats.io, "Monitoring and Events").
#[derive(Deserialize)]
struct ConnectionEvent {
    client: ConnectionClient,
}

#[derive(Deserialize)]
struct ConnectionClient {
    /// The user's public key.
    #[serde(default)]
    user: String,
}

/// Calls `changed` with each value of a bucket whose keys are machines, and with each later change, until that fails.
/// The value is `None` if it was removed.
async fn follow_bucket<T: DeserializeOwned>(
    bucket: &Bucket,
    changed: impl Fn(MachineId, Option<T>),
) -> anyhow::Error {
    let follow = async {
        let mut watch = bucket.0.watch_with_history(">").await?;
        while let Some(entry) = watch.next().await {
            let entry = entry?;
            let Ok(id) = MachineId::try_from(entry.key) else { continue };
            match entry.operation {
                Operation::Put => match serde_json::from_slice(&entry.value) {
                    Ok(value) => changed(id, Some(value)),
                    Err(error) => tracing::debug!(%id, %error, "a value is not understood"),
                },
                _ => changed(id, None),
            }
        }
        anyhow::Ok(())
    };
    follow.await.err().unwrap_or_else(|| anyhow::anyhow!("the watch ended"))
}
