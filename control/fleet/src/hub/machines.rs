//! The machines of the fleet: which machines are paired, what they report, and requests to them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use async_nats::RequestErrorKind;
use futures_util::{StreamExt as _, stream};
use parking_lot::RwLock;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{sync::watch, time::Instant};

use super::{audit, call_states::Calls, output::reason, revocation::Revocation, store::Store};
use crate::{
    identity::MachineId,
    protocol::{Presence, Reply, Session, Sessions, TOOL_PATIENCE, Verb},
    signature::Signer,
};

mod follow;
mod list;
mod presence;

pub use list::{ListedMachine, ListedSession, Machine};
use list::{ShownMachine, listed, listed_session, sorted};
use presence::MOST_SESSIONS;
pub use presence::{LONGEST_NAME, bounded, shown, visible};

/// The maximum time to wait for a machine's list of sessions, when all machines are asked.
const LISTING: Duration = Duration::from_secs(2);
/// The time for which a machine that did not answer in [`LISTING`] is not waited for again, when all machines are asked.
/// Otherwise, one machine that never answers would delay each list.
const SILENCE: Duration = Duration::from_secs(30);
/// The maximum time to wait for a machine to execute a request. It is longer than the time that a connector allows for
/// one call.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// The time that the hub waits for a tool's result in addition to the machine's own time limit.
const MARGIN: Duration = Duration::from_secs(3);
/// The maximum number of machines that are asked at the same time.
const AT_A_TIME: usize = 256;

/// The reason that a machine did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// The machine is not connected.
    #[error("connector_offline")]
    Offline,
    /// The machine is connected, but no reply came.
    #[error("the machine did not answer within {} s; the call may have been carried out", .0.as_secs())]
    Silent(Duration),
    /// The fleet's NATS failed.
    #[error("the fleet's message service failed: {0}")]
    Failed(String),
}

/// The machines of a fleet.
#[derive(Clone)]
pub struct Machines {
    store: Arc<Store>,
    signer: Signer,
    /// Revokes the tokens of removed machines. Its connection receives the machines' connection events.
    revocation: Revocation,
    state: Arc<RwLock<State>>,
    changes: watch::Sender<()>,
    pairings: watch::Sender<()>,
}

/// What [`Machines::follow`] last received. In a large fleet, asking each machine for it would take too long.
#[derive(Default)]
struct State {
    paired: BTreeMap<MachineId, Machine>,
    /// What connected machines report, with texts that are safe to show.
    present: HashMap<MachineId, Presence>,
    /// The time at which a machine last reported.
    reported_at: Option<Instant>,
    /// The times at which machines did not answer when all machines were asked.
    silent: HashMap<MachineId, Instant>,
}

impl Machines {
    /// Creates the list of the machines in a store. `signer` signs the requests to the machines.
    pub fn new(store: Arc<Store>, signer: Signer, revocation: Revocation) -> Self {
        let [changes, pairings] = [(); 2].map(watch::Sender::new);
        Self { store, signer, revocation, state: Arc::default(), changes, pairings }
    }

    /// Signals that a machine was paired, removed, connected or disconnected, or reported something new.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Signals that a machine was paired or removed.
    pub fn pairings(&self) -> watch::Receiver<()> {
        self.pairings.subscribe()
    }

    /// The paired machines, as of the last change that this hub received.
    pub fn paired(&self) -> BTreeSet<MachineId> {
        self.state.read().paired.keys().cloned().collect()
    }

    /// The paired machine with this id.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn find(&self, id: &MachineId) -> Result<Option<Machine>> {
        self.store.machines.get(id.as_str()).await
    }

    /// All paired machines, from the store.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn load(&self) -> Result<Vec<Machine>> {
        let all = self.store.machines.all::<Machine>().await?;
        let all: Vec<_> = all.into_iter().map(|(_, machine)| machine).collect();
        self.state.write().paired =
            all.iter().map(|machine| (machine.id.clone(), machine.clone())).collect();
        self.pairings.send_replace(());
        Ok(all)
    }

    /// Whether a machine is paired, as of the last change that this hub received.
    pub fn is_paired(&self, id: &MachineId) -> bool {
        self.state.read().paired.contains_key(id)
    }

    /// Removes a machine from the fleet, and revokes its tokens. From then on, hubs send it no requests and answer
    /// none of its questions.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn remove(&self, id: &MachineId) -> Result<bool> {
        let machine = self.find(id).await?;
        let is_removed = self.store.machines.take(id.as_str()).await?;
        if is_removed {
            if let Some(machine) = machine {
                self.revocation.revoke(&machine.key).await?;
            }
            audit::changed(&self.store, "machine-remove", id.as_str()).await?;
        }
        Ok(is_removed)
    }

    /// The machines for which `is_listed` returns true, with what this hub last received from them.
    pub async fn list(
        &self,
        is_listed: impl Fn(&MachineId) -> bool,
    ) -> Vec<ListedMachine<ListedSession>> {
        let machines = self.known(|machine| is_listed(&machine.id)).await;
        let listed = machines
            .iter()
            .map(|(machine, presence)| listed(machine, presence.as_ref(), listed_session));
        sorted(listed.collect())
    }

    /// All machines, as the dashboard shows them.
    pub async fn list_all(&self) -> Vec<ShownMachine> {
        let machines =
            self.known(|_| true).await.into_iter().map(|(machine, presence)| ShownMachine {
                machine: listed(&machine, presence.as_ref(), Session::clone),
                platform: machine.platform,
                paired_at: machine.paired_at,
            });
        machines.collect()
    }

    /// Lists machines like [`Self::list`], but asks each machine. For a hub that does not follow its machines.
    pub async fn ask_all(&self, machines: Vec<Machine>) -> Vec<ListedMachine<ListedSession>> {
        let asked = stream::iter(machines).map(|machine| async move {
            let presence = self.ask(&machine.id).await;
            listed(&machine, presence.as_ref(), listed_session)
        });
        sorted(asked.buffer_unordered(AT_A_TIME).collect().await)
    }

    /// The paired machines for which `is_wanted` returns true, with their presences. The presence is `None` if the
    /// machine is not connected. Asks each machine without a presence, because the presence may arrive late.
    async fn known(
        &self,
        is_wanted: impl Fn(&Machine) -> bool,
    ) -> Vec<(Machine, Option<Presence>)> {
        let known: Vec<_> = {
            let state = self.state.read();
            let wanted = state.paired.values().filter(|machine| is_wanted(machine));
            let presence = |of: &Machine| state.present.get(&of.id).cloned();
            wanted.map(|of| (of.clone(), presence(of))).collect()
        };
        let asked = stream::iter(known).map(|(machine, presence)| async move {
            let presence = match presence {
                Some(presence) => Some(presence),
                None => self.ask(&machine.id).await,
            };
            (machine, presence)
        });
        asked.buffered(AT_A_TIME).collect().await
    }

    /// Asks a machine for its sessions. Returns `None` if the machine is not connected.
    async fn ask(&self, machine: &MachineId) -> Option<Presence> {
        let is_recent = |at: &Instant| at.elapsed() < SILENCE;
        if self.state.read().silent.get(machine).is_some_and(is_recent) {
            return Some(Presence::default());
        }
        match self.request_within(machine, Verb::Sessions, &(), LISTING).await {
            Ok(Reply::Done(Sessions { sessions })) => {
                let sessions = sessions.into_iter().take(MOST_SESSIONS).map(visible).collect();
                Some(Presence { sessions, ..Presence::default() })
            }
            Err(Unreachable::Offline) => None,
            // The machine is connected, but busy.
            answer => {
                if matches!(answer, Err(Unreachable::Silent(_))) {
                    let silent = &mut self.state.write().silent;
                    silent.retain(|_, at| is_recent(at));
                    silent.insert(machine.clone(), Instant::now());
                }
                Some(Presence::default())
            }
        }
    }

    /// Sends a request to a machine.
    ///
    /// # Errors
    /// The machine is not connected or does not answer.
    pub async fn request<T: DeserializeOwned>(
        &self,
        machine: &MachineId,
        verb: Verb,
        request: &impl Serialize,
    ) -> Result<Reply<T>, Unreachable> {
        let patience = if verb == Verb::Tool { TOOL_PATIENCE + MARGIN } else { PATIENCE };
        self.request_within(machine, verb, request, patience).await
    }

    async fn request_within<T: DeserializeOwned>(
        &self,
        machine: &MachineId,
        verb: Verb,
        request: &impl Serialize,
        patience: Duration,
    ) -> Result<Reply<T>, Unreachable> {
        let failed = |error: &dyn ToString| Unreachable::Failed(error.to_string());
        let payload = serde_json::to_vec(request).map_err(|error| failed(&error))?;
        let subject = verb.subject(machine);
        let headers = self.signer.headers(&subject, &payload).map_err(|error| failed(&error))?;
        let request = async_nats::Request::new().payload(payload.into()).headers(headers);
        let request = request.timeout(Some(patience));
        match self.store.client.send_request(subject, request).await {
            // The error quotes what the machine sent, so it is made safe to show.
            Ok(reply) => serde_json::from_slice(&reply.payload)
                .map_err(|error| Unreachable::Failed(reason(&error.to_string()))),
            Err(error) => Err(match error.kind() {
                RequestErrorKind::NoResponders => Unreachable::Offline,
                RequestErrorKind::TimedOut => Unreachable::Silent(patience),
                _ => failed(&error),
            }),
        }
    }

    /// The calls that hubs sent to machines.
    pub fn calls(&self) -> &Calls {
        &self.store.calls
    }
}
