//! The hub over HTTP: the Model Context Protocol at `/mcp` and at `/mcp/sse`, for clients with a token.
//!
//! Streamable HTTP is served without sessions, so that each request may reach another hub. A stream of events belongs to the hub
//! that opened it. Refuses requests for other hosts and from web pages, which may reach a hub on the loopback address through a
//! browser.

use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::sleep,
};
use tower_service::Service as _;
use unterm_control::{
    TokenKind,
    mcp_http::{
        LONGEST_MESSAGE, MessageBudget, READING, failure, holding, serve_lines,
        sse::{self, Pipes, Streams},
        whole,
    },
};

use super::{services::Services, session::Session, tokens::Token};

/// The most connections.
const MOST_CONNECTIONS: usize = 512;
/// The most concurrent requests, without streams.
const MOST_REQUESTS: usize = 256;
/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 16 << 10;
/// The delay before a wrong token is refused, against guessing.
const WRONG_TOKEN: Duration = Duration::from_millis(500);

type Mcp = StreamableHttpService<Session, LocalSessionManager>;

/// The endpoints.
struct Http {
    hub: Arc<Services>,
    mcp: Mcp,
    streams: Arc<Streams>,
    budget: MessageBudget,
    places: Arc<Semaphore>,
    /// The hosts that requests may name.
    hosts: Vec<String>,
}

/// Serves until the future is dropped. `public`: the name by which a proxy offers the hub, if one does.
///
/// # Errors
/// The listener failed.
pub async fn serve(hub: Arc<Services>, listener: TcpListener, public: Option<&str>) -> Result<()> {
    let port = listener.local_addr()?.port();
    let mut hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}")).to_vec();
    hosts.extend(public.map(str::to_owned));
    let config = StreamableHttpServerConfig::default()
        // The hub checks both itself.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LONGEST_MESSAGE)
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let session = {
        let hub = hub.clone();
        move || Ok(Session::new(hub.clone(), None))
    };
    let http = Arc::new(Http {
        mcp: StreamableHttpService::new(session, Arc::default(), config),
        hub,
        streams: Arc::default(),
        budget: MessageBudget::default(),
        places: Arc::new(Semaphore::new(MOST_REQUESTS)),
        hosts,
    });
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let place = connections.clone().acquire_owned().await?;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, for example.
                tracing::warn!(%error, "a connection was not accepted");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let http = http.clone();
        tokio::spawn(async move {
            talk(stream, http).await;
            drop(place);
        });
    }
}

async fn talk(stream: TcpStream, http: Arc<Http>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    let serve = service_fn(|request: hyper::Request<Incoming>| {
        let http = http.clone();
        async move {
            let reply = match http.answer(request.map(Body::new)).await {
                Ok(reply) => reply,
                Err((status, why)) => failure(status, &why),
            };
            Ok::<_, Infallible>(guarded(reply))
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READING)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), serve);
    if let Err(error) = serving.await {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Adds the headers of every reply.
fn guarded(mut reply: Response<Body>) -> Response<Body> {
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        reply.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    reply
}

impl Http {
    async fn answer(&self, mut request: Request<Body>) -> Result<Response<Body>, sse::Refused> {
        self.check_origin(&request)?;
        let path = request.uri().path().to_owned();
        if path != "/mcp" && path != sse::PATH {
            return refused(StatusCode::NOT_FOUND, "Agents use /mcp/sse or /mcp");
        }
        let token = self.token(request.headers()).await?;
        let kind = kind(&token).map_err(internal)?;
        if path == sse::PATH && *request.method() == Method::GET {
            let (hub, reservation) = (self.hub.clone(), self.budget.reserve(kind));
            return self.streams.open(kind, move |pipes| async move {
                let Pipes { reader, writer, pending } = pipes;
                let session = |_| Session::new(hub, Some(token));
                serve_lines(session, reader, writer, pending, reservation).await;
            });
        }
        let busy = "Too many requests are under way; wait for some of them";
        let place = self.places.clone().try_acquire_owned();
        let place = place.map_err(|_| (StatusCode::SERVICE_UNAVAILABLE, busy.to_owned()))?;
        if *request.method() != Method::POST {
            let mut reply = failure(StatusCode::METHOD_NOT_ALLOWED, "Only POST is used here");
            reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return Ok(reply);
        }
        check_json(request.headers())?;
        let mut reservation = self.budget.reserve(kind);
        let (parts, body) = request.into_parts();
        let body = whole(body, LONGEST_MESSAGE, &mut reservation).await?;
        if path == sse::PATH {
            let name = query(&parts.uri, sse::SESSION);
            return self.streams.post(kind, name.as_deref(), &body, place).await;
        }
        request = Request::from_parts(parts, Body::from(body));
        request.extensions_mut().insert(token);
        let Ok(reply) = self.mcp.clone().call(request).await;
        Ok(holding(reply, (place, reservation)))
    }

    /// Refuses requests that a web page makes a browser send: they name another host, or have an origin.
    fn check_origin(&self, request: &Request<Body>) -> Result<(), sse::Refused> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let is_ours = |host: &str| self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host));
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if !host.is_some_and(is_ours) || hosts.next().is_some() {
            return refused(StatusCode::FORBIDDEN, "The Host header is not this hub's");
        }
        if request.uri().authority().is_some_and(|authority| !is_ours(authority.as_str())) {
            return refused(StatusCode::FORBIDDEN, "The request is for another host");
        }
        if headers.contains_key(header::ORIGIN) {
            return refused(StatusCode::FORBIDDEN, "Web pages may not ask");
        }
        Ok(())
    }

    async fn token(&self, headers: &HeaderMap) -> Result<Token, sse::Refused> {
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let secret = value.and_then(|value| {
            let (scheme, secret) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
        });
        let found = match secret {
            Some(secret) => self.hub.tokens.find(secret).await.map_err(internal)?,
            None => None,
        };
        match found {
            Some(token) => Ok(token),
            None => {
                if secret.is_some() {
                    tracing::warn!("a wrong token");
                    sleep(WRONG_TOKEN).await;
                }
                refused(StatusCode::UNAUTHORIZED, "missing or bad bearer token")
            }
        }
    }
}

fn internal(error: anyhow::Error) -> sse::Refused {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{error:#}"))
}

fn refused<T>(status: StatusCode, why: &str) -> Result<T, sse::Refused> {
    Err((status, why.to_owned()))
}

/// A token as the transports tell tokens apart.
fn kind(token: &Token) -> Result<TokenKind> {
    let number = u64::from_str_radix(&token.id, 16).context("the token's id")?;
    Ok(TokenKind::Agent(number))
}

/// The content type of requests, which a web page can't send to another origin without a preflight request.
fn check_json(headers: &HeaderMap) -> Result<(), sse::Refused> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if kind.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The Content-Type must be application/json")
}

/// A parameter of a query. The names of streams need no escapes.
fn query(uri: &axum::http::Uri, name: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let all: HashMap<_, _> = pairs.collect();
    all.get(name).map(|value| (*value).to_owned())
}
