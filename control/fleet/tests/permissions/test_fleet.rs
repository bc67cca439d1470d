//! The fleet that the tests attack.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result, anyhow, ensure};
use async_nats::Client;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use unterm_fleet::{
    Credentials, MachineId,
    connector::{self, Connection},
    hub::{Hub, Listeners, Options},
    nats_server::{Fleet, Folder, NatsServer, VARIABLE, free_port},
    protocol::{Question, QuestionReply},
};

/// The program of the NATS server. `None`: there is no such program, and `UNTERM_NEEDS_ALL` is not set.
pub fn program() -> Result<Option<PathBuf>> {
    let program = std::env::var_os(VARIABLE).map(PathBuf::from).filter(|path| path.exists());
    let Some(program) = program else {
        let why = "there is no NATS server: set UNTERM_NATS_SERVER, or run packaging/test, which installs one";
        ensure!(
            std::env::var_os("UNTERM_NEEDS_ALL").is_none(),
            "UNTERM_NEEDS_ALL is set, and {why}"
        );
        eprintln!("skipped: {why}");
        return Ok(None);
    };
    Ok(Some(program))
}

/// A NATS server, and a hub that pairs machines.
pub struct TestFleet {
    pub folder: TempDir,
    pub fleet: Fleet,
    pub server: NatsServer,
    pub hub: Arc<Hub>,
    /// The hub's address for agents and users.
    pub address: SocketAddr,
    serving: tokio::task::JoinHandle<Result<()>>,
}

impl TestFleet {
    /// Starts a NATS server and a hub. Returns `None` if there is no NATS server.
    pub async fn start() -> Result<Option<Self>> {
        let Some(program) = program()? else { return Ok(None) };
        let folder = tempfile::tempdir()?;
        let fleet = Fleet::new(vec![format!("nats://127.0.0.1:{}", free_port()?)], true)?;
        let server = NatsServer::start(&Folder::new(folder.path()), &fleet, Some(&program))?;
        Ok(Some(Self::serve(folder, fleet, server).await?))
    }

    /// Starts a hub with a NATS server that is already running.
    pub async fn serve(folder: TempDir, fleet: Fleet, server: NatsServer) -> Result<Self> {
        let hub = Arc::new(Hub::connect(&fleet, &Options::default()).await?);
        let listeners = Listeners::bind(([127, 0, 0, 1], 0).into()).await?;
        let address = listeners.local_addr()?;
        let serving = tokio::spawn({
            let hub = hub.clone();
            async move { hub.serve(listeners).await }
        });
        Ok(Self { folder, fleet, server, hub, address, serving })
    }

    /// Pairs a new machine, which has a separate home folder.
    pub async fn machine(&self, name: &str) -> Result<Connection> {
        let home = self.folder.path().join(name);
        // The hub may not listen for pairing requests yet.
        loop {
            let invitation = self.hub.pairing().invite().await?;
            match connector::pair(&home, &invitation, false).await {
                Err(error) if format!("{error:#}").contains("no responders") => {}
                paired => return paired,
            }
        }
    }

    /// The hub's connection to the machines' account, which receives all that anyone publishes there.
    pub async fn observer(&self) -> Result<Client> {
        self.fleet.credentials.connect("observer", None, false).await
    }

    pub async fn stop(self) {
        self.serving.abort();
        self.server.stop().await;
    }
}

pub async fn connect(credentials: &Credentials, inbox: &str) -> Result<Client> {
    credentials.connect("test", Some(inbox), false).await
}

/// Whether a message that `speaker` publishes to `subject` reaches `listener`. `marker` is a subject that the listener
/// may receive. The message with this subject is published last: when it arrives, every earlier message has arrived or
/// was refused. `answered` is a subject on which a request of the listener gets a reply.
pub async fn passes(
    speaker: &Client,
    (listener, answered): (&Client, &str),
    subject: &str,
    marker: &str,
) -> Result<bool> {
    let mut heard = listener.subscribe(subject.to_owned()).await?;
    let mut last = listener.subscribe(marker.to_owned()).await?;
    // The server handles messages in order: when it has answered this request, the subscriptions are active.
    listener.request(answered.to_owned(), "{}".into()).await?;
    speaker.publish(subject.to_owned(), "{}".into()).await?;
    speaker.publish(marker.to_owned(), "{}".into()).await?;
    speaker.flush().await?;
    // The server may deliver one message to the second subscription before the first one, so this waits for the second
    // message.
    let markers = if subject == marker { 2 } else { 1 };
    for _ in 0..markers {
        ensure!(last.next().await.is_some(), "the connection was closed");
    }
    Ok(heard.next().now_or_never().flatten().is_some())
}

/// A machine with its full credentials.
pub struct Attacker {
    pub id: MachineId,
    pub connection: Connection,
    pub client: Client,
}

impl Attacker {
    /// Pairs a new machine, without a connector.
    pub async fn new(place: &TestFleet, name: &str) -> Result<Self> {
        let connection = place.machine(name).await?;
        let id = connection.machine()?;
        let client = connect(connection.credentials(), &format!("_INBOX_{id}")).await?;
        Ok(Self { id, connection, client })
    }

    /// Asks a hub, and returns its answer.
    pub async fn ask(&self, ask: &Question) -> Result<QuestionReply> {
        self.ask_raw(serde_json::to_vec(ask)?).await
    }

    /// Sends these bytes as a question to a hub, and returns its answer.
    pub async fn ask_raw(&self, bytes: Vec<u8>) -> Result<QuestionReply> {
        let subject = format!("fleet.hub.{}", self.id);
        loop {
            let request = self.client.request(subject.clone(), bytes.clone().into());
            match request.await {
                Ok(reply) => return serde_json::from_slice(&reply.payload).context("the answer"),
                // The hub may not know yet that the machine is paired.
                Err(error) if error.kind() == async_nats::RequestErrorKind::NoResponders => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The claims of a NATS token.
pub fn claims(token: &str) -> Result<Value> {
    let body = token.split('.').nth(1).context("no token")?;
    Ok(serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body)?)?)
}

/// A NATS token with these claims, signed with the key of this seed.
pub fn signed(seed: &str, mut claims: Value) -> Result<String> {
    let key = nkeys::KeyPair::from_seed(seed)?;
    claims["iss"] = json!(key.public_key());
    let header = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let encoded = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
    let signature = key.sign(encoded.as_bytes()).map_err(|error| anyhow!("{error}"))?;
    Ok(format!("{encoded}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
