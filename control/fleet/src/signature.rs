//! Signatures of a hub's requests.
//!
//! A connector executes only requests that are signed with the key of the fleet's account. While
//! the hub is down, a program of another local user may listen on the address of NATS. It can't sign requests, so it can
//! neither type into a session nor read one. A machine reads the public key from the token that it received when it was paired.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use async_nats::{HeaderMap, Message};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use time::OffsetDateTime;

use crate::{identity, jwt};

/// The header with the signature, in base64.
const SIGNATURE: &str = "Fleet-Signature";
/// The header with the time of the signature, in seconds since 1970.
const TIME: &str = "Fleet-Time";
/// The maximum difference between the clocks of hub and machine, in seconds. A signed request can be repeated for that
/// time, but a call that types runs only once.
const TOLERANCE: u64 = 600;

/// The bytes to sign. They begin differently from NATS tokens, which are signed with the same key of the account.
fn signed_bytes(subject: &str, time: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("fleet request\n{subject}\n{time}\n");
    [head.as_bytes(), payload].concat()
}

fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

/// Signs requests of a hub.
#[derive(Clone)]
pub struct Signer(Arc<KeyPair>);

impl Signer {
    /// Creates a signer with the seed of the fleet's account.
    ///
    /// # Errors
    /// The text is not a seed.
    pub fn new(account_seed: &str) -> Result<Self> {
        Ok(Self(Arc::new(identity::key(account_seed)?)))
    }

    /// The headers of a request.
    ///
    /// # Errors
    /// The key has no private part.
    pub fn headers(&self, subject: &str, payload: &[u8]) -> Result<HeaderMap> {
        self.headers_at(now(), subject, payload)
    }

    fn headers_at(&self, time: i64, subject: &str, payload: &[u8]) -> Result<HeaderMap> {
        let time = time.to_string();
        let signature = self.0.sign(&signed_bytes(subject, &time, payload));
        let signature = signature.map_err(|error| anyhow!("signing: {error}"))?;
        let mut headers = HeaderMap::new();
        headers.insert(SIGNATURE, URL_SAFE_NO_PAD.encode(signature));
        headers.insert(TIME, time);
        Ok(headers)
    }
}

/// Checks the signatures of one fleet's hubs.
pub struct Verifier(KeyPair);

impl Verifier {
    /// Creates a verifier for the fleet that issued a token.
    ///
    /// # Errors
    /// The token can't be read.
    pub fn of_token(token: &str) -> Result<Self> {
        let issuer = jwt::issuer(token)?;
        let key = KeyPair::from_public_key(&issuer);
        Ok(Self(key.map_err(|error| anyhow!("the issuer of the machine's token: {error}"))?))
    }

    /// Checks the signature of a request.
    ///
    /// # Errors
    /// The request must not be executed. A message for the hub.
    pub fn check(&self, request: &Message) -> Result<(), &'static str> {
        let header = |name| request.headers.as_ref()?.get(name).map(ToString::to_string);
        let (Some(signature), Some(time)) = (header(SIGNATURE), header(TIME)) else {
            return Err("the request is not signed; nothing was done");
        };
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        let signed = signed_bytes(request.subject.as_str(), &time, &request.payload);
        if self.0.verify(&signed, &signature).is_err() {
            return Err("the request is not signed by this machine's fleet; nothing was done");
        }
        let is_recent = time.parse().is_ok_and(|time: i64| now().abs_diff(time) <= TOLERANCE);
        match is_recent {
            true => Ok(()),
            false => Err(
                "the clocks of hub and machine differ by more than 10 minutes; nothing was done",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use nkeys::KeyPairType;

    use super::*;

    fn message(subject: &str, payload: &'static str, headers: HeaderMap) -> Message {
        Message {
            subject: subject.into(),
            reply: None,
            payload: payload.into(),
            headers: Some(headers),
            status: None,
            description: None,
            length: 0,
        }
    }

    #[test]
    fn forged_changed_and_old_requests_are_refused() {
        let seed = identity::new_seed(KeyPairType::Account).unwrap();
        let signer = Signer::new(&seed).unwrap();
        let user = identity::key(&identity::new_seed(KeyPairType::User).unwrap()).unwrap();
        let account = identity::key(&seed).unwrap();
        let token = jwt::user(&account, &user.public_key(), "machine", None, None).unwrap();
        let verifier = Verifier::of_token(&token).unwrap();
        let check =
            |subject: &str, payload, headers| verifier.check(&message(subject, payload, headers));
        let signed = || signer.headers("s", b"{}").unwrap();
        assert_eq!(check("s", "{}", signed()), Ok(()));
        assert!(check("other", "{}", signed()).is_err(), "for another machine");
        assert!(check("s", "{ }", signed()).is_err(), "another content");
        assert!(check("s", "{}", HeaderMap::new()).is_err(), "not signed");
        let stranger = Signer::new(&identity::new_seed(KeyPairType::Account).unwrap()).unwrap();
        assert!(check("s", "{}", stranger.headers("s", b"{}").unwrap()).is_err());
        for time in [now() - 700, now() + 700] {
            let headers = signer.headers_at(time, "s", b"{}").unwrap();
            assert!(check("s", "{}", headers).unwrap_err().contains("clocks"));
        }
        let mut later = signer.headers_at(now() - 700, "s", b"{}").unwrap();
        later.insert(TIME, now().to_string());
        assert!(check("s", "{}", later).unwrap_err().contains("not signed by"));
    }
}
