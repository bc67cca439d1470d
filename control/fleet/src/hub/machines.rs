//! The machines of the fleet: which machines are paired, what they report, and requests to them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::Result;
use async_nats::{Client, RequestErrorKind, jetstream::kv::Operation};
use futures_util::{StreamExt as _, stream};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    sync::watch,
    time::{Instant, interval},
};

use super::{
    audit,
    bucket::Bucket,
    calls::Calls,
    output::{disarmed, reason},
    revocation::Revocation,
    store::Store,
};
use crate::{
    identity::MachineId,
    protocol::{self, PRESENCE_TTL, Presence, Reply, Session, Sessions, TOOL_PATIENCE, Verb},
    signature::Signer,
};

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
/// The maximum number of machines that are asked at the same time.
const AT_A_TIME: usize = 256;
/// The maximum number of AI programs of a machine.
const MOST_PROGRAMS: usize = 100;
/// The maximum number of characters of a session's title and of its working directory.
const LONGEST_TITLE: usize = 1000;
/// The maximum number of sessions of a machine. A connector does not list more.
const MOST_SESSIONS: usize = 200;
/// The maximum number of characters of a machine's name.
pub const LONGEST_NAME: usize = 100;

/// A paired machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The id of the machine.
    pub id: MachineId,
    /// The public key of the machine.
    pub key: String,
    /// The name that the machine had when it was paired.
    pub name: String,
    /// The platform: `linux`, `macos` or `windows`.
    pub platform: String,
    /// The time at which the machine was paired (RFC 3339, UTC).
    pub paired_at: String,
}

/// A machine, as it is shown to agents.
#[derive(Clone, Debug, Serialize)]
pub struct Listed<S> {
    /// The id of the machine.
    pub id: MachineId,
    /// The name of the machine.
    pub name: String,
    /// `connected` or `offline`.
    pub status: &'static str,
    /// The AI programs on the machine, by their names.
    pub scan: BTreeMap<String, Scanned>,
    /// The sessions of the machine.
    pub sessions: Vec<S>,
}

/// A machine, as the dashboard shows it.
#[derive(Clone, Debug, Serialize)]
pub struct ShownMachine {
    /// The fields that agents see, with more details of the sessions.
    #[serde(flatten)]
    machine: Listed<Session>,
    /// `linux`, `macos` or `windows`.
    platform: String,
    /// The time at which the machine was paired (RFC 3339, UTC).
    paired_at: String,
}

/// An AI program, as it is shown to agents.
#[derive(Clone, Debug, Serialize)]
pub struct Scanned {
    version: String,
    running: bool,
}

/// A session in the list of machines, as it is shown to agents.
#[derive(Clone, Debug, Serialize)]
pub struct ListedSession {
    sid: String,
    ai: Option<String>,
    cwd: String,
}

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

    /// Removes a machine from the fleet: hubs ask it nothing and answer it nothing more, and its tokens are revoked.
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
    pub async fn list(&self, is_listed: impl Fn(&MachineId) -> bool) -> Vec<Listed<ListedSession>> {
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
    pub async fn ask_all(&self, machines: Vec<Machine>) -> Vec<Listed<ListedSession>> {
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
    /// have another connection than the one that ended.
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

fn sorted<S>(mut all: Vec<Listed<S>>) -> Vec<Listed<S>> {
    all.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    all
}

/// A machine for a list. It counts as connected if it has a presence. `show` creates the list's form of a session.
fn listed<S>(machine: &Machine, presence: Option<&Presence>, show: fn(&Session) -> S) -> Listed<S> {
    let name = presence.map(|presence| &presence.name).filter(|name| !name.is_empty());
    let scanned = |(name, program): (&String, &protocol::Program)| {
        let scanned = Scanned { version: program.version.clone(), running: program.running };
        (name.clone(), scanned)
    };
    Listed {
        id: machine.id.clone(),
        name: name.unwrap_or(&machine.name).clone(),
        status: if presence.is_some() { "connected" } else { "offline" },
        scan: presence.iter().flat_map(|of| &of.scan).map(scanned).collect(),
        sessions: presence.iter().flat_map(|of| &of.sessions).map(show).collect(),
    }
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

fn listed_session(session: &Session) -> ListedSession {
    let Session { sid, ai, cwd, .. } = session.clone();
    ListedSession { sid, ai, cwd }
}

/// The report of a machine, shortened to the limits of a view. Sessions are left out if the report has more than `most`
/// bytes of JSON.
///
/// # Errors
/// The report can't be written as JSON.
pub fn bounded(presence: Presence, most: usize) -> Result<Presence> {
    let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    let scan = presence.scan.into_iter().take(MOST_PROGRAMS).map(|(name, program)| {
        let binary = cut(&program.binary, LONGEST_TITLE);
        let version = cut(&program.version, LONGEST_NAME);
        (cut(&name, LONGEST_NAME), protocol::Program { binary, version, ..program })
    });
    let sessions = presence.sessions.into_iter().take(MOST_SESSIONS).map(|session| Session {
        sid: cut(&session.sid, LONGEST_NAME),
        ai: session.ai.map(|ai| cut(&ai, LONGEST_NAME)),
        cwd: cut(&session.cwd, LONGEST_TITLE),
        title: cut(&session.title, LONGEST_TITLE),
        instance: cut(&session.instance, LONGEST_NAME),
    });
    let mut bounded = Presence {
        name: cut(&presence.name, LONGEST_NAME),
        platform: cut(&presence.platform, LONGEST_NAME),
        version: cut(&presence.version, LONGEST_NAME),
        scan: scan.collect(),
        sessions: sessions.collect(),
    };
    let length =
        |presence: &Presence| Ok::<_, serde_json::Error>(serde_json::to_vec(presence)?.len());
    while length(&bounded)? > most && !bounded.sessions.is_empty() {
        bounded.sessions.truncate(bounded.sessions.len() / 2);
    }
    if length(&bounded)? > most {
        bounded.scan.clear();
    }
    Ok(bounded)
}

/// The report of a machine, with texts that are safe to show.
fn visible_presence(presence: Presence) -> Presence {
    let scan = presence.scan.into_iter().take(MOST_PROGRAMS).map(|(name, program)| {
        let version = shown(&program.version, LONGEST_NAME);
        (shown(&name, LONGEST_NAME), protocol::Program { version, ..program })
    });
    Presence {
        name: shown(&presence.name, LONGEST_NAME),
        scan: scan.collect(),
        sessions: presence.sessions.into_iter().take(MOST_SESSIONS).map(visible).collect(),
        ..presence
    }
}

/// A session with texts that are safe to show, whatever its connector sent.
pub fn visible(session: Session) -> Session {
    let Session { sid, ai, cwd, title, instance } = session;
    Session {
        sid: shown(&sid, LONGEST_NAME),
        ai: ai.map(|ai| shown(&ai, LONGEST_NAME)),
        cwd: shown(&cwd, LONGEST_TITLE),
        title: shown(&title, LONGEST_TITLE),
        instance: shown(&instance, LONGEST_NAME),
    }
}

/// A machine's text that is safe to show, in one line of at most `most` characters.
pub fn shown(text: &str, most: usize) -> String {
    let line: String = text.chars().take(most).map(|c| if c == '\n' { ' ' } else { c }).collect();
    disarmed(&unterm_control::escaped(&line))
}
