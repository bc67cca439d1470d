//! Functions for HTTP that the endpoints of agents and the dashboard share.

use std::{collections::HashMap, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::Query,
    http::{HeaderMap, Response, StatusCode, Uri, header},
};
use serde::Deserialize;
use serde_json::Value;
use unterm_control::mcp_http::{failure, reply};

/// The delay before a wrong token or code is refused, so that guessing is slow.
pub const WRONG_SECRET: Duration = Duration::from_millis(500);

/// A refusal: its status, and the reason for the client.
pub type HttpRefusal = (StatusCode, String);

/// A reply, or a refusal.
pub type HttpResult = Result<Response<Body>, HttpRefusal>;

/// The reply for a refusal.
pub fn refusal((status, why): HttpRefusal) -> Response<Body> {
    failure(status, &why)
}

/// Returns a refusal with this reason.
///
/// # Errors
/// Always.
pub fn refused<T>(status: StatusCode, why: &str) -> Result<T, HttpRefusal> {
    Err((status, why.to_owned()))
}

/// The refusal for an error of the fleet's store.
pub fn internal(error: anyhow::Error) -> HttpRefusal {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{error:#}"))
}

/// A parameter of a query.
pub fn query(uri: &Uri, name: &str) -> Option<String> {
    let Query(mut all) = Query::<HashMap<String, String>>::try_from_uri(uri).ok()?;
    all.remove(name)
}

/// The secret in the Authorization header.
pub fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim().to_owned())
}

/// Reads a body of JSON.
///
/// # Errors
/// The body does not have the form of `T`. The reason contains the position in the body.
pub fn read<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, HttpRefusal> {
    serde_json::from_slice(body).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))
}

/// A reply of JSON.
pub fn json_reply(value: &Value) -> Response<Body> {
    reply(StatusCode::OK, "application/json", value.to_string())
}

/// An event of a stream (HTML Standard, server-sent events). `data` is one line.
pub fn event(kind: &str, data: &str) -> Bytes {
    format!("event: {kind}\ndata: {data}\n\n").into()
}

/// A reply without content.
pub fn done() -> Response<Body> {
    reply(StatusCode::NO_CONTENT, "application/json", Body::empty())
}
