//! The JSON Web Tokens of NATS (docs.nats.io, "JWTs and Privacy"): the operator of a server, its accounts, and the
//! users of an account with their permissions. The hub signs a token for each machine that it pairs, so the servers
//! need no list of machines. An account's token lists the users whose tokens were revoked.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, anyhow};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::sha256::sha256;

/// The maximum number of subscriptions of a user with permissions. Such a user needs two or three.
const MOST_SUBSCRIPTIONS: u32 = 32;

/// The subjects that a user may publish to and subscribe to.
#[derive(Default)]
pub struct Permissions {
    /// The subjects that the user may publish to.
    pub publish: Vec<String>,
    /// The subjects that the user may subscribe to.
    pub subscribe: Vec<String>,
    /// Whether the user may reply once to each request that it receives.
    pub may_reply: bool,
}

/// The token of an operator, signed with the operator's own key.
///
/// # Errors
/// The key has no private part.
pub fn operator(operator: &KeyPair, system_account: &str) -> Result<String> {
    let claims = json!({ "type": "operator", "version": 2, "system_account": system_account });
    signed(operator, &operator.public_key(), "unterm", claims)
}

/// The token of an account, signed by its operator. `revoked`: public keys of users, each with a Unix time in seconds.
/// Servers refuse tokens of this user that were issued at or before this time.
///
/// # Errors
/// The key has no private part.
pub fn account(
    operator: &KeyPair,
    account: &str,
    name: &str,
    has_streams: bool,
    revoked: &BTreeMap<String, i64>,
) -> Result<String> {
    let mut limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1,
    });
    if has_streams {
        for limit in ["mem_storage", "disk_storage", "streams", "consumer"] {
            limits[limit] = json!(-1);
        }
    }
    let mut claims = json!({ "type": "account", "version": 2, "limits": limits });
    if !revoked.is_empty() {
        claims["revocations"] = json!(revoked);
    }
    signed(operator, account, name, claims)
}

/// The token of a user, signed by its account. `permissions`: `None` allows everything in the account. `lifetime`: the
/// time for which the token is valid. `None`: the token never expires.
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
    if let Some(Permissions { publish, subscribe, may_reply }) = permissions {
        claims["pub"] = json!({ "allow": publish });
        claims["sub"] = json!({ "allow": subscribe });
        claims["subs"] = json!(MOST_SUBSCRIPTIONS);
        if *may_reply {
            // The user may reply within a minute (60,000,000,000 nanoseconds).
            claims["resp"] = json!({ "max": 1, "ttl": 60_000_000_000_u64 });
        }
    }
    signed_until(account, user, name, claims, lifetime)
}

/// The public key that signed a token. Does not check the signature.
///
/// # Errors
/// The text is not a token.
pub fn issuer(token: &str) -> Result<String> {
    let issuer = claims(token).and_then(|claims| claims["iss"].as_str().map(str::to_owned));
    issuer.ok_or_else(|| anyhow!("not a token of NATS"))
}

/// The times at which a token was issued and at which it expires, in seconds since 1970. Returns `None` if the token
/// does not expire. Does not check the signature.
pub fn span(token: &str) -> Option<(i64, i64)> {
    let claims = claims(token)?;
    Some((claims["iat"].as_i64()?, claims["exp"].as_i64()?))
}

fn claims(token: &str) -> Option<Value> {
    let body = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&body).ok()
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
    // The id is a digest, so tokens with different contents have different ids.
    body["jti"] = json!(sha256(&body.to_string()));
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", encode(&header), encode(&body));
    let signature = issuer.sign(text.as_bytes()).map_err(|error| anyhow!("signing: {error}"))?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
