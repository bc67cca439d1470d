//! The machines of the fleet: which are paired, what they say of themselves, and requests to them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use async_nats::{RequestErrorKind, jetstream::kv::Operation};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::{StreamExt as _, stream};
use nkeys::{KeyPair, KeyPairType};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    output::disarmed,
    store::{Bucket, INVITATION_AGE, Store, now},
};
use crate::{
    connector::{Invitation, PairReply, PairRequest},
    digest::random,
    identity::{self, MachineId},
    jwt::{self, Permissions},
    nats::Credentials,
    nats_server::Fleet,
    protocol::{self, Claim, Presence, Reply, Session, Sessions, Verb},
    signature::Signer,
};

/// How long a machine may take to list its sessions, when all are asked.
const LISTING: Duration = Duration::from_secs(2);
/// How long a machine may take to carry out a request. Longer than a connector allows for one call.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// How many machines are asked at a time.
const AT_A_TIME: usize = 256;
/// The most characters of a machine's name.
const LONGEST_NAME: usize = 100;

/// A paired machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Its id.
    pub id: MachineId,
    /// Its public key.
    pub key: String,
    /// Its name, as of its pairing.
    pub name: String,
    /// Its platform.
    pub platform: String,
    /// When it was paired (RFC 3339, UTC).
    pub paired_at: String,
}

/// A machine as agents see it.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its id.
    pub id: MachineId,
    /// Its name.
    pub name: String,
    /// `connected` or `offline`.
    pub status: &'static str,
    /// The AI programs on it.
    pub scan: BTreeMap<String, Scanned>,
    /// Its sessions.
    pub sessions: Vec<ListedSession>,
}

/// An AI program as agents see it.
#[derive(Clone, Debug, Serialize)]
pub struct Scanned {
    version: String,
    running: bool,
}

/// A session as agents see it in the list of machines.
#[derive(Clone, Debug, Serialize)]
pub struct ListedSession {
    sid: String,
    ai: Option<String>,
    cwd: String,
}

/// Why a machine did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// It is not connected.
    #[error("connector_offline")]
    Offline,
    /// It is connected, but its reply did not come.
    #[error("the machine did not answer within {} s; the call may have been carried out", PATIENCE.as_secs())]
    Silent,
    /// The fleet's NATS failed.
    #[error("the fleet's message service failed: {0}")]
    Failed(String),
}

/// The machines.
#[derive(Clone)]
pub struct Machines {
    store: Store,
    signer: Signer,
    present: Arc<RwLock<HashMap<MachineId, Presence>>>,
    /// The paired machines, as [`Self::follow`] last heard. A list of keys in the store costs a consumer of NATS each time.
    paired: Arc<RwLock<BTreeMap<MachineId, Machine>>>,
}

impl Machines {
    /// Those in a store. `signer` signs the requests to them.
    pub fn new(store: Store, signer: Signer) -> Self {
        Self { store, signer, present: Arc::default(), paired: Arc::default() }
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
        *self.paired.write() =
            all.iter().map(|machine| (machine.id.clone(), machine.clone())).collect();
        Ok(all)
    }

    /// All paired machines, as of the last change that this hub has heard of.
    pub fn paired(&self) -> Vec<Machine> {
        self.paired.read().values().cloned().collect()
    }

    /// Removes a machine from the fleet: the hub asks it nothing more.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn remove(&self, id: &MachineId) -> Result<bool> {
        self.store.machines.take(id.as_str()).await
    }

    /// Whether a machine is connected, and its sessions. Asks the machine, because the last presence may be out of date.
    pub async fn list(&self, machines: Vec<Machine>) -> Vec<Listed> {
        let asked = stream::iter(machines).map(|machine| self.listed(machine));
        let mut all: Vec<Listed> = asked.buffer_unordered(AT_A_TIME).collect().await;
        all.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        all
    }

    async fn listed(&self, machine: Machine) -> Listed {
        let asked = self.request_within(&machine.id, Verb::Sessions, &(), LISTING).await;
        let presence = self.present.read().get(&machine.id).cloned().unwrap_or_default();
        let sessions = match asked {
            Ok(Reply::Done(Sessions { sessions })) => Some(sessions),
            Err(Unreachable::Offline) => None,
            // It is connected, and busy.
            _ => Some(presence.sessions),
        };
        let status = if sessions.is_some() { "connected" } else { "offline" };
        let name = if presence.name.is_empty() { &machine.name } else { &presence.name };
        Listed {
            name: shown(name, LONGEST_NAME),
            id: machine.id,
            status,
            scan: match &sessions {
                Some(_) => presence.scan.into_iter().map(scanned).collect(),
                None => BTreeMap::new(),
            },
            sessions: sessions.into_iter().flatten().map(listed_session).collect(),
        }
    }

    /// Asks a machine.
    ///
    /// # Errors
    /// The machine is not connected or does not answer.
    pub async fn request<T: DeserializeOwned>(
        &self,
        machine: &MachineId,
        verb: Verb,
        request: &impl Serialize,
    ) -> Result<Reply<T>, Unreachable> {
        self.request_within(machine, verb, request, PATIENCE).await
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
            Ok(reply) => serde_json::from_slice(&reply.payload).map_err(|error| failed(&error)),
            Err(error) => Err(match error.kind() {
                RequestErrorKind::NoResponders => Unreachable::Offline,
                RequestErrorKind::TimedOut => Unreachable::Silent,
                _ => failed(&error),
            }),
        }
    }

    /// The outcome of a call that a machine has begun.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn claim(&self, machine: &MachineId, call: &str) -> Result<Option<Claim>> {
        self.store.calls.get(&protocol::call_key(machine, call)).await
    }

    /// Follows which machines are paired, and what connectors say of them, for as long as it is polled.
    pub async fn follow(&self) {
        loop {
            let presence = follow_bucket(&self.store.presence, |id, presence| {
                let mut present = self.present.write();
                match presence {
                    Some(presence) => drop(present.insert(id, presence)),
                    None => drop(present.remove(&id)),
                }
            });
            let paired = follow_bucket(&self.store.machines, |id, machine| {
                let mut paired = self.paired.write();
                match machine {
                    Some(machine) => drop(paired.insert(id, machine)),
                    None => drop(paired.remove(&id)),
                }
            });
            let error = tokio::select! {
                error = presence => error,
                error = paired => error,
            };
            tracing::warn!(error = %format!("{error:#}"), "the machines are not followed");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Reports the values of a bucket whose keys are machines, and their changes, until that fails. `None`: the value is gone.
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

fn scanned((name, program): (String, protocol::Program)) -> (String, Scanned) {
    let version = shown(&program.version, LONGEST_NAME);
    (shown(&name, LONGEST_NAME), Scanned { version, running: program.running })
}

fn listed_session(session: Session) -> ListedSession {
    let Session { sid, ai, cwd, .. } = visible(session);
    ListedSession { sid, ai, cwd }
}

/// A session with all texts safe to show, whatever its connector sent.
pub fn visible(session: Session) -> Session {
    const LONGEST: usize = 1000;
    let Session { sid, ai, cwd, title, instance } = session;
    Session {
        sid: shown(&sid, LONGEST_NAME),
        ai: ai.map(|ai| shown(&ai, LONGEST_NAME)),
        cwd: shown(&cwd, LONGEST),
        title: shown(&title, LONGEST),
        instance: shown(&instance, LONGEST_NAME),
    }
}

fn shown(text: &str, most: usize) -> String {
    let line: String = text.chars().take(most).map(|c| if c == '\n' { ' ' } else { c }).collect();
    disarmed(&unterm_control::escaped(&line))
}

/// Pairs machines: signs their permissions.
pub struct Pairing {
    store: Store,
    account: KeyPair,
    servers: Credentials,
    hub: String,
}

/// An invitation in the store.
#[derive(Serialize, Deserialize)]
struct Invited {
    at: String,
}

impl Pairing {
    /// For a fleet.
    ///
    /// # Errors
    /// The fleet's keys are damaged.
    pub fn new(store: Store, fleet: &Fleet, hub: String) -> Result<Self> {
        let account = identity::key(&fleet.account_seed)?;
        Ok(Self { store, account, servers: fleet.credentials.clone(), hub })
    }

    /// Makes an invitation for one machine.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn invite(&self) -> Result<Invitation> {
        let number = random::<8>()?;
        let seed = identity::new_seed(KeyPairType::User)?;
        let permissions = Permissions {
            publish: vec![Invitation::subject(&number)],
            subscribe: vec![format!("{}.>", Invitation::inbox(&number))],
        };
        let key = identity::key(&seed)?.public_key();
        let lifetime = Some(INVITATION_AGE);
        let jwt = jwt::user(&self.account, &key, "invitation", Some(&permissions), lifetime)?;
        self.store.invitations.put(&number, &Invited { at: now() }).await?;
        // A file of certificates is this machine's.
        let credentials = Credentials { jwt, seed, certificates: None, ..self.servers.clone() };
        Ok(Invitation { number, credentials })
    }

    /// Pairs the machine with this public key. Returns the token of its permissions.
    ///
    /// # Errors
    /// Another key has the same id, or NATS does not store it.
    pub async fn pair(&self, key: &str, name: &str, platform: &str) -> Result<String> {
        ensure!(identity::is_user_key(key), "this is no public key of a user");
        let id = MachineId::of_key(key);
        let machine = Machine {
            id: id.clone(),
            key: key.to_owned(),
            name: shown(name, LONGEST_NAME),
            platform: shown(platform, LONGEST_NAME),
            paired_at: now(),
        };
        if !self.store.machines.create(id.as_str(), &machine).await? {
            let paired: Option<Machine> = self.store.machines.get(id.as_str()).await?;
            let is_same = paired.is_some_and(|paired| paired.key == key);
            ensure!(is_same, "another machine has the id {id}");
        }
        jwt::user(&self.account, key, id.as_str(), Some(&protocol::permissions(&id)), None)
    }

    /// Answers requests of machines to be paired, for as long as it is polled. Of several hubs, one answers.
    ///
    /// # Errors
    /// The connection was closed.
    pub async fn serve(&self) -> Result<()> {
        let subject = Invitation::subject("*");
        let client = &self.store.client;
        let mut requests = client.queue_subscribe(subject, "hubs".to_owned()).await?;
        while let Some(request) = requests.next().await {
            let Some(reply) = request.reply.clone() else { continue };
            let number = request.subject.rsplit('.').next().unwrap_or_default();
            let answer = match self.accept(number, &request.payload).await {
                Ok(jwt) => PairReply::Paired { jwt, hub: self.hub.clone() },
                Err(error) => {
                    tracing::warn!(error = %format!("{error:#}"), "a machine was not paired");
                    PairReply::Refused(format!("{error:#}"))
                }
            };
            client.publish(reply, serde_json::to_vec(&answer)?.into()).await?;
        }
        bail!("the connection to NATS was closed")
    }

    async fn accept(&self, number: &str, request: &[u8]) -> Result<String> {
        let request: PairRequest = serde_json::from_slice(request)?;
        let key = KeyPair::from_public_key(&request.key)
            .map_err(|error| anyhow::anyhow!("the machine's key: {error}"))?;
        let proof = URL_SAFE_NO_PAD.decode(&request.proof).context("the proof")?;
        let is_proven = key.verify(number.as_bytes(), &proof).is_ok();
        ensure!(is_proven, "the machine did not sign with the key that it claims");
        let is_open = self.store.invitations.take(number).await?;
        ensure!(is_open, "the invitation was used or has expired");
        self.pair(&request.key, &request.name, &request.platform).await
    }
}
