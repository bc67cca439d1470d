//! The challenges that browsers sign with passkeys.
//!
//! A hub stores nothing when it creates a challenge, so strangers who begin sign-ins can't fill the store. The browser
//! stores the challenge together with a code (HMAC). Only the fleet's hubs can create that code, and any of them can
//! check it. A hub does store that a challenge was used, but only someone with a passkey can use one.

use std::sync::Arc;

use anyhow::Result;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac::{self, HMAC_SHA256};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::OffsetDateTime;

use super::store::{CHALLENGE_AGE, Store, now};
use crate::sha256::sha256;

/// The label from which the key is derived. It makes this key differ from other keys that are derived from the seed.
const KEY_NAME: &[u8] = b"challenges of the dashboard";

/// The challenges of a fleet.
#[derive(Clone)]
pub struct Challenges {
    store: Arc<Store>,
    key: hmac::Key,
}

/// The purpose of a challenge. A challenge for one purpose is not valid for another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Signing in with a passkey.
    SignIn,
    /// Adding a passkey, for the sign-in whose secret has this digest.
    Add(String),
}

/// A challenge, in the form that the browser stores.
#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    purpose: Purpose,
    origin: String,
    /// When the challenge expires, in seconds since 1970.
    expires_at: i64,
    state: T,
}

impl<T> Sealed<T> {
    /// Whether the challenge is valid for this purpose, this origin and this time. `now`: seconds since 1970.
    fn fits(&self, purpose: &Purpose, origin: &str, now: i64) -> bool {
        self.purpose == *purpose && self.origin == origin && now < self.expires_at
    }
}

impl Challenges {
    /// The challenges of a fleet. `seed`: a secret that all hubs of the fleet share.
    pub fn new(store: Arc<Store>, seed: &str) -> Self {
        Self { store, key: key(seed) }
    }

    /// Creates a challenge for the browser. `state`: the data that are needed to check the signature.
    ///
    /// # Errors
    /// The state can't be converted to JSON.
    pub fn seal(&self, purpose: Purpose, origin: &str, state: &impl Serialize) -> Result<String> {
        let expires_at = seconds() + CHALLENGE_AGE.as_secs() as i64;
        seal(&self.key, &Sealed { purpose, origin: origin.to_owned(), expires_at, state })
    }

    /// The state in a challenge. `None` if no hub of this fleet created the challenge, or if it has another purpose,
    /// has expired or was used.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn open<T: DeserializeOwned>(
        &self,
        challenge: &str,
        purpose: &Purpose,
        origin: &str,
    ) -> Result<Option<T>> {
        let Some(sealed) = open::<T>(&self.key, challenge) else { return Ok(None) };
        let is_valid = sealed.fits(purpose, origin, seconds())
            && self.store.used_challenges.get::<String>(&sha256(challenge)).await?.is_none();
        Ok(is_valid.then_some(sealed.state))
    }

    /// Records that a challenge was used. Called after the signature was checked. Returns false if the challenge was
    /// already used.
    ///
    /// # Errors
    /// NATS does not store that.
    pub async fn use_up(&self, challenge: &str) -> Result<bool> {
        self.store.used_challenges.create(&sha256(challenge), &now()).await
    }
}

fn seconds() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

fn key(seed: &str) -> hmac::Key {
    let seed = hmac::Key::new(HMAC_SHA256, seed.as_bytes());
    hmac::Key::new(HMAC_SHA256, hmac::sign(&seed, KEY_NAME).as_ref())
}

/// The text of a challenge: its JSON and its code, both in base64. The code signs the encoded text, so each challenge
/// has only one valid text.
fn seal(key: &hmac::Key, sealed: &Sealed<impl Serialize>) -> Result<String> {
    let text = URL_SAFE_NO_PAD.encode(serde_json::to_vec(sealed)?);
    let code = URL_SAFE_NO_PAD.encode(hmac::sign(key, text.as_bytes()));
    Ok(format!("{text}.{code}"))
}

fn open<T: DeserializeOwned>(key: &hmac::Key, challenge: &str) -> Option<Sealed<T>> {
    let (text, code) = challenge.split_once('.')?;
    let code = URL_SAFE_NO_PAD.decode(code).ok()?;
    hmac::verify(key, text.as_bytes(), &code).ok()?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_challenges_of_the_fleets_hubs_are_accepted() {
        let key = key("seed");
        let sealed = Sealed {
            purpose: Purpose::Add("x".to_owned()),
            origin: "http://localhost:1".to_owned(),
            expires_at: 7,
            state: "state",
        };
        let challenge = seal(&key, &sealed).unwrap();
        let opened = open::<String>(&key, &challenge).unwrap();
        assert_eq!((opened.state.as_str(), opened.expires_at), ("state", 7));
        let fits = |purpose: &Purpose, origin: &str, now| opened.fits(purpose, origin, now);
        assert!(fits(&sealed.purpose, &sealed.origin, 6));
        assert!(!fits(&sealed.purpose, &sealed.origin, 7));
        assert!(!fits(&sealed.purpose, "http://localhost:2", 6));
        for purpose in [Purpose::SignIn, Purpose::Add("y".to_owned())] {
            assert!(!fits(&purpose, &sealed.origin, 6), "{purpose:?}");
        }
        assert!(open::<String>(&super::key("other"), &challenge).is_none());
        let (text, code) = challenge.split_once('.').unwrap();
        let other = seal(&key, &Sealed { expires_at: 8, ..sealed }).unwrap();
        let (other, _) = other.split_once('.').unwrap();
        for wrong in ["", ".", text, &format!("{other}.{code}"), &format!("{challenge}A")] {
            assert!(open::<String>(&key, wrong).is_none(), "{wrong}");
        }
        // A challenge has only one valid text, so that it can't be used again in another form.
        assert!(open::<String>(&key, &format!("{challenge}=")).is_none());
    }
}
