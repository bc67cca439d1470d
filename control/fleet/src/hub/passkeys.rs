//! Passkeys (WebAuthn), with which users sign in to the dashboard without a code.
//!
//! This module owns the list of a fleet's passkeys. A passkey belongs to one host name of the hub, and only pages of
//! that host can use it. Its private key never leaves the user's authenticator, which checks the user (with a
//! fingerprint or a PIN). Authenticators must store the passkey with its user handle, so the page needs no user name,
//! and strangers learn no ids of passkeys.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use anyhow::{Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use webauthn_rs::prelude::{
    DiscoverableAuthentication, PasskeyRegistration, PublicKeyCredential,
    RegisterPublicKeyCredential, Uuid, WebauthnError,
};

use super::{
    audit,
    challenges::{Challenges, Purpose},
    store::{Store, now},
    web_address::RelyingParty,
};
use crate::sha256::sha256;

/// The key of the list in its bucket. The list is one value, so that adding a passkey can't exceed the limit.
const KEY: &str = "all";
/// The maximum number of passkeys of a fleet.
const MOST: usize = 100;
/// The maximum number of characters of a passkey's name.
const LONGEST_NAME: usize = 100;

/// A passkey.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Passkey {
    /// The id of the passkey, which the authenticator stores as the user handle.
    pub id: String,
    /// The name that a user gave the passkey.
    pub name: String,
    /// The host name of the pages on which the passkey can be used.
    pub host: String,
    /// Whether a sign-in with this passkey may change something.
    pub may_act: bool,
    /// The time at which the passkey was added (RFC 3339, UTC).
    pub made_at: String,
    /// The time at which the passkey was last used (RFC 3339, UTC).
    pub last_used: Option<String>,
    /// The public key and the signature counter.
    key: webauthn_rs::prelude::Passkey,
}

impl Passkey {
    /// The passkey as JSON, for the list that the page shows.
    pub fn shown(&self) -> Value {
        serde_json::json!({
            "id": self.id,
            "name": self.name,
            "host": self.host,
            "may_act": self.may_act,
            "made_at": self.made_at,
            "last_used": self.last_used,
        })
    }
}

/// The data that a browser needs to use or create a passkey.
#[derive(Debug, Serialize)]
pub struct Begun {
    /// The challenge, which the page sends back with the browser's answer.
    pub challenge: String,
    /// The options for the browser, as JSON in the format of WebAuthn.
    pub options: Value,
}

/// The state of adding a passkey, which is encrypted in the challenge.
#[derive(Serialize, Deserialize)]
struct Adding {
    id: Uuid,
    name: String,
    may_act: bool,
    registration: PasskeyRegistration,
}

/// The passkeys of a fleet.
#[derive(Clone)]
pub struct Passkeys {
    store: Arc<Store>,
    challenges: Challenges,
}

impl Passkeys {
    /// Creates the list of the passkeys in a store. `seed`: a secret of the fleet.
    pub fn new(store: Arc<Store>, seed: &str) -> Self {
        Self { challenges: Challenges::new(store.clone(), seed), store }
    }

    /// All passkeys, oldest first.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn list(&self) -> Result<Vec<Passkey>> {
        list(&self.store).await
    }

    /// Begins to add a passkey for the user who signed in with `secret`.
    ///
    /// # Errors
    /// The name is empty, there are too many passkeys, or NATS does not answer.
    pub async fn begin_adding(
        &self,
        party: &RelyingParty,
        secret: &str,
        name: &str,
        may_act: bool,
    ) -> Result<Begun> {
        let name: String = name.trim().chars().take(LONGEST_NAME).collect();
        let name = unterm_control::escaped(&name);
        ensure!(!name.is_empty(), "a passkey needs a name");
        let all = self.list().await?;
        check_room(&all)?;
        // An authenticator that has a passkey for this host name refuses to create another passkey.
        let known = all.iter().filter(|passkey| passkey.host == party.id);
        let known = known.map(|passkey| passkey.key.cred_id().clone()).collect();
        // Each passkey has a different user handle, because an authenticator replaces a passkey with the same handle.
        let id = Uuid::new_v4();
        let begun = party.webauthn.start_passkey_registration(id, &name, &name, Some(known));
        let (options, registration) = begun?;
        let mut options = serde_json::to_value(options.public_key)?;
        // By default, the library requests that authenticators do not store the passkey.
        options["authenticatorSelection"]["residentKey"] = "required".into();
        options["authenticatorSelection"]["requireResidentKey"] = true.into();
        let adding = Adding { id, name, may_act, registration };
        let challenge = self.challenges.seal(purpose(secret), &party.origin, &adding)?;
        Ok(Begun { challenge, options })
    }

    /// Adds a passkey that the browser created.
    ///
    /// # Errors
    /// The browser's answer does not match the challenge, the passkey already exists, there are too many passkeys, or
    /// NATS does not answer.
    pub async fn add(
        &self,
        party: &RelyingParty,
        secret: &str,
        challenge: &str,
        answer: &RegisterPublicKeyCredential,
    ) -> Result<Passkey> {
        let late = || anyhow!("the request has expired or was used; add the passkey again");
        let adding = self.challenges.open(challenge, &purpose(secret), &party.origin).await?;
        let Adding { id, name, may_act, registration } = adding.ok_or_else(late)?;
        let key = party.webauthn.finish_passkey_registration(answer, &registration);
        let key = key.map_err(|error| anyhow!("the passkey was refused: {error}"))?;
        ensure!(self.challenges.use_up(challenge).await?, late());
        let passkey = Passkey {
            id: id.simple().to_string(),
            name,
            host: party.id.clone(),
            may_act,
            made_at: now(),
            last_used: None,
            key,
        };
        self.store.passkeys.create(KEY, &Vec::<Passkey>::new()).await?;
        let fits = |all: &Vec<Passkey>| {
            all.len() < MOST && all.iter().all(|of| of.key.cred_id() != passkey.key.cred_id())
        };
        let added = |all: &mut Vec<Passkey>| {
            let fits = fits(all);
            if fits {
                all.push(passkey.clone());
            }
            fits
        };
        let all = self.store.passkeys.change(KEY, added).await?.unwrap_or_default();
        if all.iter().all(|of| of.id != passkey.id) {
            check_room(&all)?;
            return Err(anyhow!("the fleet has this passkey already"));
        }
        let rights = if may_act { "" } else { " read-only" };
        let detail = format!("{} {} {}{rights}", passkey.id, passkey.host, passkey.name);
        audit::changed(&self.store, "passkey-add", &detail).await?;
        Ok(passkey)
    }

    /// Begins a sign-in. Returns `None` if this host name has no passkey.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn begin_sign_in(&self, party: &RelyingParty) -> Result<Option<Begun>> {
        if self.list().await?.iter().all(|passkey| passkey.host != party.id) {
            return Ok(None);
        }
        let (options, state) = party.webauthn.start_discoverable_authentication()?;
        let challenge = self.challenges.seal(Purpose::SignIn, &party.origin, &state)?;
        Ok(Some(Begun { challenge, options: serde_json::to_value(options.public_key)? }))
    }

    /// Checks the passkey with which a browser signed a challenge, and stores its signature counter. Returns `None` if
    /// the signature, the challenge or the passkey is wrong.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn check(
        &self,
        party: &RelyingParty,
        challenge: &str,
        answer: &PublicKeyCredential,
    ) -> Result<Option<Passkey>> {
        let state = self.challenges.open(challenge, &Purpose::SignIn, &party.origin).await?;
        let state: Option<DiscoverableAuthentication> = state;
        let (Some(state), Ok((id, _))) =
            (state, party.webauthn.identify_discoverable_authentication(answer))
        else {
            return Ok(None);
        };
        let id = id.simple().to_string();
        let at = now();
        let is_right = AtomicBool::new(false);
        // The check is part of the change, so that two hubs do not accept the same value of the counter.
        let checked = |all: &mut Vec<Passkey>| {
            let found = all.iter_mut().find(|of| of.id == id && of.host == party.id);
            let used = found.ok_or(WebauthnError::CredentialNotFound).and_then(|passkey| {
                let state = state.clone();
                let key = &mut passkey.key;
                let signed =
                    party.webauthn.finish_discoverable_authentication_v2(answer, state, &*key)?;
                key.update_credential(&signed);
                passkey.last_used = Some(at.clone());
                Ok(())
            });
            if let Err(error) = &used {
                tracing::warn!(%error, passkey = id, "a passkey was refused");
            }
            is_right.store(used.is_ok(), Ordering::Relaxed);
            used.is_ok()
        };
        let all = self.store.passkeys.change(KEY, checked).await?.unwrap_or_default();
        if !is_right.into_inner() || !self.challenges.use_up(challenge).await? {
            return Ok(None);
        }
        Ok(all.into_iter().find(|passkey| passkey.id == id))
    }

    /// Removes the passkey with this id, which ends its sign-ins. Returns false if there is no such passkey.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn remove(&self, id: &str) -> Result<bool> {
        let is_found = AtomicBool::new(false);
        let removed = |all: &mut Vec<Passkey>| {
            let before = all.len();
            all.retain(|passkey| passkey.id != id);
            is_found.store(all.len() < before, Ordering::Relaxed);
            all.len() < before
        };
        self.store.passkeys.change(KEY, removed).await?;
        if !is_found.into_inner() {
            return Ok(false);
        }
        audit::changed(&self.store, "passkey-remove", id).await?;
        Ok(true)
    }
}

/// Whether a fleet has the passkey with this id.
///
/// # Errors
/// NATS does not answer.
pub async fn exists(store: &Store, id: &str) -> Result<bool> {
    Ok(list(store).await?.iter().any(|passkey| passkey.id == id))
}

async fn list(store: &Store) -> Result<Vec<Passkey>> {
    Ok(store.passkeys.get(KEY).await?.unwrap_or_default())
}

/// The purpose of a challenge for the user who signed in with `secret`.
fn purpose(secret: &str) -> Purpose {
    Purpose::Add(sha256(secret))
}

fn check_room(all: &[Passkey]) -> Result<()> {
    ensure!(all.len() < MOST, "the fleet has {MOST} passkeys; remove one first");
    Ok(())
}
