//! The requests about passkeys: requests to sign in, which need no sign-in, and requests to add and remove passkeys.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use webauthn_rs::prelude::{PublicKeyCredential, RegisterPublicKeyCredential};

use super::requests::{RequestOrigin, found, missing};
use crate::hub::{
    http_reply::{HttpRefusal, HttpResult, internal, json_reply, read, refused},
    services::Services,
    sign_ins::SignIn,
    web_address::{RelyingParty, WebAddress},
};

/// The path of a request to sign in with a passkey.
pub const LOGIN: &str = "/api/login/passkey";

/// The relying party of an address.
fn party(site: &WebAddress) -> Result<&RelyingParty, HttpRefusal> {
    let why = "Passkeys need the hub's host name: its public name, or localhost";
    site.relying_party.as_ref().ok_or((StatusCode::CONFLICT, why.to_owned()))
}

/// Begins a sign-in. The reply contains no options if no passkey belongs to this address.
pub async fn begin_sign_in(hub: &Services, site: &WebAddress) -> HttpResult {
    let begun = match &site.relying_party {
        Some(party) => hub.passkeys.begin_sign_in(party).await.map_err(internal)?,
        None => None,
    };
    Ok(json_reply(&begun.map_or_else(|| json!({"options": null}), |begun| json!(begun))))
}

/// Signs in with a passkey. Returns the sign-in and its secret.
pub async fn sign_in(
    hub: &Services,
    site: &WebAddress,
    body: &[u8],
) -> Result<(SignIn, String), HttpRefusal> {
    #[derive(Deserialize)]
    struct Login {
        challenge: String,
        answer: PublicKeyCredential,
    }
    let Login { challenge, answer } = read(body)?;
    match hub.passkeys.check(party(site)?, &challenge, &answer).await.map_err(internal)? {
        Some(passkey) => hub.sign_ins.sign_in_by(&passkey).await.map_err(internal),
        None => {
            tracing::warn!("a wrong passkey for the dashboard");
            refused(StatusCode::UNAUTHORIZED, "The hub does not accept this passkey")
        }
    }
}

/// Answers a request of a user who may act. Returns `None` if the path is not one of a request about passkeys.
pub async fn answer(
    hub: &Services,
    from: &RequestOrigin<'_>,
    path: &str,
    body: &[u8],
) -> Option<HttpResult> {
    Some(match path {
        "/api/passkeys/begin" => begin_adding(hub, from, body).await,
        "/api/passkeys" => add(hub, from, body).await,
        "/api/passkeys/remove" => remove(hub, body).await,
        _ => return None,
    })
}

/// Begins to add a passkey.
async fn begin_adding(hub: &Services, from: &RequestOrigin<'_>, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Begin {
        name: String,
        read_only: bool,
    }
    let Begin { name, read_only } = read(body)?;
    let party = party(from.site)?;
    let begun = hub.passkeys.begin_adding(party, from.secret, &name, !read_only).await;
    Ok(json_reply(&json!(begun.map_err(missing)?)))
}

/// Adds a passkey.
async fn add(hub: &Services, from: &RequestOrigin<'_>, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Add {
        challenge: String,
        answer: RegisterPublicKeyCredential,
    }
    let Add { challenge, answer } = read(body)?;
    let party = party(from.site)?;
    let added = hub.passkeys.add(party, from.secret, &challenge, &answer).await;
    Ok(json_reply(&json!({"id": added.map_err(missing)?.id})))
}

/// Removes a passkey.
async fn remove(hub: &Services, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Remove {
        id: String,
    }
    let Remove { id } = read(body)?;
    found(hub.passkeys.remove(&id).await.map_err(internal)?, "There is no such passkey")
}
