//! Streamable HTTP: the same sessions at `/mcp` of the settings server, behind its guard (Host, Origin, token).
//!
//! Owns the bounds of what agents may ask for there, so that the person's own page always finds a place.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, Response, StatusCode, header},
};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_service::Service as _;

use super::{LONGEST_MESSAGE, Server, TOOLSETS, session::Session};
use crate::caller::{Caller, TokenKind};

/// Where it is.
pub const PATH: &str = "/mcp";
/// Requests under way at a time, streams among them.
const MOST_REQUESTS: usize = 48;
/// Sessions of the older era at a time, for each toolset.
const MOST_SESSIONS: usize = 64;
/// How long a session that asks for nothing is kept.
const IDLE: Duration = Duration::from_secs(3600);
/// Requests a second that are answered in the long run, and how many may come at once.
const RATE: f64 = 2000.0;
const BURST: f64 = 4000.0;

type Service = StreamableHttpService<Session, LocalSessionManager>;

/// The door for HTTP.
pub struct Http {
    /// One for each toolset, in their order.
    services: Vec<(Service, Arc<LocalSessionManager>)>,
    places: Arc<Semaphore>,
    rate: Mutex<Bucket>,
}

impl Http {
    /// For a settings server on that port.
    pub fn new(server: &Arc<Server>, port: u16) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let origins = hosts.clone().map(|host| format!("http://{host}"));
        let services = TOOLSETS.into_iter().map(|toolset| {
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
            (StreamableHttpService::new(begin, manager.clone(), config), manager)
        });
        Self {
            services: services.collect(),
            places: Arc::new(Semaphore::new(MOST_REQUESTS)),
            rate: Mutex::new(Bucket::full(Instant::now())),
        }
    }

    /// Answers a request of somebody with a right token; `toolset` is the query's. An error is for the client.
    pub async fn answer(
        &self,
        caller: Caller,
        toolset: Option<&str>,
        mut request: Request,
    ) -> Result<Response<Body>, (StatusCode, String)> {
        let refused = |status, why: &str| Err((status, why.to_owned()));
        if caller.token == TokenKind::Page {
            return refused(StatusCode::FORBIDDEN, "A settings page is no agent");
        }
        if !self.rate.lock().take(Instant::now()) {
            return refused(StatusCode::TOO_MANY_REQUESTS, "Too many requests; try again soon");
        }
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            let why = "Too many requests are under way; wait for some of them";
            return refused(StatusCode::SERVICE_UNAVAILABLE, why);
        };
        let toolset = super::toolset(toolset).map_err(|why| (StatusCode::NOT_FOUND, why))?;
        let index = TOOLSETS.iter().position(|other| other.name == toolset.name).unwrap_or(0);
        let (service, manager) = &self.services[index];
        let is_new = !request.headers().contains_key("mcp-session-id");
        if is_new && manager.sessions.read().await.len() >= MOST_SESSIONS {
            let why = "Too many sessions; end some of them";
            return refused(StatusCode::SERVICE_UNAVAILABLE, why);
        }
        request.extensions_mut().insert(caller);
        let Ok(reply) = service.clone().call(request).await;
        let mut reply =
            reply.map(|body| Body::new(Placed { body: Body::new(body), _place: place }));
        reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(reply)
    }
}

/// A body that keeps its place until it ends or is dropped.
struct Placed {
    body: Body,
    _place: OwnedSemaphorePermit,
}

impl HttpBody for Placed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// How many requests may still come, filled as time goes by.
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn full(now: Instant) -> Self {
        Self { left: BURST, at: now }
    }

    /// Takes one; false: there is none.
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
}
