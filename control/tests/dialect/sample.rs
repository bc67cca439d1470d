//! A protocol for tests: JSON-RPC with `Content-Length` headers, and with different names, shapes and error codes than
//! Unterm's own. Its requests run concurrently and can be canceled. This file contains everything that a new protocol
//! needs.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use unterm_control::{
    Caller, ContentLength, Credentials, Dialect, Error, MessageEffect, Peer, Refusal,
};

/// The error codes. Codes that the Language Server Protocol defines have its numbers.
pub mod code {
    pub const PARSE: i64 = -32700;
    pub const UNKNOWN_METHOD: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const NOT_LOGGED_IN: i64 = -32002;
    pub const CANCELLED: i64 = -32800;
    pub const WRONG_TOKEN: i64 = 401;
    pub const DENIED: i64 = 403;
    pub const NO_TERMINAL: i64 = 404;
    pub const CLOSED: i64 = 408;
    pub const FAILED: i64 = 500;
}

/// The maximum number of concurrent requests of a connection.
pub const AT_ONCE: usize = 4;

/// A method of this protocol, with the Unterm method that it calls.
struct Method {
    name: &'static str,
    stands_for: &'static str,
    /// The names of the parameters in this protocol, each with the name in Unterm.
    params: &'static [(&'static str, &'static str)],
    /// Converts Unterm's reply to this protocol's result.
    result: fn(Value) -> Value,
}

const TERMINAL: (&str, &str) = ("terminal", "id");

const fn method(
    name: &'static str,
    stands_for: &'static str,
    params: &'static [(&'static str, &'static str)],
    result: fn(Value) -> Value,
) -> Method {
    Method { name, stands_for, params, result }
}

/// All methods except `hello` and `cancel`, which concern the connection.
const METHODS: [Method; 10] = [
    method("about", "server.info", &[], |reply| json!({"server": reply["name"]})),
    method("terminal/list", "session.list", &[], |reply| {
        let sessions = reply["sessions"].as_array().into_iter().flatten();
        sessions.map(|session| session["id"].clone()).collect()
    }),
    method(
        "terminal/open",
        "session.create",
        &[("program", "program"), ("arguments", "args"), ("width", "cols"), ("height", "rows")],
        |reply| json!({"terminal": reply["id"]}),
    ),
    method("terminal/close", "session.destroy", &[TERMINAL], |_| Value::Null),
    method("terminal/type", "session.input", &[TERMINAL, ("text", "input")], |_| Value::Null),
    method(
        "terminal/resize",
        "session.resize",
        &[TERMINAL, ("width", "cols"), ("height", "rows")],
        |_| Value::Null,
    ),
    method("terminal/rename", "session.rename", &[TERMINAL, ("title", "title")], |_| Value::Null),
    method("terminal/rows", "screen.text", &[TERMINAL], |reply| json!({"rows": reply["lines"]})),
    method(
        "terminal/wait",
        "session.wait",
        &[TERMINAL, ("until", "any"), ("milliseconds", "timeout_ms")],
        |reply| json!({"found": reply["matched"]}),
    ),
    method("subscribe", "events.subscribe", &[("kinds", "events")], |_| Value::Null),
];

/// The protocol.
pub struct Sample;

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    id: Value,
    method: String,
    #[serde(default)]
    params: Map<String, Value>,
}

/// An error's code and reason.
type Failure = (i64, String);

impl Dialect for Sample {
    type Framing = ContentLength;
    const AT_ONCE: usize = AT_ONCE;

    async fn answer(&self, peer: &Peer, message: &[u8], reply: &mut Vec<u8>) -> MessageEffect {
        let Request { id, method, params } = match serde_json::from_slice(message) {
            Ok(request) => request,
            Err(error) => {
                write(reply, &Value::Null, Err((code::PARSE, error.to_string())));
                return MessageEffect::Answered;
            }
        };
        match (&*method, peer.caller()) {
            ("hello", _) => {
                let text = |name: &str| params.get(name)?.as_str().map(str::to_owned);
                let (token, client) = (text("token").unwrap_or_default(), text("client"));
                let credentials = Credentials { token, client, ..Credentials::default() };
                match peer.log_in(credentials).await {
                    Ok(caller) => {
                        write(reply, &id, Ok(json!({"atOnce": AT_ONCE})));
                        return MessageEffect::LoggedIn(caller);
                    }
                    Err(error) => write(reply, &id, Err((code::WRONG_TOKEN, error.to_string()))),
                }
            }
            // `cancel` itself has no answer. The canceled request is answered with an error.
            ("cancel", _) => drop(peer.cancel(&params["id"].to_string())),
            (_, None) => {
                write(reply, &id, Err((code::NOT_LOGGED_IN, "Say hello first".to_owned())))
            }
            (_, Some(caller)) => {
                let called = call(peer, caller, &method, params);
                let result = peer.cancellable(&id.to_string(), called).await;
                let cancelled = || Err((code::CANCELLED, "Cancelled".to_owned()));
                write(reply, &id, result.unwrap_or_else(cancelled));
            }
        }
        MessageEffect::Answered
    }

    fn is_urgent(&self, message: &[u8]) -> bool {
        serde_json::from_slice::<Request>(message).is_ok_and(|request| request.method == "cancel")
    }

    fn write_event(&self, event: &Value, message: &mut Vec<u8>) {
        let params = json!({"kind": event["event"], "title": event["title"]});
        let event = json!({"method": "happened", "params": params});
        message.extend_from_slice(event.to_string().as_bytes());
    }

    fn write_refusal(&self, refusal: &Refusal, message: &mut Vec<u8>) {
        write(message, &Value::Null, Err((code::CLOSED, refusal.to_string())));
    }
}

/// Calls Unterm's method for a method of this protocol.
async fn call(
    peer: &Peer,
    caller: &Caller,
    name: &str,
    given: Map<String, Value>,
) -> Result<Value, Failure> {
    let method = METHODS.iter().find(|method| method.name == name);
    let method = method.ok_or_else(|| (code::UNKNOWN_METHOD, format!("There is no {name}")))?;
    let mut params = Map::new();
    for (name, value) in given {
        let row = method.params.iter().find(|(own, _)| *own == name);
        let row =
            row.ok_or_else(|| (code::INVALID_PARAMS, format!("{name} means nothing here")))?;
        params.insert(row.1.to_owned(), value);
    }
    let mut reply = Vec::new();
    let params = Value::Object(params).to_string();
    peer.call(caller, method.stands_for, &params, &mut reply).await.map_err(failure)?;
    let reply = serde_json::from_slice(&reply);
    Ok((method.result)(reply.map_err(|error| (code::FAILED, error.to_string()))?))
}

fn failure(error: Error) -> Failure {
    let code = match &error {
        Error::NoTarget
        | Error::BadTarget { .. }
        | Error::Missing(_)
        | Error::MissingParameter(_) => code::INVALID_PARAMS,
        Error::Invalid { .. } | Error::Params(_) | Error::TooLarge { .. } => code::INVALID_PARAMS,
        Error::NoSession(_) => code::NO_TERMINAL,
        Error::Denied(_) => code::DENIED,
        _ => code::FAILED,
    };
    (code, error.to_string())
}

fn write(reply: &mut Vec<u8>, id: &Value, result: Result<Value, Failure>) {
    let message = match result {
        Ok(result) => json!({"id": id, "result": result}),
        Err((code, message)) => json!({"id": id, "error": {"code": code, "message": message}}),
    };
    reply.extend_from_slice(message.to_string().as_bytes());
}
