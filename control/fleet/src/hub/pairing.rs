//! Pairs machines: checks the invitation or the code that a user gave to a machine, and signs the machine's
//! permissions.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::StreamExt as _;
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};

use super::{
    audit,
    machines::{LONGEST_NAME, Machine, shown},
    one_time_codes,
    revocation::Revocation,
    store::{INVITATION_AGE, Store, now},
};
use crate::{
    connector::{Invitation, PairReply, PairRequest},
    identity::{self, MachineId},
    jwt::{self, Permissions},
    nats::{Credentials, reply_within},
    nats_server::Fleet,
    protocol::{self, TOKEN_LIFE, Tokens},
    random::random_hex,
};

/// Pairs machines.
pub struct Pairing {
    store: Arc<Store>,
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
    /// Creates the pairing of a fleet.
    ///
    /// # Errors
    /// The fleet's keys are damaged.
    pub fn new(store: Arc<Store>, fleet: &Fleet, hub: String) -> Result<Self> {
        let account = identity::key(&fleet.account_seed)?;
        Ok(Self { store, account, servers: fleet.credentials.clone(), hub })
    }

    /// Creates an invitation for one machine.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn invite(&self) -> Result<Invitation> {
        let number = random_hex::<8>()?;
        let seed = identity::new_seed(KeyPairType::User)?;
        let permissions = Permissions {
            publish: vec![Invitation::subject(&number)],
            subscribe: vec![format!("{}.>", Invitation::inbox(&number))],
            may_reply: false,
        };
        let key = identity::key(&seed)?.public_key();
        let lifetime = Some(INVITATION_AGE);
        let jwt = jwt::user(&self.account, &key, "invitation", Some(&permissions), lifetime)?;
        self.store.invitations.put(&number, &Invited { at: now() }).await?;
        // A file of certificates is on this host, so it is of no use to another machine.
        let credentials = Credentials { jwt, seed, certificates: None, ..self.servers.clone() };
        Ok(Invitation { number, credentials })
    }

    /// Creates a short code for one machine, which sends the code to the hub's address.
    ///
    /// # Errors
    /// NATS does not store the code.
    pub async fn code(&self) -> Result<String> {
        let code = one_time_codes::new_code()?;
        self.store.invitations.put(&one_time_codes::key(&code), &Invited { at: now() }).await?;
        Ok(code)
    }

    /// Answers the request of a machine that sends a code.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn accept_code(&self, request: &PairRequest, code: &str) -> PairReply {
        let accepted = self.accept(code, &one_time_codes::key(code), request).await;
        self.reply(accepted)
    }

    /// Pairs the machine with this public key. Returns the tokens of its permissions.
    ///
    /// # Errors
    /// Another key has the same id, or NATS does not store it.
    pub async fn pair(&self, key: &str, name: &str, platform: &str) -> Result<Tokens> {
        ensure!(identity::is_user_key(key), "this is not the public key of a NATS user");
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
        Revocation::pass(&self.store, key).await?;
        self.tokens(key)
    }

    /// Creates new tokens for the machine with this public key.
    ///
    /// # Errors
    /// The key of the fleet's account is damaged.
    pub fn tokens(&self, key: &str) -> Result<Tokens> {
        let id = MachineId::of_key(key);
        let token = |permissions, life| {
            jwt::user(&self.account, key, id.as_str(), Some(&permissions), life)
        };
        Ok(Tokens {
            jwt: token(protocol::permissions(&id), Some(TOKEN_LIFE))?,
            renewal: token(protocol::renewal_permissions(&id), None)?,
        })
    }

    /// Answers pairing requests while the future is polled. If there are several hubs, one of them answers each
    /// request.
    ///
    /// # Errors
    /// The connection was closed.
    pub async fn serve(&self) -> Result<()> {
        let subject = Invitation::subject("*");
        let client = &self.store.client;
        let mut requests = client.queue_subscribe(subject, "hubs".to_owned()).await?;
        while let Some(request) = requests.next().await {
            let number = request.subject.rsplit('.').next().unwrap_or_default();
            let Some(reply) = reply_within(&request, &Invitation::inbox(number)) else { continue };
            let accepted = match serde_json::from_slice::<PairRequest>(&request.payload) {
                Ok(request) => self.accept(number, number, &request).await,
                Err(error) => Err(error.into()),
            };
            let answer = self.reply(accepted);
            client.publish(reply, serde_json::to_vec(&answer)?.into()).await?;
        }
        bail!("the connection to NATS was closed")
    }

    fn reply(&self, accepted: Result<Tokens>) -> PairReply {
        match accepted {
            Ok(tokens) => PairReply::Paired { tokens, hub: self.hub.clone() },
            Err(error) => {
                tracing::warn!(error = %format!("{error:#}"), "a machine was not paired");
                PairReply::Refused(format!("{error:#}"))
            }
        }
    }

    /// The addresses of the servers that machines connect to.
    pub fn servers(&self) -> &[String] {
        &self.servers.servers
    }

    /// Pairs a machine that has an invitation or a code, which the store contains under `key`. `text` is the text that
    /// the machine signed.
    async fn accept(&self, text: &str, key: &str, request: &PairRequest) -> Result<Tokens> {
        let public = KeyPair::from_public_key(&request.key)
            .map_err(|error| anyhow::anyhow!("the machine's key: {error}"))?;
        let proof = URL_SAFE_NO_PAD.decode(&request.proof).context("the proof")?;
        let is_proven = public.verify(text.as_bytes(), &proof).is_ok();
        ensure!(is_proven, "the machine did not sign with the key that it claims");
        // The token of such a machine would expire within a day.
        ensure!(request.renews, "this machine's version of Unterm is too old for this hub");
        let is_open = self.store.invitations.take(key).await?;
        ensure!(is_open, "the code or invitation is wrong, was used or has expired");
        let tokens = self.pair(&request.key, &request.name, &request.platform).await?;
        let detail =
            format!("{} {}", MachineId::of_key(&request.key), shown(&request.name, LONGEST_NAME));
        audit::changed(&self.store, "machine-pair", &detail).await?;
        Ok(tokens)
    }
}
