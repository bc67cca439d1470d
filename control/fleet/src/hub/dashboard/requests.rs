//! The requests with which a user who may act changes something.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::{
    hub::{
        action::{Action, Call, Failure, check_message},
        audit::{self, PERSON},
        blocked_lines::ReleaseOutcome,
        conversations::Decision,
        http_reply::{HttpResult, done, internal, json_reply, read, refused},
        pairing::Pairing,
        services::Services,
        store::INVITATION_AGE,
        tokens::Right,
        web_address::WebAddress,
    },
    identity::MachineId,
    protocol::{InputPart, LONGEST_TEXT, RefusedLine},
    random::random_hex,
};

/// The client name of the input that the user types in the dashboard.
const CLIENT: &str = "dashboard";
/// The refusal for a machine that is not paired.
const NO_MACHINE: &str = "There is no such machine";

/// The facts about the page that sent the request.
pub struct RequestOrigin<'a> {
    /// The address of the hub, as the page used it.
    pub site: &'a WebAddress,
    /// The secret of the sign-in.
    pub secret: &'a str,
}

/// Answers a request.
///
/// # Errors
/// A status, and the reason for the user.
pub async fn answer(
    hub: &Services,
    pairing: &Pairing,
    from: &RequestOrigin<'_>,
    path: &str,
    body: &[u8],
) -> HttpResult {
    match path {
        "/api/conversations/decide" => decide(hub, body).await,
        "/api/stop" => stop(hub, body).await,
        "/api/tokens" => make_token(hub, body).await,
        "/api/tokens/revoke" => revoke_token(hub, body).await,
        "/api/machines/invite" => invite(pairing, &from.site.origin).await,
        "/api/machines/remove" => remove_machine(hub, body).await,
        "/api/lines/release" => release_line(hub, body).await,
        "/api/lines/drop" => drop_line(hub, body).await,
        "/api/sessions/type" => type_in(hub, from.secret, body).await,
        _ => refused(StatusCode::NOT_FOUND, "There is no such request"),
    }
}

/// The refusal for an error while finding what a request names.
pub fn missing(error: anyhow::Error) -> (StatusCode, String) {
    (StatusCode::CONFLICT, format!("{error:#}"))
}

/// The reply to a request that changes one thing. `is_found`: whether that thing exists.
pub fn found(is_found: bool, otherwise: &str) -> HttpResult {
    if is_found { Ok(done()) } else { refused(StatusCode::CONFLICT, otherwise) }
}

async fn decide(hub: &Services, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Decide {
        key: Option<String>,
        #[serde(default)]
        all: bool,
        decision: Decision,
    }
    match read(body)? {
        Decide { all: true, key: None, decision } => {
            hub.conversations.decide_all(decision).await.map_err(missing)?;
        }
        Decide { all: false, key: Some(key), decision } => {
            hub.conversations.decide_key(&key, decision).await.map_err(missing)?;
        }
        _ => return refused(StatusCode::BAD_REQUEST, "Give a `key`, or `all`"),
    }
    Ok(done())
}

async fn stop(hub: &Services, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Stop {
        stopped: bool,
    }
    let Stop { stopped } = read(body)?;
    hub.stop.set(stopped).await.map_err(internal)?;
    Ok(done())
}

async fn make_token(hub: &Services, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Make {
        name: String,
        machines: Option<Vec<MachineId>>,
        rights: Vec<Right>,
        expires_seconds: Option<u32>,
    }
    let Make { name, machines, rights, expires_seconds } = read(body)?;
    let lifetime = expires_seconds.map(|seconds| time::Duration::seconds(seconds.into()));
    let made = hub.tokens.create(&name, machines, rights, lifetime).await;
    let (token, secret) = made.map_err(missing)?;
    Ok(json_reply(&json!({"id": token.id, "token": secret})))
}

async fn revoke_token(hub: &Services, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Revoke {
        id: String,
    }
    let Revoke { id } = read(body)?;
    found(hub.tokens.revoke_id(&id).await.map_err(internal)?, "There is no such token")
}

async fn invite(pairing: &Pairing, own: &str) -> HttpResult {
    let code = pairing.code().await.map_err(internal)?;
    Ok(json_reply(&json!({
        "code": code,
        "command": format!("unterm-cli connect {own}"),
        "expires_seconds": INVITATION_AGE.as_secs(),
    })))
}

async fn remove_machine(hub: &Services, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Remove {
        id: MachineId,
    }
    let Remove { id } = read(body)?;
    found(hub.machines.remove(&id).await.map_err(internal)?, NO_MACHINE)
}

/// The id of a call whose line the rules of a machine refuse.
#[derive(Deserialize)]
struct OfLine {
    id: String,
}

const NO_LINE: &str = "This line no longer waits";

async fn release_line(hub: &Services, body: &[u8]) -> HttpResult {
    let OfLine { id } = read(body)?;
    // The release continues even if the page closes the connection.
    let lines = hub.blocked_lines.clone();
    let released = tokio::spawn(async move { lines.release(&id).await }).await;
    decided(released.map_err(|error| internal(error.into()))?)
}

async fn drop_line(hub: &Services, body: &[u8]) -> HttpResult {
    let OfLine { id } = read(body)?;
    decided(hub.blocked_lines.drop(&id).await)
}

fn decided(decided: anyhow::Result<ReleaseOutcome>) -> HttpResult {
    match decided.map_err(internal)? {
        ReleaseOutcome::Done => Ok(done()),
        ReleaseOutcome::Refused(why) | ReleaseOutcome::Waits(why) => {
            Err((StatusCode::CONFLICT, why))
        }
        ReleaseOutcome::Missing => refused(StatusCode::CONFLICT, NO_LINE),
    }
}

/// Types the user's input into a session. The audit log records that the user typed, but not the text, which may be a
/// password.
async fn type_in(hub: &Services, secret: &str, body: &[u8]) -> HttpResult {
    #[derive(Deserialize)]
    struct Typing {
        machine: MachineId,
        sid: String,
        text: String,
        /// A line that the user has released although the machine's rules refuse it.
        released: Option<String>,
    }
    let Typing { machine, sid, text, released } = read(body)?;
    if !hub.machines.is_paired(&machine) {
        return refused(StatusCode::CONFLICT, NO_MACHINE);
    }
    if text.len() > LONGEST_TEXT {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, "The text is too long");
    }
    check_message("the text", &text).map_err(|why| (StatusCode::PAYLOAD_TOO_LARGE, why))?;
    if hub.typing.begins(secret, &machine, &sid) {
        let detail = format!("{machine} {sid}");
        let logged = audit::changed(&hub.store, "type", &detail).await;
        logged.inspect_err(|_| hub.typing.forget(secret, &machine, &sid)).map_err(internal)?;
    }
    if let Some(line) = &released {
        let detail = format!("{machine} {sid}: {line}");
        audit::changed(&hub.store, "release", &detail).await.map_err(internal)?;
    }
    let call = Call {
        id: random_hex::<16>().map_err(internal)?,
        tool: "type".to_owned(),
        token: PERSON.to_owned(),
        token_name: CLIENT.to_owned(),
        conversation: String::new(),
        action: Action::Send {
            machine,
            session: sid,
            parts: vec![InputPart { text, after_ms: 0 }],
        },
        released,
    };
    match hub.executor.execute(&call).await {
        Ok(_) => Ok(done()),
        // The page asks the user, and sends the text again if the user releases the line.
        Err(Failure::Blocked(RefusedLine { line, rule, .. })) => {
            let shown = unterm_control::escaped(&line);
            Ok(json_reply(&json!({"blocked": {"line": line, "shown": shown, "rule": rule}})))
        }
        Err(failure) => Err((StatusCode::CONFLICT, failure.message())),
    }
}
