//! Authenticates the users of the dashboard: codes to sign in with, and sign-ins. A sign-in is a browser that has
//! signed in. The store contains a hash of its secret.
//!
//! Anyone who can read the hub's files can create a code. A code works once, and expires after 10 minutes. Users who
//! signed in with a code can add passkeys to sign in with (`passkeys.rs`). A sign-in by a passkey is valid only while
//! the fleet has the passkey.

use std::sync::Arc;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{
    audit,
    one_time_codes::{key, new_code},
    passkeys::{self, Passkey},
    store::{Store, now},
};
use crate::{random::random_hex, sha256::sha256};

/// The prefix of a sign-in's secret.
const PREFIX: &str = "unvi_";
/// The audit log's word for a read-only sign-in.
const READ_ONLY: &str = "read-only";

/// A sign-in, or the code for one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SignIn {
    /// Whether the user may change something. Otherwise, the user can only view the dashboard.
    pub may_act: bool,
    /// The time at which the sign-in or the code was created (RFC 3339, UTC).
    pub made_at: String,
    /// The id of the passkey that was used to sign in. `None` if a code was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passkey: Option<String>,
}

/// The sign-ins of a fleet.
#[derive(Clone)]
pub struct SignIns(Arc<Store>);

impl SignIns {
    /// Creates the list of the sign-ins in a store.
    pub fn new(store: Arc<Store>) -> Self {
        Self(store)
    }

    /// Creates a code.
    ///
    /// # Errors
    /// NATS does not store the code.
    pub async fn code(&self, may_act: bool) -> Result<String> {
        let code = new_code()?;
        let sign_in = SignIn { may_act, made_at: now(), passkey: None };
        self.0.codes.put(&key(&code), &sign_in).await?;
        Ok(code)
    }

    /// Signs in with a code, which can't be used again. Returns the sign-in and its secret, or `None` if the code is
    /// wrong or has expired.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn sign_in(&self, code: &str) -> Result<Option<(SignIn, String)>> {
        let key = key(code);
        let Some(sign_in) = self.0.codes.get::<SignIn>(&key).await? else { return Ok(None) };
        if !self.0.codes.take(&key).await? {
            return Ok(None);
        }
        let sign_in = SignIn { made_at: now(), ..sign_in };
        let detail = if sign_in.may_act { "" } else { READ_ONLY };
        Ok(Some(self.open(sign_in, detail).await?))
    }

    /// Signs in with a passkey that has been checked. Returns the sign-in and its secret.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn sign_in_by(&self, passkey: &Passkey) -> Result<(SignIn, String)> {
        let id = Some(passkey.id.clone());
        let sign_in = SignIn { may_act: passkey.may_act, made_at: now(), passkey: id };
        let rights = if passkey.may_act { "" } else { READ_ONLY };
        let detail = format!("passkey {} {} {rights}", passkey.id, passkey.name);
        self.open(sign_in, detail.trim_end()).await
    }

    async fn open(&self, sign_in: SignIn, detail: &str) -> Result<(SignIn, String)> {
        let secret = format!("{PREFIX}{}", random_hex::<24>()?);
        self.0.sign_ins.put(&sha256(&secret), &sign_in).await?;
        audit::changed(&self.0, "sign-in", detail).await?;
        Ok((sign_in, secret))
    }

    /// The sign-in with this secret.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn find(&self, secret: &str) -> Result<Option<SignIn>> {
        if !secret.starts_with(PREFIX) {
            return Ok(None);
        }
        // The key is a digest, so the time of the look-up reveals nothing about the secret.
        let found: Option<SignIn> = self.0.sign_ins.get(&sha256(secret)).await?;
        match found.as_ref().and_then(|sign_in| sign_in.passkey.as_deref()) {
            Some(passkey) if !passkeys::exists(&self.0, passkey).await? => Ok(None),
            _ => Ok(found),
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
