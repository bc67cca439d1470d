//! The hub over HTTP: the Model Context Protocol at `/mcp` and at `/mcp/sse`, for clients with a token, and the
//! dashboard.
//!
//! Streamable HTTP is served without sessions, so that each request may reach another hub. A stream of events belongs
//! to the hub that opened it. The hub refuses requests for other hosts and from other web pages, which could otherwise
//! reach a hub on the loopback address through a browser. No web page may use the endpoints of agents.

use std::{convert::Infallible, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tower_service::Service as _;
use unterm_control::{
    TokenKind,
    mcp_http::{
        LONGEST_MESSAGE, MessageBudget, READING, failure, holding, serve_lines,
        sse::{self, Pipes, Streams},
        whole,
    },
};

use super::{
    concurrency_limit::{ConcurrencyLimit, Permit},
    connections::{Connections, OpenConnection},
    dashboard::{self, Dashboard, LONGEST_BODY},
    http_reply::{
        HttpRefusal, WRONG_SECRET, bearer, internal, json_reply, query, read, refusal, refused,
    },
    listeners::Listeners,
    mcp_session::Session,
    pairing::Pairing,
    services::Services,
    tokens::Token,
    tool::Toolset,
    web_address::WebAddress,
};
use crate::connector::{CodedReply, CodedRequest, PAIR, PairReply};

/// The maximum number of concurrent requests of all agents. Streams do not count.
const MOST_REQUESTS: usize = 256;
/// The maximum number of concurrent requests of one token. Streams do not count.
const MOST_OF_TOKEN: usize = 64;
/// The maximum number of concurrent requests of all signed-in users. Streams do not count.
const MOST_OF_USERS: usize = 128;
/// The maximum number of concurrent requests of one sign-in. Streams do not count.
const MOST_OF_SIGN_IN: usize = 64;
/// The maximum number of machines' codes that are looked up at the same time. Others wait for some milliseconds.
const LOOKUPS: usize = 16;
/// The maximum number of bytes of a request's body from a client that has not authenticated.
const LONGEST_OF_STRANGER: usize = 16 << 10;
/// The maximum number of bytes of a request's head.
const LONGEST_HEAD: usize = 16 << 10;

const BUSY: &str = "Too many requests at once; try again later";
/// The Content-Security-Policy of the dashboard. Its terminal, xterm.js, needs inline style sheets.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Mcp = StreamableHttpService<Session, LocalSessionManager>;

/// Answers the requests of all endpoints.
struct Http {
    hub: Arc<Services>,
    dashboard: Dashboard,
    pairing: Arc<Pairing>,
    aiterm: Mcp,
    unterm: Mcp,
    streams: Arc<Streams>,
    budget: MessageBudget,
    agents: ConcurrencyLimit,
    users: ConcurrencyLimit,
    lookups: Semaphore,
    /// The hub's addresses, as clients see them.
    sites: Vec<WebAddress>,
}

/// The address at which other computers reach the hub.
pub struct PublicAddress<'a> {
    /// The host name, if the hub has one besides that of the loopback address.
    pub name: Option<&'a str>,
    /// TLS for the hub's connections. If it is set, the hub accepts no plain HTTP. `None`: a proxy provides TLS, or the
    /// hub has a loopback address.
    pub tls: Option<&'a TlsAcceptor>,
}

/// Serves all endpoints until the future is dropped.
///
/// # Errors
/// The listeners failed.
pub async fn serve(
    hub: &Arc<Services>,
    pairing: &Arc<Pairing>,
    listeners: Listeners,
    public: &PublicAddress<'_>,
) -> Result<()> {
    let port = listeners.local_addr()?.port();
    let scheme = if public.tls.is_some() { "https" } else { "http" };
    let own = WebAddress::loopback(scheme, port, listeners.has_localhost());
    // If the hub has no TLS, a proxy provides it, so the scheme is `https` in both cases.
    let named = public.name.map(|name| WebAddress::new("https", name.to_owned()).with_passkeys());
    let sites = own.into_iter().chain(named).collect();
    let config = StreamableHttpServerConfig::default()
        // The hub checks hosts and origins itself.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LONGEST_MESSAGE)
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let mcp = |toolset| {
        let hub = hub.clone();
        let session = move || Ok(Session::new(hub.clone(), toolset, None));
        StreamableHttpService::new(session, Arc::default(), config.clone())
    };
    let http = Arc::new(Http {
        aiterm: mcp(Toolset::Aiterm),
        unterm: mcp(Toolset::Unterm),
        dashboard: Dashboard::new(hub.clone(), pairing.clone()),
        pairing: pairing.clone(),
        hub: hub.clone(),
        streams: Arc::default(),
        budget: MessageBudget::default(),
        agents: ConcurrencyLimit::new(MOST_REQUESTS, MOST_OF_TOKEN),
        users: ConcurrencyLimit::new(MOST_OF_USERS, MOST_OF_SIGN_IN),
        lookups: Semaphore::new(LOOKUPS),
        sites,
    });
    let connections = Arc::new(Connections::default());
    loop {
        let stream = match listeners.accept().await {
            Ok(stream) => stream,
            Err(error) => {
                // The process may have no free file descriptors, for example.
                tracing::warn!(%error, "a connection was not accepted");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY");
        }
        let (http, tls) = (http.clone(), public.tls.cloned());
        let connection = connections.add();
        tokio::spawn(async move {
            let talking = async {
                match tls {
                    None => talk(stream, &http, &connection).await,
                    Some(tls) => match timeout(READING, tls.accept(stream)).await {
                        Ok(Ok(stream)) => talk(stream, &http, &connection).await,
                        Ok(Err(error)) => tracing::debug!(%error, "a connection without TLS"),
                        Err(_) => tracing::debug!("a connection that does not begin TLS"),
                    },
                }
            };
            tokio::select! {
                () = talking => {}
                () = connection.gives_way() => tracing::debug!("a connection gave way to another"),
            }
        });
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    http: &Http,
    connection: &OpenConnection,
) {
    let serve = service_fn(|request: hyper::Request<Incoming>| async move {
        let reply = match http.answer(connection, request.map(Body::new)).await {
            Ok(reply) => reply,
            Err(refused) => refusal(refused),
        };
        Ok::<_, Infallible>(guarded(reply))
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
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        reply.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    reply
}

impl Http {
    /// Answers a request. The body is read before the request acquires one of the limited permits, so that a slow client
    /// holds no permit. Files and texts in memory need no permit. A secret is looked up before it counts as wrong, so a
    /// correct secret is accepted even while many clients guess.
    async fn answer(
        &self,
        connection: &OpenConnection,
        mut request: Request<Body>,
    ) -> Result<Response<Body>, HttpRefusal> {
        let site = self.check_host(&request)?;
        let path = request.uri().path().to_owned();
        if let Some(view) = dashboard::view_at(&path) {
            let origin = site.moved_to.as_deref().unwrap_or_default();
            return redirect(&format!("{origin}{view}"));
        }
        if dashboard::serves(&path) {
            if let Some(origin) = &site.moved_to {
                return redirect(origin);
            }
            return self.answer_page(site, connection, request).await;
        }
        if path == PAIR {
            return self.pair(request).await;
        }
        if path != "/mcp" && path != sse::PATH {
            let why = "Agents use /mcp/sse or /mcp, and users open / or /profile/tokens";
            return refused(StatusCode::NOT_FOUND, why);
        }
        if request.headers().contains_key(header::ORIGIN) {
            return refused(StatusCode::FORBIDDEN, "Web pages may not use this path");
        }
        let toolset = Toolset::named(query(request.uri(), "toolset").as_deref());
        let toolset = toolset.map_err(|why| (StatusCode::BAD_REQUEST, why))?;
        let token = self.token(request.headers()).await?;
        connection.authenticate(&token.id);
        let kind = kind(&token).map_err(internal)?;
        if path == sse::PATH && *request.method() == Method::GET {
            let (hub, reservation) = (self.hub.clone(), self.budget.reserve(kind));
            return self.streams.open(kind, move |pipes| async move {
                let Pipes { reader, writer, pending } = pipes;
                let session = |_| Session::new(hub, toolset, Some(token));
                serve_lines(session, reader, writer, pending, reservation).await;
            });
        }
        if *request.method() != Method::POST {
            let mut reply = failure(StatusCode::METHOD_NOT_ALLOWED, "Only POST is used here");
            reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return Ok(reply);
        }
        check_json(request.headers())?;
        let mut reservation = self.budget.reserve(kind);
        let (parts, body) = request.into_parts();
        let body = whole(body, LONGEST_MESSAGE, &mut reservation).await?;
        let permit = permit_of(&self.agents, &token.id)?;
        if path == sse::PATH {
            let name = query(&parts.uri, sse::SESSION);
            return self.streams.post(kind, name.as_deref(), &body, permit).await;
        }
        request = Request::from_parts(parts, Body::from(body));
        request.extensions_mut().insert(token);
        let mcp = match toolset {
            Toolset::Aiterm => &self.aiterm,
            Toolset::Unterm => &self.unterm,
        };
        let Ok(reply) = mcp.clone().call(request).await;
        Ok(holding(reply, (permit, reservation)))
    }

    /// Pairs a machine that sends a code.
    async fn pair(&self, request: Request<Body>) -> Result<Response<Body>, HttpRefusal> {
        let (parts, body) = request.into_parts();
        if parts.headers.contains_key(header::ORIGIN) || parts.method != Method::POST {
            return refused(StatusCode::FORBIDDEN, "Only machines may use this path, with POST");
        }
        check_json(&parts.headers)?;
        let mut reservation = self.budget.reserve(TokenKind::Page);
        let body = whole(body, LONGEST_OF_STRANGER, &mut reservation).await?;
        let coded: CodedRequest = read(&body)?;
        let answer = {
            let _turn = self.lookups.acquire().await.map_err(|error| internal(error.into()))?;
            self.pairing.accept_code(&coded.request, &coded.code).await
        };
        if matches!(answer, PairReply::Refused(_)) {
            sleep(WRONG_SECRET).await;
        }
        let servers = self.pairing.servers().to_vec();
        Ok(json_reply(&json!(CodedReply { answer, servers })))
    }

    /// Answers a request of the dashboard's page.
    async fn answer_page(
        &self,
        site: &WebAddress,
        connection: &OpenConnection,
        request: Request<Body>,
    ) -> Result<Response<Body>, HttpRefusal> {
        let headers = request.headers();
        let is_own = |origin: &HeaderValue| self.sites.iter().any(|site| site.origin == *origin);
        if !headers.get_all(header::ORIGIN).iter().all(is_own) {
            return refused(StatusCode::FORBIDDEN, "Only the hub's own page may use this path");
        }
        let (parts, body) = request.into_parts();
        if let Some(reply) = dashboard::in_memory(&parts) {
            return Ok(reply);
        }
        let asked = self.dashboard.check(site, &parts).await?;
        let user = asked.user();
        if let Some(user) = &user {
            connection.authenticate(user);
        }
        let mut reservation = self.budget.reserve(TokenKind::Page);
        let body = if parts.method == Method::POST {
            check_json(&parts.headers)?;
            let most = if user.is_some() { LONGEST_BODY } else { LONGEST_OF_STRANGER };
            whole(body, most, &mut reservation).await?
        } else {
            Bytes::new()
        };
        let permit = user.map(|user| permit_of(&self.users, &user)).transpose()?;
        let reply = self.dashboard.answer(asked, &parts, &body).await?;
        drop((permit, reservation));
        Ok(reply)
    }

    fn site(&self, host: &str) -> Option<&WebAddress> {
        self.sites.iter().find(|site| site.host.eq_ignore_ascii_case(host))
    }

    /// Returns an error for a request that names another host. This protects from DNS rebinding.
    fn check_host(&self, request: &Request<Body>) -> Result<&WebAddress, HttpRefusal> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let site = host.and_then(|host| self.site(host)).filter(|_| hosts.next().is_none());
        let Some(site) = site else {
            return refused(StatusCode::FORBIDDEN, "The Host header does not name this hub");
        };
        if request
            .uri()
            .authority()
            .is_some_and(|authority| self.site(authority.as_str()).is_none())
        {
            return refused(StatusCode::FORBIDDEN, "The request is for another host");
        }
        Ok(site)
    }

    async fn token(&self, headers: &HeaderMap) -> Result<Token, HttpRefusal> {
        let secret = bearer(headers);
        let found = match &secret {
            Some(secret) => self.hub.tokens.find(secret).await.map_err(internal)?,
            None => None,
        };
        match found {
            Some(token) => Ok(token),
            None => {
                if secret.is_some() {
                    tracing::warn!("a wrong token");
                    sleep(WRONG_SECRET).await;
                }
                refused(StatusCode::UNAUTHORIZED, "missing or bad bearer token")
            }
        }
    }
}

/// A reply that sends a browser to another address.
fn redirect(to: &str) -> Result<Response<Body>, HttpRefusal> {
    let mut reply = failure(StatusCode::TEMPORARY_REDIRECT, &format!("Use {to}"));
    let to = HeaderValue::from_str(to).map_err(|error| internal(error.into()))?;
    reply.headers_mut().insert(header::LOCATION, to);
    Ok(reply)
}

/// Acquires a permit for a request of a token or a sign-in.
fn permit_of(limit: &ConcurrencyLimit, name: &str) -> Result<Permit, HttpRefusal> {
    limit.acquire(name).ok_or_else(|| (StatusCode::SERVICE_UNAVAILABLE, BUSY.to_owned()))
}

/// A token in the form that the transports use to distinguish tokens.
fn kind(token: &Token) -> Result<TokenKind> {
    let number = u64::from_str_radix(&token.id, 16).context("the token's id")?;
    Ok(TokenKind::Agent(number))
}

/// Checks that a request has the content type of JSON, which a web page can't send to another origin without a
/// preflight request.
fn check_json(headers: &HeaderMap) -> Result<(), HttpRefusal> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if kind.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The Content-Type must be application/json")
}
