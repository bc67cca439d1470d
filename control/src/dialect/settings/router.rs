//! Converts a request to a method call, and the method's reply to a response.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    RequestPartsExt, Router,
    body::Body,
    extract::{Query, RawPathParams, Request},
    http::{Response, StatusCode, header, request::Parts},
    routing::{MethodFilter, MethodRouter, any, get},
};
use hyper::body::Body as _;
use serde_json::{Map, Value, json};

use super::{
    assets,
    connection::{Connection, Shared},
    events,
    guard::Guard,
    openapi, peer,
    routes::{BOOTSTRAP, EVENTS, OPENAPI, ROUTES, Route, Shape},
};
use crate::{
    caller::Caller,
    dialect::{
        http::{failure, holding, reply, whole},
        mcp::http as mcp,
    },
    error::Error,
    offload,
    services::limits::message_budget::SHORT,
};

/// The maximum length of a body, in bytes.
const LONGEST_BODY: usize = 1 << 20;
/// The maximum duration of a call. No route waits for a program, so none needs more time.
const CALLING: Duration = Duration::from_secs(60);
/// The error if a token that is limited to some sessions asks for the events of all sessions.
const NOT_ITS_SESSIONS: &str = "Not allowed: /api/events is out of the token's sessions";
/// The error for a connection that exceeds the maximum number.
const TOO_MANY: &str = "There are too many connections: close some of them";

/// Builds the router of all routes.
pub fn router(shared: &Arc<Shared>) -> Router {
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in ROUTES {
        let shared = shared.clone();
        let filter = MethodFilter::try_from(route.verb.clone()).expect("a verb of HTTP");
        let handler = move |request: Request| async move { answer(&shared, route, request).await };
        let there = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, there.on(filter, handler));
    }
    let mut router = Router::new();
    for (path, methods) in paths {
        router = router.route(path, methods);
    }
    for path in assets::paths() {
        let file = move || async move { assets::find(path).unwrap_or_default() };
        router = router.route(path, get(file));
    }
    let (first, second, third) = (shared.clone(), shared.clone(), shared.clone());
    for path in mcp::PATHS {
        let shared = shared.clone();
        let agents = move |request| async move { ask_mcp(&shared, request).await };
        router = router.route(path, any(agents));
    }
    router
        .route(
            BOOTSTRAP,
            get(move |request: Request| async move { enter(&first, request.into_parts().0).await }),
        )
        .route(
            EVENTS,
            get(move |request: Request| async move {
                match caller(&second, &request.into_parts().0).await {
                    // The events are about all sessions.
                    Ok(caller) if caller.panes.is_some() => {
                        failure(StatusCode::FORBIDDEN, NOT_ITS_SESSIONS)
                    }
                    Ok(caller) => events::stream(second.dispatcher.clone(), caller),
                    Err(refusal) => refusal,
                }
            }),
        )
        .route(
            OPENAPI,
            get(move |request: Request| async move {
                match caller(&third, &request.into_parts().0).await {
                    Ok(_) => json_reply(&openapi::describe()),
                    Err(refusal) => refusal,
                }
            }),
        )
        .fallback(|| async { failure(StatusCode::NOT_FOUND, "There is nothing at this address") })
        .method_not_allowed_fallback(|| async {
            failure(StatusCode::METHOD_NOT_ALLOWED, "This address is not used that way")
        })
}

/// The caller that a request's token belongs to.
///
/// # Errors
/// The response for a request without a valid token.
async fn caller(shared: &Shared, parts: &Parts) -> Result<Caller, Response<Body>> {
    let connection = parts.extensions.get::<Arc<Connection>>();
    let id = connection.map_or(0, |connection| connection.id);
    let context = shared.dispatcher.context();
    let guard = &shared.guard;
    let caller =
        guard.caller(&parts.headers, &context.people.login_codes, &context.people.tokens, id).await;
    let caller = caller.map_err(|why| {
        let mut refusal = failure(StatusCode::UNAUTHORIZED, why);
        let scheme = axum::http::HeaderValue::from_static("Bearer");
        refusal.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        refusal
    })?;
    match connection {
        Some(connection) if !connection.succeeded(&shared.places, caller.token) => {
            Err(failure(StatusCode::SERVICE_UNAVAILABLE, TOO_MANY))
        }
        _ => Ok(caller),
    }
}

/// `GET /bootstrap.json`: exchanges a one-time code for the page's token. If the caller already has a token, it keeps
/// that token. Only programs of the instance's user may exchange a code. A refused attempt does not use up the code.
async fn enter(shared: &Shared, parts: Parts) -> Response<Body> {
    let context = shared.dispatcher.context();
    let given = Guard::bearer(&parts.headers);
    if given.is_some_and(|code| context.people.login_codes.is_code(code))
        && let Err(refusal) = of_own_user(&parts).await
    {
        return refusal;
    }
    let token = match given.and_then(|code| context.people.login_codes.enter(code)) {
        Some(token) => token,
        None => match caller(shared, &parts).await {
            Ok(_) => given.unwrap_or_default().to_owned(),
            Err(refusal) => return refusal,
        },
    };
    let record = context.registration.record();
    json_reply(&json!({
        "auth_token": token,
        "mcp_port": record.mcp_port,
        "http_port": record.http_port,
    }))
}

/// Refuses a request from a program of another user, or of an unknown user.
async fn of_own_user(parts: &Parts) -> Result<(), Response<Body>> {
    let Some(connection) = parts.extensions.get::<Arc<Connection>>() else {
        return Err(failure(StatusCode::INTERNAL_SERVER_ERROR, "The connection is not known"));
    };
    let Connection { id, peer, own, .. } = **connection;
    let looked = tokio::task::spawn_blocking(move || peer::is_own_user(peer, own)).await;
    let why = match looked.unwrap_or_else(|error| Err(error.into())) {
        Ok(true) => return Ok(()),
        Ok(false) => "This code can only be used by programs of the user who made it".to_owned(),
        Err(error) => format!("This code can't be used: whose program asks is unknown: {error}"),
    };
    tracing::warn!(id, %peer, why, "refused a code for the settings page");
    Err(failure(StatusCode::FORBIDDEN, &why))
}

/// Serves a request of the Model Context Protocol.
async fn ask_mcp(shared: &Shared, request: Request) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let caller = match caller(shared, &parts).await {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let query = parts.extract::<Query<BTreeMap<String, String>>>().await;
    let query = query.map(|Query(query)| query).unwrap_or_default();
    let request = Request::from_parts(parts, body);
    match shared.mcp.answer(caller, &query, request).await {
        Ok(reply) => reply,
        Err((status, why)) => failure(status, &why),
    }
}

fn json_reply(value: &Value) -> Response<Body> {
    reply(StatusCode::OK, "application/json", value.to_string())
}

/// Responds to a request that calls a method.
async fn answer(shared: &Shared, route: &'static Route, request: Request) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let caller = match caller(shared, &parts).await {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let mut params = Map::new();
    if let Ok(Query(query)) = parts.extract::<Query<BTreeMap<String, String>>>().await {
        params.extend(query.into_iter().map(|(name, value)| (name, value.into())));
    }
    let in_path = parts.extract::<RawPathParams>().await;
    let in_path: Vec<(String, String)> = in_path
        .iter()
        .flat_map(RawPathParams::iter)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut reservation = shared.dispatcher.context().limits.message_budget.reserve(caller.token);
    let body = match whole(body, LONGEST_BODY, &mut reservation).await {
        Ok(body) => body,
        Err((status, why)) => return failure(status, &why),
    };
    let is_long = body.len() > SHORT;
    let called = call(shared, route, &caller, (params, in_path), &body);
    let reply = offload::long_polls(called, || is_long).await;
    drop(body);
    match reservation.resize(reply.body().size_hint().lower() as usize) {
        Ok(()) => holding(reply, reservation),
        Err(why) => failure(StatusCode::SERVICE_UNAVAILABLE, &why.to_string()),
    }
}

/// Calls the method with the parameters from the query, the path and the body.
async fn call(
    shared: &Shared,
    route: &'static Route,
    caller: &Caller,
    (mut params, in_path): (Map<String, Value>, Vec<(String, String)>),
    body: &[u8],
) -> Response<Body> {
    let bad = |message: &str| failure(StatusCode::BAD_REQUEST, message);
    if !body.trim_ascii().is_empty() {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Object(body)) => params.extend(body),
            Ok(_) => return bad("The body must be a JSON object"),
            Err(error) => return bad(&format!("The body is no JSON: {error}")),
        }
    }
    // The parameters in the path are added last, so that no other parameter replaces them.
    params.extend(in_path.into_iter().map(|(name, value)| (name, value.into())));
    for (here, there) in route.names {
        if let Some(value) = params.remove(*here) {
            params.insert((*there).to_owned(), value);
        }
    }
    params.extend(route.fixed.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));

    let params = Value::Object(params).to_string();
    let mut out = Vec::new();
    let call = shared.dispatcher.call_entry(caller, &route.entry, &params, &mut out);
    match tokio::time::timeout(CALLING, call).await {
        Ok(Ok(())) => written(route.shape, out),
        Ok(Err(error)) => failure(status(&error, route), &error.to_string()),
        Err(_) => failure(StatusCode::GATEWAY_TIMEOUT, "The call took too long"),
    }
}

fn written(shape: Shape, out: Vec<u8>) -> Response<Body> {
    let json = "application/json";
    match shape {
        Shape::Json => reply(StatusCode::OK, json, out),
        Shape::Under(name) => {
            let mut body = format!("{{{}:", Value::from(name)).into_bytes();
            body.extend_from_slice(&out);
            body.push(b'}');
            reply(StatusCode::OK, json, body)
        }
        Shape::Text(name) => {
            let value: Value = serde_json::from_slice(&out).unwrap_or_default();
            let text = value[name].as_str().unwrap_or_default().to_owned();
            reply(StatusCode::OK, "text/plain; charset=utf-8", text)
        }
    }
}

fn status(error: &Error, route: &Route) -> StatusCode {
    match error {
        Error::Denied(_) | Error::Policy(_) | Error::Secret(_) => StatusCode::FORBIDDEN,
        Error::Leased { .. } | Error::TakenOver(_) | Error::Begun { .. } | Error::Busy { .. } => {
            StatusCode::CONFLICT
        }
        Error::NoSession(_) | Error::NoBlock { .. } => StatusCode::NOT_FOUND,
        Error::Failed(_) => route.failed,
        Error::Panicked(_) | Error::Reply(_) | Error::Registry(_) => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::BAD_REQUEST,
    }
}
