//! Who uses the dashboard: codes to sign in with, and visits. A visit is a browser that signed in; its secret is kept hashed.
//!
//! A code is made by whoever may use the hub's files, is used once, and ends after some minutes.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{
    audit,
    codes::{key, new_code},
    store::{Store, now},
};
use crate::digest::{random, sha256};

/// How a visit's secret begins.
const PREFIX: &str = "unvi_";

/// A visit, or the code for one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// Whether the visitor may change something. Otherwise the visitor only looks.
    pub may_act: bool,
    /// When it was made (RFC 3339, UTC).
    pub made_at: String,
}

/// The visits of a fleet.
#[derive(Clone)]
pub struct Visits(Store);

impl Visits {
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
        let visit = Visit { may_act, made_at: now() };
        self.0.codes.put(&key(&code), &visit).await?;
        Ok(code)
    }

    /// Signs in with a code, which is used up. Returns the visit and its secret. `None`: the code is wrong or has expired.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn sign_in(&self, code: &str) -> Result<Option<(Visit, String)>> {
        let key = key(code);
        let Some(visit) = self.0.codes.get::<Visit>(&key).await? else { return Ok(None) };
        if !self.0.codes.take(&key).await? {
            return Ok(None);
        }
        let secret = format!("{PREFIX}{}", random::<24>()?);
        let visit = Visit { made_at: now(), ..visit };
        self.0.visits.put(&sha256(&secret), &visit).await?;
        let detail = if visit.may_act { "" } else { "read-only" };
        audit::changed(&self.0, "sign-in", detail).await?;
        Ok(Some((visit, secret)))
    }

    /// The visit with this secret.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn find(&self, secret: &str) -> Result<Option<Visit>> {
        match secret.starts_with(PREFIX) {
            // The key is a digest, so the time of the look-up says nothing about the secret.
            true => self.0.visits.get(&sha256(secret)).await,
            false => Ok(None),
        }
    }

    /// Ends a visit.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn sign_out(&self, secret: &str) -> Result<()> {
        self.0.visits.take(&sha256(secret)).await?;
        Ok(())
    }
}
