//! The JSON Web Tokens of NATS (docs.nats.io, "JWTs and Privacy"): the operator of a server, its accounts, and the users of an
//! account, each with its permissions. The hub signs one for each machine that it pairs, so that no server must be told of a
//! machine.

use std::time::Duration;

use anyhow::{Result, anyhow};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::digest;

/// The subjects that a user may publish to and subscribe to. `None`: all.
pub struct Permissions {
    /// Publish.
    pub publish: Vec<String>,
    /// Subscribe.
    pub subscribe: Vec<String>,
}

/// The token of an operator, which signs itself.
///
/// # Errors
/// The key has no private part.
pub fn operator(operator: &KeyPair, system_account: &str) -> Result<String> {
    let claims = json!({ "type": "operator", "version": 2, "system_account": system_account });
    signed(operator, &operator.public_key(), "unterm", claims)
}

/// The token of an account, signed by its operator.
///
/// # Errors
/// The key has no private part.
pub fn account(operator: &KeyPair, account: &str, name: &str, has_streams: bool) -> Result<String> {
    let mut limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1,
    });
    if has_streams {
        for limit in ["mem_storage", "disk_storage", "streams", "consumer"] {
            limits[limit] = json!(-1);
        }
    }
    let claims = json!({ "type": "account", "version": 2, "limits": limits });
    signed(operator, account, name, claims)
}

/// The token of a user, signed by its account. `lifetime`: how long it is valid; `None`: for ever.
///
/// # Errors
/// The key has no private part.
pub fn user(
    account: &KeyPair,
    user: &str,
    name: &str,
    permissions: Option<&Permissions>,
    lifetime: Option<Duration>,
) -> Result<String> {
    let mut claims = json!({
        "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1,
        "pub": {}, "sub": {},
    });
    if let Some(Permissions { publish, subscribe }) = permissions {
        claims["pub"] = json!({ "allow": publish });
        claims["sub"] = json!({ "allow": subscribe });
        // One reply to each request that it receives, within a minute (in nanoseconds).
        claims["resp"] = json!({ "max": 1, "ttl": 60_000_000_000_u64 });
    }
    signed_until(account, user, name, claims, lifetime)
}

/// The public key that signed a token. Does not check the signature.
///
/// # Errors
/// This is no token.
pub fn issuer(token: &str) -> Result<String> {
    let read = || {
        let body = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
        let claims: Value = serde_json::from_slice(&body).ok()?;
        claims["iss"].as_str().map(str::to_owned)
    };
    read().ok_or_else(|| anyhow!("not a token of NATS"))
}

fn signed(issuer: &KeyPair, subject: &str, name: &str, claims: Value) -> Result<String> {
    signed_until(issuer, subject, name, claims, None)
}

fn signed_until(
    issuer: &KeyPair,
    subject: &str,
    name: &str,
    claims: Value,
    lifetime: Option<Duration>,
) -> Result<String> {
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let mut body = json!({
        "iat": now,
        "iss": issuer.public_key(),
        "name": name,
        "sub": subject,
        "nats": claims,
    });
    if let Some(lifetime) = lifetime {
        body["exp"] = json!(now + i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX / 2));
    }
    // Unique among tokens of different content.
    body["jti"] = json!(digest::sha256(&body.to_string()));
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", encode(&header), encode(&body));
    let signature = issuer.sign(text.as_bytes()).map_err(|error| anyhow!("signing: {error}"))?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
