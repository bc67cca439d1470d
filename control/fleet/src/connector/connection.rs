//! A machine's connection to a hub: the pairing, and the data that the machine stores.
//!
//! Owns the machine's key, and a file with the data from the hub: the address of NATS, and the token with the machine's
//! permissions. The private key never leaves the machine. An invitation contains a NATS user that can only pair, and
//! that expires.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use nkeys::KeyPairType;
use serde::{Deserialize, Serialize};

use super::hub_address::HubAddress;
use crate::{
    files,
    identity::{self, MachineId, machine_name},
    nats::Credentials,
    protocol::Tokens,
};

/// The beginning of every invitation.
const PREFIX: &str = "unterm-fleet-";

/// An invitation, which the user gets from a hub to pair one machine.
#[derive(Clone, Serialize, Deserialize)]
pub struct Invitation {
    /// The invitation's number. It is valid for one pairing.
    pub number: String,
    /// The credentials of a NATS user that can only pair.
    pub credentials: Credentials,
}

impl Invitation {
    /// The invitation as one word.
    ///
    /// # Errors
    /// Never in practice, because an invitation is plain data.
    pub fn to_text(&self) -> Result<String> {
        Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(serde_json::to_vec(self)?)))
    }

    /// Parses an invitation.
    ///
    /// # Errors
    /// The text is not an invitation.
    pub fn of_text(text: &str) -> Result<Self> {
        let read = || {
            let bytes = URL_SAFE_NO_PAD.decode(text.trim().strip_prefix(PREFIX)?).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        read().with_context(|| {
            format!("this is not a valid invitation ({PREFIX}…): print one on the hub with `unterm-hub invite`")
        })
    }

    /// The subject of the request to pair by this invitation.
    pub fn subject(number: &str) -> String {
        format!("fleet.pair.{number}")
    }

    /// The prefix of the subjects for the reply to that request.
    pub fn inbox(number: &str) -> String {
        format!("_INBOX_pair_{number}")
    }
}

/// A machine's request to be paired.
#[derive(Serialize, Deserialize)]
pub struct PairRequest {
    /// The machine's public key.
    pub key: String,
    /// The signature of the invitation's number, in base64. It proves that the machine has the private key.
    pub proof: String,
    /// The machine's name.
    pub name: String,
    /// The machine's platform.
    pub platform: String,
    /// Whether the machine's connector can renew its token.
    #[serde(default)]
    pub renews: bool,
}

/// The hub's reply.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairReply {
    /// The machine was paired. Contains the machine's tokens, and the hub's name.
    Paired {
        /// The tokens for NATS.
        #[serde(flatten)]
        tokens: Tokens,
        /// The hub's name.
        hub: String,
    },
    /// The machine was not paired. Contains the reason.
    Refused(String),
}

/// The path of a hub's address to which a machine sends its request to pair by a code.
pub const PAIR: &str = "/pair";

/// The request of a machine to pair by a code.
#[derive(Serialize, Deserialize)]
pub struct CodedRequest {
    /// The code, as the user typed it.
    pub code: String,
    /// The rest of the request. Its proof is a signature of the code.
    #[serde(flatten)]
    pub request: PairRequest,
}

/// The hub's reply to a request to pair by a code.
#[derive(Serialize, Deserialize)]
pub struct CodedReply {
    /// The answer: whether the machine was paired.
    pub answer: PairReply,
    /// The NATS servers that the machine must connect to.
    pub servers: Vec<String>,
}

/// The data that a machine stores about a hub.
#[derive(Clone, Serialize, Deserialize)]
pub struct Connection {
    hub: String,
    credentials: Credentials,
    /// The agent token that the connector uses at instances.
    #[serde(default)]
    pub(super) agent_token: Option<String>,
    /// Whether the hub may only read.
    #[serde(default)]
    pub(super) is_read_only: bool,
    #[serde(skip)]
    pub(super) path: PathBuf,
}

/// The folder of the files about hubs.
fn folder(home: &Path) -> PathBuf {
    home.join("fleet/machine")
}

#[derive(Serialize, Deserialize)]
struct Key {
    seed: String,
}

/// The seed of the machine's key. The first call creates it.
///
/// # Errors
/// The file can't be read or written.
pub fn machine_key(home: &Path) -> Result<String> {
    let folder = folder(home);
    files::create_folder(&folder)?;
    let _lock = files::wait_for_lock(&folder.join("key.lock"))?;
    let path = folder.join("key.json");
    if let Some(Key { seed }) = files::read_json(&path)? {
        return Ok(seed);
    }
    let key = Key { seed: identity::new_seed(KeyPairType::User)? };
    files::write_json(&path, &key)?;
    Ok(key.seed)
}

impl Connection {
    /// Stores the data that a hub gave this machine.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn create(
        home: &Path,
        hub: &str,
        credentials: Credentials,
        is_read_only: bool,
    ) -> Result<Self> {
        let path = folder(home).join("hub.json");
        let connection =
            Self { hub: hub.to_owned(), credentials, agent_token: None, is_read_only, path };
        connection.save()?;
        Ok(connection)
    }

    /// The connection of this home, if the machine is paired.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read(home: &Path) -> Result<Option<Self>> {
        let path = folder(home).join("hub.json");
        let read: Option<Self> = files::read_json(&path)?;
        Ok(read.map(|connection| Self { path, ..connection }))
    }

    /// Stores new NATS tokens for the same servers. The user's decisions about the hub stay, for example that its agent
    /// token is revoked.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn renew(&mut self, credentials: Credentials) -> Result<()> {
        self.credentials = credentials.clone();
        self.change_file(|stored| stored.credentials = credentials)
    }

    /// Stores the agent token.
    pub(super) fn keep_agent_token(&mut self, token: &str) -> Result<()> {
        self.agent_token = Some(token.to_owned());
        self.change_file(|stored| stored.agent_token = Some(token.to_owned()))
    }

    fn save(&self) -> Result<()> {
        files::write_json(&self.path, self)
    }

    /// Changes a part of this connection's file. The rest of the file stays, because other parts of the connector may
    /// have changed it.
    fn change_file(&self, change: impl FnOnce(&mut Self)) -> Result<()> {
        let _lock = files::wait_for_lock(&self.path.with_extension("lock"))?;
        let stored: Option<Self> = files::read_json(&self.path)?;
        let mut stored = stored.unwrap_or_else(|| self.clone());
        change(&mut stored);
        files::write_json(&self.path, &stored)
    }

    /// The hub's name.
    pub fn hub(&self) -> &str {
        &self.hub
    }

    /// The credentials of the machine's NATS user.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The machine's id.
    ///
    /// # Errors
    /// The stored key is damaged.
    pub fn machine(&self) -> Result<MachineId> {
        Ok(MachineId::of_key(&identity::key(&self.credentials.seed)?.public_key()))
    }
}

/// Pairs this machine by an invitation.
///
/// # Errors
/// NATS can't be reached, or the hub refuses: the invitation was used or has expired.
pub async fn pair(home: &Path, invitation: &Invitation, is_read_only: bool) -> Result<Connection> {
    let seed = machine_key(home)?;
    let request = request(&seed, &invitation.number)?;
    let inbox = Invitation::inbox(&invitation.number);
    let connecting = invitation.credentials.connect("unterm pairing", Some(&inbox), false);
    let client = connecting.await.context("the invitation may have expired")?;
    let subject = Invitation::subject(&invitation.number);
    let reply = client.request(subject, serde_json::to_vec(&request)?.into()).await;
    let reply = reply.context("the hub does not answer; is it running?")?;
    match serde_json::from_slice(&reply.payload)? {
        PairReply::Paired { tokens: Tokens { jwt, renewal }, hub } => {
            let renewal = Some(renewal);
            let credentials = Credentials { jwt, renewal, seed, ..invitation.credentials.clone() };
            Connection::create(home, &hub, credentials, is_read_only)
        }
        PairReply::Refused(why) => bail!("the hub refuses: {why}"),
    }
}

/// Pairs this machine by a code, at the address of a hub.
///
/// # Errors
/// The hub can't be reached, or refuses: the code is wrong, was used or has expired.
pub async fn pair_by_code(
    home: &Path,
    hub: &HubAddress,
    code: &str,
    is_read_only: bool,
    certificates: Option<PathBuf>,
) -> Result<Connection> {
    let seed = machine_key(home)?;
    let request = CodedRequest { code: code.to_owned(), request: request(&seed, code)? };
    let CodedReply { answer, servers } = hub.post(PAIR, &request).await?;
    match answer {
        PairReply::Paired { tokens: Tokens { jwt, renewal }, hub } => {
            let renewal = Some(renewal);
            let credentials = Credentials { servers, jwt, renewal, seed, certificates };
            Connection::create(home, &hub, credentials, is_read_only)
        }
        PairReply::Refused(why) => bail!("the hub refuses: {why}"),
    }
}

/// The pairing request of the machine with this key. `text`: the secret that the machine signs, which is the
/// invitation's number or the code.
fn request(seed: &str, text: &str) -> Result<PairRequest> {
    let key = identity::key(seed)?;
    let proof = key.sign(text.as_bytes()).map_err(|error| anyhow!("signing: {error}"))?;
    Ok(PairRequest {
        key: key.public_key(),
        proof: URL_SAFE_NO_PAD.encode(proof),
        name: machine_name(),
        platform: std::env::consts::OS.to_owned(),
        renews: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_one_key_and_an_invitation_is_one_word() {
        let home = tempfile::tempdir().unwrap();
        let seed = machine_key(home.path()).unwrap();
        assert_eq!(machine_key(home.path()).unwrap(), seed);
        let servers = vec!["nats://127.0.0.1:4222".to_owned()];
        let jwt = "j".to_owned();
        let credentials = Credentials { servers, jwt, renewal: None, seed, certificates: None };
        let invitation = Invitation { number: "7".to_owned(), credentials };
        let text = invitation.to_text().unwrap();
        assert!(!text.contains(char::is_whitespace));
        let read = Invitation::of_text(&format!(" {text}\n")).unwrap();
        assert_eq!(read.credentials.servers, ["nats://127.0.0.1:4222"]);
        for wrong in ["", "unterm-fleet-", "unterm-fleet-!", &text[1..], &text[..40]] {
            assert!(Invitation::of_text(wrong).is_err(), "{wrong}");
        }
        assert!(Connection::read(home.path()).unwrap().is_none());
        Connection::create(home.path(), "hub", read.credentials, true).unwrap();
        let connection = Connection::read(home.path()).unwrap().unwrap();
        assert!(connection.is_read_only && connection.hub() == "hub");
    }
}
