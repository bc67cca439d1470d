//! The protocol over HTTP. Streamable HTTP is served at `/mcp` of the settings server, and its predecessor at
//! `/mcp/sse` ([`sse`]). Both are protected by the guard of that server, which checks Host, Origin and token.
//!
//! Owns the limits on agents' requests, which ensure that the user's own page is always served.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header},
};
use hyper::body::{Body as HttpBody, Bytes};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::{SessionManager as _, local::LocalSessionManager},
};
use tokio::sync::watch;
use tower_service::Service as _;

use super::{
    TOOLSETS,
    server::Server,
    session::{Session, SessionEnd, serve},
    sse::{self, IDLE, Refused},
    stateless_clients::SESSION,
    tool::Toolset,
};
use crate::{
    caller::{Caller, TokenKind},
    dialect::http::{announced, failure, holding, whole},
    offload,
    services::limits::{
        fair_share::{FairShare, SharePart},
        message_budget::{Reservation, SHORT},
    },
    transport::limits::LONGEST_MESSAGE,
};

/// The paths of streamable HTTP and of its predecessor.
pub const PATHS: [&str; 2] = ["/mcp", sse::PATH];
/// The maximum number of concurrent requests, including streams. All tokens share it.
const MOST_REQUESTS: usize = 96;
/// The maximum number of sessions with `initialize` per toolset. It is exceeded only while all sessions are in use.
const MOST_SESSIONS: usize = 64;
/// The sustained number of requests per second, and the maximum number of requests in a burst.
const RATE: f64 = 2000.0;
const BURST: f64 = 4000.0;

type Service = StreamableHttpService<Session, LocalSessionManager>;

/// The MCP server over HTTP.
pub struct Http {
    server: Arc<Server>,
    /// One service per toolset, in the order of the toolsets.
    served: Vec<Served>,
    streams: Arc<sse::Streams>,
    places: Arc<FairShare>,
    rate: Mutex<Bucket>,
}

impl Http {
    /// The endpoints for a settings server on this port.
    pub fn new(server: &Arc<Server>, port: u16) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let origins = hosts.clone().map(|host| format!("http://{host}"));
        let served = TOOLSETS.into_iter().map(|toolset| {
            let config = StreamableHttpServerConfig::default()
                .with_allowed_hosts(hosts.clone())
                .with_allowed_origins(origins.clone())
                .enforce_origin_validation()
                .with_max_request_body_bytes(LONGEST_MESSAGE)
                .with_json_response(true);
            let mut manager = LocalSessionManager::default();
            manager.session_config.keep_alive = Some(IDLE);
            let manager = Arc::new(manager);
            let server = server.clone();
            let begin = move || Ok(Session::of_http(server.clone(), toolset));
            let service = StreamableHttpService::new(begin, manager.clone(), config);
            Served { toolset: toolset.name, service, manager, uses: Arc::default() }
        });
        Self {
            server: server.clone(),
            served: served.collect(),
            streams: Arc::default(),
            places: FairShare::new(MOST_REQUESTS),
            rate: Mutex::new(Bucket::full(Instant::now())),
        }
    }

    /// Answers a request whose token is valid.
    pub async fn answer(
        &self,
        caller: Caller,
        query: &BTreeMap<String, String>,
        mut request: Request,
    ) -> Result<Response<Body>, Refused> {
        let place = self.admit(&caller)?;
        announced(request.body(), LONGEST_MESSAGE)?;
        let budget = &self.server.dispatcher.context().limits.message_budget;
        let mut reservation = budget.reserve(caller.token);
        let asked = |name: &str| query.get(name).map(String::as_str);
        let caller = Caller { conversation: asked("conversation").map(str::to_owned), ..caller };
        let toolset = super::toolset(asked("toolset")).map_err(|why| (StatusCode::NOT_FOUND, why));
        if request.uri().path() == sse::PATH {
            return match *request.method() {
                Method::GET => {
                    let reply = self.open_stream(caller, toolset?)?;
                    Ok(placed(reply, (place, None, reservation)))
                }
                Method::POST => {
                    is_json(&request)?;
                    let body =
                        whole(request.into_body(), LONGEST_MESSAGE, &mut reservation).await?;
                    let is_long = body.len() > SHORT;
                    let posted = self.streams.post(caller.token, asked(sse::SESSION), &body, place);
                    offload::long_polls(posted, || is_long).await
                }
                _ => {
                    let why = "Only GET and POST are used here";
                    let mut reply = failure(StatusCode::METHOD_NOT_ALLOWED, why);
                    reply
                        .headers_mut()
                        .insert(header::ALLOW, HeaderValue::from_static("GET, POST"));
                    Ok(reply)
                }
            };
        }
        let toolset = toolset?;
        if *request.method() == Method::POST {
            // rmcp limits the length of a body, but not the time to receive it.
            let (parts, body) = request.into_parts();
            let body = whole(body, LONGEST_MESSAGE, &mut reservation).await?;
            request = Request::from_parts(parts, Body::from(body));
        }
        let index = TOOLSETS.iter().position(|other| other.name == toolset.name).unwrap_or(0);
        let served = &self.served[index];
        let is_new = !request.headers().contains_key(SESSION);
        let is_end = *request.method() == Method::DELETE;
        let mut in_use = served.used(request.headers(), caller.token).await?;
        let token = caller.token;
        request.extensions_mut().insert(caller);
        if let Some(in_use) = &in_use {
            if is_end {
                in_use.end();
            }
            request.extensions_mut().insert(in_use.gone());
        }
        let is_long = reservation.bytes() > 0;
        let mut service = served.service.clone();
        let Ok(mut reply) = offload::long_polls(service.call(request), || is_long).await;
        if is_new {
            in_use = served.begun(reply.headers(), token).await;
        }
        if is_end && reply.status() == StatusCode::ACCEPTED {
            // The session has already ended. The protocol (2025-11-25, Transports, Session Management) does not specify
            // the status. The Python SDK warns about any status other than 200 and 204.
            *reply.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(placed(reply, (place, in_use, reservation)))
    }

    /// Opens a stream, and begins a session on that stream.
    fn open_stream(
        &self,
        caller: Caller,
        toolset: &'static Toolset,
    ) -> Result<Response<Body>, Refused> {
        let server = self.server.clone();
        self.streams.open(caller.token, move |pipes| async move {
            let connection = server.dispatcher.next_connection();
            let caller = Caller { connection, ..caller.for_agent() };
            server.dispatcher.logged_in(&caller);
            let sse::Pipes { reader, writer, pending } = pipes;
            serve(server.clone(), reader, writer, caller, toolset, None, pending).await;
            server.dispatcher.disconnected(connection);
        })
    }

    /// A slot for a request.
    ///
    /// # Errors
    /// The caller may not send requests here, or sends too many.
    fn admit(&self, caller: &Caller) -> Result<SharePart, Refused> {
        if caller.token == TokenKind::Page {
            return refused(StatusCode::FORBIDDEN, "A settings page is no agent");
        }
        if !self.rate.lock().take(Instant::now()) {
            return refused(StatusCode::TOO_MANY_REQUESTS, "Too many requests; try again soon");
        }
        let mut place = self.places.part(caller.token);
        if place.resize(1).is_err() {
            let why = "Too many requests of this token are under way; wait for some of them";
            return refused(StatusCode::SERVICE_UNAVAILABLE, why);
        }
        Ok(place)
    }
}

/// The service of a toolset. Stateless requests need no session. A session with `initialize` lasts until its client
/// ends it, but many clients never do.
struct Served {
    toolset: &'static str,
    service: Service,
    manager: Arc<LocalSessionManager>,
    uses: Arc<Uses>,
}

impl Served {
    /// Marks the session that a request names as used. A session belongs to its token, so its name is useless with
    /// another token.
    async fn used(&self, headers: &HeaderMap, token: TokenKind) -> Result<Option<InUse>, Refused> {
        let Some(id) = named(headers) else { return Ok(None) };
        if !self.manager.sessions.read().await.contains_key(&id) {
            return Ok(None);
        }
        if self.uses.token(&id) != Some(token) {
            return refused(StatusCode::NOT_FOUND, "Not Found: Session not found");
        }
        Ok(Some(self.uses.begin(id, token)))
    }

    /// Marks the session that a reply begins as used. If there are now too many sessions, ends the session that was
    /// idle longest among the sessions of the token with the most idle sessions. Its client then gets 404 and begins a
    /// new session. So a client with few sessions does not lose them to a client with many.
    async fn begun(&self, headers: &HeaderMap, token: TokenKind) -> Option<InUse> {
        let in_use = self.uses.begin(named(headers)?, token);
        loop {
            let left = {
                let sessions = self.manager.sessions.read().await;
                self.uses.follow(&sessions);
                if sessions.len() <= MOST_SESSIONS { None } else { self.uses.longest_idle() }
            };
            let Some((id, idle)) = left else { return Some(in_use) };
            tracing::warn!(
                toolset = self.toolset,
                ?idle,
                "there are {MOST_SESSIONS} sessions over HTTP: one that was left gives way to a new one"
            );
            let _ = self.manager.close_session(&id).await;
        }
    }
}

/// The name of the session in a request.
fn named(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION)?.to_str().ok().map(Arc::from)
}

/// The use of a toolset's sessions.
#[derive(Default)]
struct Uses(Mutex<HashMap<Arc<str>, Use>>);

struct Use {
    /// The token that owns the session. `None` if the client never received the session's name.
    token: Option<TokenKind>,
    /// The number of the session's requests that are not fully answered, including streams.
    under_way: usize,
    /// The time when `under_way` last changed.
    since: Instant,
    /// Whether the client has ended the session.
    gone: watch::Sender<bool>,
}

impl Use {
    /// A session without requests.
    fn new(since: Instant) -> Self {
        Self { token: None, under_way: 0, since, gone: watch::Sender::new(false) }
    }
}

impl Uses {
    /// Marks a session as used while the returned value exists.
    fn begin(self: &Arc<Self>, id: Arc<str>, token: TokenKind) -> InUse {
        let since = Instant::now();
        let mut uses = self.0.lock();
        let of = uses.entry(id.clone()).or_insert_with(|| Use::new(since));
        (of.token, of.under_way, of.since) = (Some(token), of.under_way + 1, since);
        InUse { uses: self.clone(), id, gone: of.gone.clone() }
    }

    /// The token that owns a session.
    fn token(&self, id: &str) -> Option<TokenKind> {
        self.0.lock().get(id)?.token
    }

    /// Removes ended sessions. Adds sessions whose clients disconnected before they received the session's name.
    fn follow<T>(&self, sessions: &HashMap<Arc<str>, T>) {
        let since = Instant::now();
        let mut uses = self.0.lock();
        uses.retain(|id, _| sessions.contains_key(id));
        for id in sessions.keys() {
            uses.entry(id.clone()).or_insert_with(|| Use::new(since));
        }
    }

    /// The session that has been idle longest among the sessions of the token with the most idle sessions. Also returns
    /// its idle time.
    fn longest_idle(&self) -> Option<(Arc<str>, Duration)> {
        let uses = self.0.lock();
        let idle = || uses.iter().filter(|(_, of)| of.under_way == 0);
        let mut counts = HashMap::<_, usize>::new();
        idle().for_each(|(_, of)| *counts.entry(of.token).or_default() += 1);
        let most = counts.values().copied().max()?;
        let of_most = idle().filter(|(_, of)| counts.get(&of.token) == Some(&most));
        let (id, of) = of_most.min_by_key(|(_, of)| of.since)?;
        Some((id.clone(), of.since.elapsed()))
    }
}

/// A request to a session, until its reply has ended.
struct InUse {
    uses: Arc<Uses>,
    id: Arc<str>,
    gone: watch::Sender<bool>,
}

impl InUse {
    /// Notifies all requests of the session that its client ends the session.
    fn end(&self) {
        self.gone.send_replace(true);
    }

    fn gone(&self) -> SessionEnd {
        SessionEnd(self.gone.subscribe())
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        // If the session has ended, it was already removed.
        if let Some(of) = self.uses.0.lock().get_mut(&self.id) {
            (of.under_way, of.since) = (of.under_way.saturating_sub(1), Instant::now());
        }
    }
}

fn refused<T>(status: StatusCode, why: &str) -> Result<T, Refused> {
    Err((status, why.to_owned()))
}

/// Checks that a request has the content type of JSON. A web page can't send such a request to another origin without a
/// preflight request.
fn is_json(request: &Request) -> Result<(), Refused> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if kind.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The Content-Type must be application/json")
}

/// The resources that a request holds until its reply has ended: its slot, its session and its memory.
type RequestResources = (SharePart, Option<InUse>, Reservation);

/// A reply that holds a request's resources until the reply has ended.
fn placed<B>(reply: Response<B>, held: RequestResources) -> Response<Body>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let mut reply = holding(reply, held);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// A token bucket that limits the rate of requests.
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn full(now: Instant) -> Self {
        Self { left: BURST, at: now }
    }

    /// Takes a token from the bucket. Returns false if the bucket is empty.
    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * RATE).min(BURST);
        self.at = now;
        let has_one = self.left >= 1.0;
        if has_one {
            self.left -= 1.0;
        }
        has_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_come_through_as_time_allows() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        let taken = |bucket: &mut Bucket, now| (0..10_000).filter(|_| bucket.take(now)).count();
        assert_eq!(taken(&mut bucket, start), BURST as usize);
        assert_eq!(taken(&mut bucket, start + Duration::from_millis(500)), RATE as usize / 2);
        assert_eq!(taken(&mut bucket, start + Duration::from_secs(3600)), BURST as usize);
    }

    #[test]
    fn the_session_that_nobody_used_for_longest_is_found() {
        let uses = Arc::new(Uses::default());
        let id = |name: &str| -> Arc<str> { name.into() };
        let idle = || uses.longest_idle().map(|(id, _)| id.to_string());
        assert_eq!(idle(), None);
        let begin = |name: &str| uses.begin(id(name), TokenKind::Agent(1));
        drop(begin("first"));
        drop(begin("second"));
        assert_eq!(idle().as_deref(), Some("first"));
        // A session in use is not idle. Afterwards, it counts as the session that was used last.
        let (one, two) = (begin("first"), begin("first"));
        assert_eq!(idle().as_deref(), Some("second"));
        drop(one);
        assert_eq!(idle().as_deref(), Some("second"));
        drop(two);
        assert_eq!(idle().as_deref(), Some("second"));
        // Ended sessions are removed. A session whose name was never received counts as idle.
        let there = HashMap::from([(id("first"), ()), (id("unheard"), ())]);
        uses.follow(&there);
        assert_eq!(idle().as_deref(), Some("first"));
        let used = begin("first");
        assert_eq!(idle().as_deref(), Some("unheard"));
        // The token with the most sessions loses one, although the other tokens' sessions were idle longer.
        let of_many = |name: &str| drop(uses.begin(id(name), TokenKind::Agent(2)));
        of_many("fourth");
        of_many("fifth");
        assert_eq!(idle().as_deref(), Some("fourth"));
        // A session may end before its last reply is complete.
        uses.follow(&HashMap::<_, ()>::new());
        drop(used);
        uses.follow(&HashMap::<_, ()>::new());
        assert_eq!(idle(), None);
    }
}
