//! The tokens of agents. A token determines the machines that an agent may use, its rights, and the time until which
//! the token is valid.
//!
//! The store contains a hash of each token and never the token. A token is 192 random bits, so its hash needs no salt.

use std::sync::Arc;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    audit,
    store::{Store, now},
};
use crate::{identity::MachineId, random::random_hex, sha256::sha256};

/// The prefix of a token.
const PREFIX: &str = "unfl";
/// The maximum number of characters of a token's name.
const LONGEST_NAME: usize = 100;
/// The precision of the time of a token's last use, in seconds. It is coarse so that not every call is stored.
const USE_PRECISION: i64 = 30;

/// A right that a token gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// List machines and sessions.
    List,
    /// Read what sessions show. Find files and lines on the hub's own host, if it is open to agents and the token is not limited to
    /// some machines.
    Read,
    /// Type into sessions.
    Send,
    /// Do everything on the hub's own host: `remote_bash` and the other tools of the host.
    Admin,
}

impl Right {
    /// The name of the right.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Send => "send",
            Self::Admin => "admin",
        }
    }
}

/// A token without its secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Token {
    /// The id of the token. The token's secret contains it.
    pub id: String,
    /// The name of the token, which describes its purpose.
    pub name: String,
    /// The machines that can be used with the token. `None`: all machines.
    pub machines: Option<Vec<MachineId>>,
    /// The rights that the token gives.
    pub rights: Vec<Right>,
    /// The time at which the token was created (RFC 3339, UTC).
    pub made_at: String,
    /// The time at which the token expires. `None`: never.
    pub expires_at: Option<String>,
    /// The SHA-256 of the token.
    hash: String,
}

impl Token {
    fn is_live(&self) -> bool {
        let Some(end) = &self.expires_at else { return true };
        // An invalid time counts as past.
        OffsetDateTime::parse(end, &Rfc3339).is_ok_and(|end| OffsetDateTime::now_utc() < end)
    }

    /// Whether a machine can be used with the token.
    pub fn reaches(&self, machine: &MachineId) -> bool {
        self.machines.as_ref().is_none_or(|machines| machines.contains(machine))
    }

    /// Whether the token gives a right.
    pub fn gives(&self, right: Right) -> bool {
        self.rights.contains(&right)
    }
}

/// The tokens of a fleet.
#[derive(Clone)]
pub struct Tokens(Arc<Store>);

impl Tokens {
    /// Creates the list of the tokens in a store.
    pub fn new(store: Arc<Store>) -> Self {
        Self(store)
    }

    /// Creates a token. Returns it with its secret, which can't be shown again.
    ///
    /// # Errors
    /// NATS does not store the token.
    pub async fn create(
        &self,
        name: &str,
        machines: Option<Vec<MachineId>>,
        rights: Vec<Right>,
        lifetime: Option<Duration>,
    ) -> Result<(Token, String)> {
        ensure!(!name.is_empty(), "a token needs a name");
        ensure!(!rights.is_empty(), "a token needs a right: list, read, send or admin");
        let id = random_hex::<8>()?;
        let secret = format!("{PREFIX}_{id}_{}", random_hex::<24>()?);
        let end = lifetime.map(|lifetime| OffsetDateTime::now_utc().checked_add(lifetime));
        let expires_at = end.map(|end| end.and_then(|end| end.format(&Rfc3339).ok()));
        ensure!(expires_at != Some(None), "the token would end after the end of time");
        let token = Token {
            hash: sha256(&secret),
            name: unterm_control::escaped(&name.chars().take(LONGEST_NAME).collect::<String>()),
            machines,
            rights,
            made_at: now(),
            expires_at: expires_at.flatten(),
            id,
        };
        let is_new = self.0.tokens.create(&token.id, &token).await?;
        ensure!(is_new, "the system's random numbers repeat");
        let rights: Vec<_> = token.rights.iter().map(|right| right.name()).collect();
        let detail = format!("{} {}: {}", token.id, token.name, rights.join(" "));
        audit::changed(&self.0, "token-create", &detail).await?;
        Ok((token, secret))
    }

    /// The token with this secret, if it is valid. All wrong secrets of a token take equally long.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn find(&self, secret: &str) -> Result<Option<Token>> {
        let Some(id) = id_of(secret) else { return Ok(None) };
        let Some(token) = self.0.tokens.get::<Token>(id).await? else { return Ok(None) };
        let is_same: bool = token.hash.as_bytes().ct_eq(sha256(secret).as_bytes()).into();
        Ok((is_same && token.is_live()).then_some(token))
    }

    /// The token with this id, if it is still valid. For calls whose token was already found by its secret.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn by_id(&self, id: &str) -> Result<Option<Token>> {
        Ok(self.0.tokens.get::<Token>(id).await?.filter(Token::is_live))
    }

    /// Stores the time at which a token was used.
    pub async fn used(&self, token: &Token) {
        let uses = &self.0.token_uses;
        let seconds = OffsetDateTime::now_utc().unix_timestamp();
        let stored = async {
            let last: Option<i64> = uses.get(&token.id).await?;
            if last.is_none_or(|last| seconds - last >= USE_PRECISION) {
                uses.put(&token.id, &seconds).await?;
            }
            anyhow::Ok(())
        };
        if let Err(error) = stored.await {
            tracing::debug!(%error, "a token's use was not stored");
        }
    }

    /// All tokens, each with its last use (RFC 3339, UTC).
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn list(&self) -> Result<Vec<(Token, Option<String>)>> {
        let mut all = Vec::new();
        for (id, token) in self.0.tokens.all::<Token>().await? {
            let last: Option<i64> = self.0.token_uses.get(&id).await?;
            let last = last.and_then(|last| OffsetDateTime::from_unix_timestamp(last).ok());
            all.push((token, last.and_then(|last| last.format(&Rfc3339).ok())));
        }
        all.sort_by(|(a, _), (b, _)| (&a.made_at, &a.id).cmp(&(&b.made_at, &b.id)));
        Ok(all)
    }

    /// Revokes the token with this id. Returns false if there is no such token.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn revoke_id(&self, id: &str) -> Result<bool> {
        // Another text is not an id, and may be unsafe as a key.
        let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id || !self.0.tokens.take(id).await? {
            return Ok(false);
        }
        let _ = self.0.token_uses.take(id).await;
        audit::changed(&self.0, "token-revoke", id).await?;
        Ok(true)
    }

    /// Revokes the token with this id or name. Returns the tokens that were revoked.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn revoke(&self, named: &str) -> Result<Vec<Token>> {
        let mut revoked = Vec::new();
        for (id, token) in self.0.tokens.all::<Token>().await? {
            if (token.id == named || token.name == named) && self.revoke_id(&id).await? {
                revoked.push(token);
            }
        }
        Ok(revoked)
    }
}

/// The id that a secret contains, if it is safe as a key.
fn id_of(secret: &str) -> Option<&str> {
    let (id, rest) = secret.strip_prefix(PREFIX)?.strip_prefix('_')?.split_once('_')?;
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (id.len() == 16 && rest.len() == 48 && is_hex(id) && is_hex(rest)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_the_right_form_are_looked_up() {
        let rest = "0".repeat(48);
        assert_eq!(id_of(&format!("unfl_0123456789abcdef_{rest}")), Some("0123456789abcdef"));
        for wrong in ["", "unfl__", "unfl_*_0", "atrm_x_y", "unfl_0123456789abcdef_", "unfl_>_>"] {
            assert_eq!(id_of(wrong), None, "{wrong}");
        }
    }
}
