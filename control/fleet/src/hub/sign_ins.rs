//! Who uses the dashboard: codes to sign in with, and sign-ins. A sign-in is a browser that signed in; its secret is kept hashed.
//!
//! Anyone who can read the hub's files can create a code. A code works once, and expires after 10 minutes.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{
    audit,
    codes::{key, new_code},
    store::{Store, now},
};
use crate::digest::{random, sha256};

/// How a sign-in's secret begins.
const PREFIX: &str = "unvi_";

/// A sign-in, or the code for one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SignIn {
    /// Whether the visitor may change something. Otherwise the visitor only looks.
    pub may_act: bool,
    /// When it was made (RFC 3339, UTC).
    pub made_at: String,
}

/// The sign-ins of a fleet.
#[derive(Clone)]
pub struct SignIns(Store);

impl SignIns {
    /// Those in a store.
    pub fn new(store: Store) -> Self {
        Self(store)
    }

    /// Makes a code.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn code(&self, may_act: bool) -> Result<String> {
        let code = new_code()?;
        let sign_in = SignIn { may_act, made_at: now() };
        self.0.codes.put(&key(&code), &sign_in).await?;
        Ok(code)
    }

    /// Signs in with a code, which is used up. Returns the sign-in and its secret. `None`: the code is wrong or has expired.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn sign_in(&self, code: &str) -> Result<Option<(SignIn, String)>> {
        let key = key(code);
        let Some(sign_in) = self.0.codes.get::<SignIn>(&key).await? else { return Ok(None) };
        if !self.0.codes.take(&key).await? {
            return Ok(None);
        }
        let secret = format!("{PREFIX}{}", random::<24>()?);
        let sign_in = SignIn { made_at: now(), ..sign_in };
        self.0.sign_ins.put(&sha256(&secret), &sign_in).await?;
        let detail = if sign_in.may_act { "" } else { "read-only" };
        audit::changed(&self.0, "sign-in", detail).await?;
        Ok(Some((sign_in, secret)))
    }

    /// The sign-in with this secret.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn find(&self, secret: &str) -> Result<Option<SignIn>> {
        match secret.starts_with(PREFIX) {
            // The key is a digest, so the time of the look-up reveals nothing about the secret.
            true => self.0.sign_ins.get(&sha256(secret)).await,
            false => Ok(None),
        }
    }

    /// Ends a sign-in.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn sign_out(&self, secret: &str) -> Result<()> {
        self.0.sign_ins.take(&sha256(secret)).await?;
        Ok(())
    }
}
