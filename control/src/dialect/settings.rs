//! The HTTP server on a loopback port. It serves the settings page and the routes that the page uses.
//!
//! This module listens, and limits connections, request heads, bodies and times. [`guard`] decides which requests are
//! served at all. [`routes`] is the table of routes. [`methods`] contains the methods that only this dialect has. Every
//! route calls a method through the dispatcher, as the other dialects do. `/mcp` and `/mcp/sse` belong to the Model
//! Context Protocol.

mod assets;
mod connection;
mod events;
mod guard;
pub mod languages;
mod methods;
mod openapi;
mod patience;
mod peer;
mod router;
mod routes;

use std::sync::{Arc, OnceLock};

use axum::{
    Router,
    body::Body,
    http::{HeaderValue, Response, header},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioTimer;
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};
use tower_service::Service as _;

#[cfg(test)]
pub use self::routes::own_methods;
use self::{
    connection::{Connection, MOST_CONNECTIONS, Shared},
    guard::Guard,
    patience::Patient,
};
use super::{
    http::{READING, failure},
    mcp,
};
use crate::{
    dispatch::Dispatcher,
    services::limits::fair_share::FairShare,
    transport::{
        contract::Refusal,
        limits::{LoginLimits, PendingLogins},
        listen,
        reserved_descriptor::ReservedDescriptor,
        tcp,
    },
};

/// The preferred port.
const PREFERRED_PORT: u16 = 19877;
/// The maximum length of a request's head, in bytes.
const LONGEST_HEAD: usize = 16 << 10;
/// Binds a port for the page. `None` if no port is free; Unterm then starts without a page.
pub fn bind(runtime: &Runtime, former: Option<u16>) -> Option<(TcpListener, u16)> {
    let bind = || {
        let listener = tcp::bind(former, PREFERRED_PORT)?;
        let port = listener.local_addr()?.port();
        let _context = runtime.enter();
        Ok::<_, std::io::Error>((TcpListener::from_std(listener)?, port))
    };
    bind().map_err(|error| tracing::warn!(%error, "there is no settings page")).ok()
}

/// Accepts connections as long as the future is polled.
pub async fn serve(
    listener: TcpListener,
    dispatcher: Arc<Dispatcher>,
    token: String,
    mcp: Arc<mcp::Server>,
    login: LoginLimits,
) {
    let port = listener.local_addr().map_or(0, |address| address.port());
    let mcp = mcp::http::Http::new(&mcp, port);
    let shared = Arc::new(Shared {
        dispatcher,
        guard: Guard::new(port, token),
        mcp,
        logins: PendingLogins::new(login.connections),
        places: FairShare::new(MOST_CONNECTIONS),
    });
    let router = router::router(&shared);
    tracing::info!(port, "settings page");
    let mut spare = ReservedDescriptor::default();
    let full = full();
    loop {
        let stream = listen::accept(&listener, &mut spare, full.as_bytes()).await;
        tokio::spawn(talk(stream, router.clone(), shared.clone()));
    }
}

/// The reply to a connection if no file descriptor is left.
fn full() -> String {
    let body = json!({ "error": Refusal::Full.to_string() }).to_string();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn talk(stream: TcpStream, router: Router, shared: Arc<Shared>) {
    // The connection may already have ended.
    let (Ok(address), Ok(own)) = (stream.peer_addr(), stream.local_addr()) else { return };
    let id = shared.dispatcher.next_connection();
    let login = shared.logins.begin(id);
    let connection = Connection { id, peer: address, own, login, place: OnceLock::new() };
    let connection = Arc::new(connection);
    let serve = service_fn(|mut request: hyper::Request<Incoming>| {
        let refusal = shared.guard.refusal(&request);
        let mut router = router.clone();
        let connection = connection.clone();
        async move {
            let reply = match refusal {
                Some((status, message)) => {
                    let (host, origin) = [header::HOST, header::ORIGIN]
                        .map(|name| request.headers().get(name))
                        .into();
                    let (verb, path) = (request.method(), request.uri().path());
                    tracing::warn!(%address, %verb, path, ?host, ?origin, message, "refused a request of a page");
                    failure(status, message)
                }
                None => {
                    request.extensions_mut().insert(connection);
                    let Ok(reply) = router.call(request).await;
                    reply
                }
            };
            Ok::<_, std::convert::Infallible>(guarded(reply))
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(READING)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(Patient::new(stream), serve);
    tokio::select! {
        end = serving => tracing::debug!(id, %address, ?end, "http connection ended"),
        () = connection.login.evicted() => {
            tracing::warn!(id, %address, "too many connections to the settings page: one without a token gave way");
        }
    }
    shared.dispatcher.disconnected(id);
}

/// Adds the headers that every reply has.
fn guarded(mut reply: Response<Body>) -> Response<Body> {
    const HEADERS: [(header::HeaderName, &str); 7] = [
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in HEADERS {
        reply.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    reply
}
