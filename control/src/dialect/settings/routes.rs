//! The table of routes: each is a method and how a request becomes its parameters. The router and the OpenAPI
//! description are made from it.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    RequestPartsExt, Router,
    body::Body,
    extract::{Query, RawPathParams, Request},
    http::{Method as Verb, Response, StatusCode, header, request::Parts},
    routing::{MethodFilter, MethodRouter, any, get},
};
use serde_json::{Map, Value, json};

use super::{
    CALLING, Connection, LONGEST_BODY, Shared, assets, events, failure, guard::Guard,
    methods as own, openapi, peer, reply, whole,
};
use crate::{
    dialect::mcp::http as mcp,
    error::Error,
    methods::{self, Entry, entry},
};

/// What a route calls.
pub enum Target {
    /// A method of every wire.
    Method(&'static str),
    /// One that only this wire has.
    Own(Entry),
}

/// How a method's reply is written.
#[derive(Clone, Copy)]
pub enum Shape {
    /// As it is.
    Json,
    /// In an object, under this name.
    Under(&'static str),
    /// The text that is under this name, as plain text.
    Text(&'static str),
}

/// A route.
pub struct Route {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub verb: Verb,
    /// Its address; `{name}` is a parameter.
    pub path: &'static str,
    /// What is called.
    pub target: Target,
    /// Parameters with other names here than in the method.
    pub names: &'static [(&'static str, &'static str)],
    /// Parameters that the address stands for.
    pub fixed: &'static [(&'static str, &'static str)],
    /// How the reply is written.
    pub shape: Shape,
    /// The status of what the method could not do.
    pub failed: StatusCode,
}

impl Route {
    /// The method's row.
    ///
    /// # Panics
    /// When the table names a method that does not exist; a test sees to that.
    pub fn entry(&'static self) -> &'static Entry {
        match &self.target {
            Target::Own(entry) => entry,
            Target::Method(name) => methods::find(name).expect("a route's method exists"),
        }
    }

    const fn names(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.names = names;
        self
    }

    const fn fixed(mut self, fixed: &'static [(&'static str, &'static str)]) -> Self {
        self.fixed = fixed;
        self
    }

    const fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    const fn failed(mut self, failed: StatusCode) -> Self {
        self.failed = failed;
        self
    }
}

const fn route(verb: Verb, path: &'static str, target: Target) -> Route {
    let failed = StatusCode::BAD_REQUEST;
    Route { verb, path, target, names: &[], fixed: &[], shape: Shape::Json, failed }
}

const fn wire(verb: Verb, path: &'static str, method: &'static str) -> Route {
    route(verb, path, Target::Method(method))
}

const fn own<M: methods::Method>(verb: Verb, path: &'static str) -> Route {
    route(verb, path, Target::Own(entry::<M>()))
}

const NOT_FOUND: StatusCode = StatusCode::NOT_FOUND;
const PANE: &[(&str, &str)] = &[("pane_id", "id")];
const SESSION: &[(&str, &str)] = &[("id", "session_id")];

/// Every route, the settings first, then those of every Unterm, then the rest of what the page uses.
pub static ROUTES: &[Route] = &[
    own::<own::All>(Verb::GET, "/api/settings"),
    own::<own::Themes>(Verb::GET, "/api/settings/themes"),
    own::<own::Theme>(Verb::GET, "/api/settings/theme"),
    own::<own::SetTheme>(Verb::PUT, "/api/settings/theme"),
    own::<own::Keys>(Verb::GET, "/api/settings/keys"),
    own::<own::SetKeys>(Verb::PUT, "/api/settings/keys"),
    own::<own::Scrollback>(Verb::GET, "/api/settings/scrollback"),
    own::<own::SetScrollback>(Verb::PUT, "/api/settings/scrollback"),
    own::<own::Compat>(Verb::GET, "/api/settings/compat"),
    own::<own::SetCompat>(Verb::PUT, "/api/settings/compat"),
    wire(Verb::GET, "/api/settings/proxy", "proxy.status"),
    own::<own::SetProxy>(Verb::PUT, "/api/settings/proxy"),
    own::<own::Language>(Verb::GET, "/api/settings/i18n"),
    own::<own::SetLanguage>(Verb::PUT, "/api/settings/i18n"),
    own::<own::Recording>(Verb::GET, "/api/settings/recording"),
    own::<own::SetRecording>(Verb::PUT, "/api/settings/recording"),
    own::<own::Section>(Verb::GET, "/api/settings/font").fixed(&[("section", "font")]),
    own::<own::SetSection>(Verb::PUT, "/api/settings/font").fixed(&[("section", "font")]),
    own::<own::Section>(Verb::GET, "/api/settings/cursor").fixed(&[("section", "cursor")]),
    own::<own::SetSection>(Verb::PUT, "/api/settings/cursor").fixed(&[("section", "cursor")]),
    own::<own::Section>(Verb::GET, "/api/settings/bell").fixed(&[("section", "bell")]),
    own::<own::SetSection>(Verb::PUT, "/api/settings/bell").fixed(&[("section", "bell")]),
    own::<own::Section>(Verb::GET, "/api/settings/window").fixed(&[("section", "window")]),
    own::<own::SetSection>(Verb::PUT, "/api/settings/window").fixed(&[("section", "window")]),
    own::<own::Section>(Verb::GET, "/api/settings/{section}"),
    own::<own::SetSection>(Verb::PUT, "/api/settings/{section}"),
    own::<own::Answers>(Verb::GET, "/api/health"),
    own::<own::State>(Verb::GET, "/api/state"),
    own::<own::SetProxy>(Verb::POST, "/api/proxy"),
    own::<own::SetTheme>(Verb::POST, "/api/theme"),
    own::<own::Scrollback>(Verb::GET, "/api/scrollback"),
    own::<own::SetScrollback>(Verb::POST, "/api/scrollback"),
    own::<own::Compat>(Verb::GET, "/api/compat"),
    own::<own::SetCompat>(Verb::POST, "/api/compat"),
    own::<own::Updates>(Verb::GET, "/api/updates"),
    own::<own::CheckUpdates>(Verb::POST, "/api/updates/check").failed(StatusCode::BAD_GATEWAY),
    wire(Verb::POST, "/api/recording/start", "session.recording_start").names(PANE),
    wire(Verb::POST, "/api/recording/stop", "session.recording_stop").names(PANE),
    wire(Verb::GET, "/api/sessions", "session.recording_list").shape(Shape::Under("sessions")),
    wire(Verb::GET, "/api/sessions/{id}/markdown", "session.recording_read")
        .names(SESSION)
        .shape(Shape::Text("markdown"))
        .failed(NOT_FOUND),
    own::<own::Language>(Verb::GET, "/api/i18n"),
    own::<own::SetLanguage>(Verb::POST, "/api/i18n"),
    own::<own::Words>(Verb::GET, "/api/i18n/{code}").failed(NOT_FOUND),
    wire(Verb::GET, "/api/proxy/nodes", "proxy.nodes"),
    wire(Verb::PUT, "/api/proxy/nodes", "proxy.configure"),
    wire(Verb::POST, "/api/proxy/switch", "proxy.switch"),
    wire(Verb::POST, "/api/proxy/speedtest", "proxy.speedtest"),
    wire(Verb::GET, "/api/proxy/env", "proxy.env"),
    wire(Verb::GET, "/api/panes", "session.list"),
    own::<own::Search>(Verb::GET, "/api/sessions/search"),
    own::<own::Agents>(Verb::GET, "/api/agents"),
    own::<own::Pause>(Verb::POST, "/api/agents/pause"),
    own::<own::ClosePage>(Verb::POST, "/api/agents/close_page").failed(NOT_FOUND),
    wire(Verb::GET, "/api/tokens", "token.list"),
    wire(Verb::POST, "/api/tokens", "token.create"),
    wire(Verb::POST, "/api/tokens/revoke", "token.revoke"),
    wire(Verb::GET, "/api/approvals", "approvals.list"),
    wire(Verb::POST, "/api/approvals/answer", "approvals.answer"),
    wire(Verb::POST, "/api/approvals/forget", "approvals.forget"),
    own::<own::Policy>(Verb::GET, "/api/policy"),
    wire(Verb::PUT, "/api/policy", "policy.set"),
    wire(Verb::POST, "/api/policy/check", "policy.check"),
    wire(Verb::GET, "/api/capabilities", "server.capabilities"),
    wire(Verb::GET, "/api/instances", "instance.list"),
    own::<own::Title>(Verb::GET, "/api/project"),
    wire(Verb::PUT, "/api/project", "instance.set_title"),
];

/// The methods that only this wire has.
#[cfg(test)]
pub fn own_methods() -> impl Iterator<Item = &'static Entry> {
    ROUTES.iter().filter_map(|route| match &route.target {
        Target::Own(entry) => Some(entry),
        Target::Method(_) => None,
    })
}

/// What a token for some sessions is told that asks for what is of all of them.
const NOT_ITS_SESSIONS: &str = "Not allowed: /api/events is out of the token's sessions";
/// What a connection is told for which there is no place.
const TOO_MANY: &str = "There are too many connections: close some of them";

/// The routes that are not methods: the page itself, its way in, what is told to it, and their description.
pub const BOOTSTRAP: &str = "/bootstrap.json";
/// What changed.
pub const EVENTS: &str = "/api/events";
/// The description of the routes.
pub const OPENAPI: &str = "/api/openapi.json";

/// The router of all of them.
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
                    // They are of all sessions.
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

/// Who calls; without a right token, the refusal.
async fn caller(shared: &Shared, parts: &Parts) -> Result<crate::caller::Caller, Response<Body>> {
    let connection = parts.extensions.get::<Arc<Connection>>();
    let id = connection.map_or(0, |connection| connection.id);
    let context = shared.dispatcher.context();
    let guard = &shared.guard;
    let caller = guard.caller(&parts.headers, &context.door, &context.tokens, id).await;
    let caller = caller.map_err(|why| {
        let mut refusal = failure(StatusCode::UNAUTHORIZED, why);
        let scheme = axum::http::HeaderValue::from_static("Bearer");
        refusal.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        refusal
    })?;
    match connection {
        Some(connection) if !connection.succeeded(&shared.places) => {
            Err(failure(StatusCode::SERVICE_UNAVAILABLE, TOO_MANY))
        }
        _ => Ok(caller),
    }
}

/// `GET /bootstrap.json`: exchanges a single-use code for the page's token; who has a token already keeps it. Only programs of
/// our own user may exchange a code, whoever else got hold of it; the code stays good for them.
async fn enter(shared: &Shared, parts: Parts) -> Response<Body> {
    let context = shared.dispatcher.context();
    let given = Guard::bearer(&parts.headers);
    if given.is_some_and(|code| context.door.is_code(code))
        && let Err(refusal) = of_own_user(&parts).await
    {
        return refusal;
    }
    let token = match given.and_then(|code| context.door.enter(code)) {
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

/// Refuses a request of a program that runs as another user, or whose user can't be found out.
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

/// A request of the Model Context Protocol.
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

/// Answers a request for a method.
async fn answer(shared: &Shared, route: &'static Route, request: Request) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let caller = match caller(shared, &parts).await {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    let bad = |message: &str| failure(StatusCode::BAD_REQUEST, message);
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
    let body = match whole(body, LONGEST_BODY).await {
        Ok(body) => body,
        Err((status, why)) => return failure(status, &why),
    };
    if !body.trim_ascii().is_empty() {
        match serde_json::from_slice::<Value>(&body) {
            Ok(Value::Object(body)) => params.extend(body),
            Ok(_) => return bad("The body must be a JSON object"),
            Err(error) => return bad(&format!("The body is no JSON: {error}")),
        }
    }
    // Last, so that nothing takes the place of what the address says.
    params.extend(in_path.into_iter().map(|(name, value)| (name, value.into())));
    for (here, there) in route.names {
        if let Some(value) = params.remove(*here) {
            params.insert((*there).to_owned(), value);
        }
    }
    params.extend(route.fixed.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));

    let entry = route.entry();
    let params = Value::Object(params).to_string();
    let mut out = Vec::new();
    let call = shared.dispatcher.call_entry(&caller, entry, &params, &mut out);
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
        Error::NoSession(_) | Error::NoBlock { .. } => NOT_FOUND,
        Error::Failed(_) => route.failed,
        Error::Panicked(_) | Error::Reply(_) | Error::Registry(_) => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::BAD_REQUEST,
    }
}
