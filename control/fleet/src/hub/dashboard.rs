//! The dashboard: a page for the users who manage a fleet, and the page's API.
//!
//! The page signs in with a code of `unterm-hub login` or with a passkey, and gets a secret that it sends with each
//! request. The dashboard uses no cookie, so that no other web page can act with the sign-in, and no other server on
//! this host receives it.

mod assets;
mod log;
mod overview;
mod passkeys;
mod requests;

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    http::{Method, Response, StatusCode, Uri, request::Parts},
};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    sync::{Semaphore, broadcast::error::RecvError, mpsc},
    time::{Duration, sleep},
};
use unterm_control::mcp_http::{Lines, reply};

use super::{
    http_reply::{
        HttpRefusal, HttpResult, WRONG_SECRET, bearer, done, event, internal, json_reply, query,
        read, refused,
    },
    notices::Notice,
    pairing::Pairing,
    services::Services,
    sign_ins::{SignIn, SignIns},
    web_address::WebAddress,
};
use crate::{identity::MachineId, protocol::LONGEST_TEXT, sha256::sha256};

/// The maximum number of bytes of a request's body.
pub const LONGEST_BODY: usize = 2 * LONGEST_TEXT;
/// The maximum number of codes and passkeys that are looked up at the same time. Others wait for some milliseconds.
const LOOKUPS: usize = 16;
/// The interval at which a stream of events checks that its sign-in has not ended.
const SIGN_IN_CHECK: Duration = Duration::from_secs(10);

/// The dashboard of a hub.
pub struct Dashboard {
    hub: Arc<Services>,
    pairing: Arc<Pairing>,
    lookups: Semaphore,
}

/// The sender of a request.
pub struct Requester<'a> {
    site: &'a WebAddress,
    /// The sign-in and its secret. `None` for a request that needs no sign-in.
    sign_in: Option<(SignIn, String)>,
}

impl Requester<'_> {
    /// A name for the sign-in that the request comes from.
    pub fn user(&self) -> Option<String> {
        self.sign_in.as_ref().map(|(_, secret)| sha256(secret))
    }
}

/// A request of the page.
struct Request<'a> {
    method: &'a Method,
    uri: &'a Uri,
    body: &'a [u8],
    sign_in: SignIn,
    secret: String,
    /// The address of the hub, as the page used it.
    site: &'a WebAddress,
}

impl Request<'_> {
    /// A parameter of the query. Empty if the query has no such parameter.
    fn query(&self, name: &str) -> String {
        query(self.uri, name).unwrap_or_default()
    }
}

/// The part of the page that a path such as `/profile/tokens` leads to. AITerm's clients send users to that path.
pub fn view_at(path: &str) -> Option<&'static str> {
    (path == "/profile/tokens").then_some("/#tokens")
}

/// Whether a path belongs to the dashboard.
pub fn serves(path: &str) -> bool {
    path.starts_with("/api/") || assets::find(path).is_some()
}

/// The reply to a request for a file of the page or for its texts. They are in memory, and need no sign-in.
pub fn in_memory(parts: &Parts) -> Option<Response<Body>> {
    if parts.method != Method::GET {
        return None;
    }
    if parts.uri.path() == "/api/words" {
        let language = query(&parts.uri, "language").unwrap_or_default();
        return Some(json_reply(&assets::words(&language)));
    }
    assets::find(parts.uri.path())
}

impl Dashboard {
    /// Creates the dashboard of a hub.
    pub fn new(hub: Arc<Services>, pairing: Arc<Pairing>) -> Self {
        Self { hub, pairing, lookups: Semaphore::new(LOOKUPS) }
    }

    /// Checks who sends a request that comes from the hub's own page, or from no page. `site`: the hub's address, as
    /// the request names it.
    ///
    /// # Errors
    /// The request needs a sign-in, and has none.
    pub async fn check<'a>(
        &self,
        site: &'a WebAddress,
        parts: &Parts,
    ) -> Result<Requester<'a>, HttpRefusal> {
        let (method, path) = (&parts.method, parts.uri.path());
        let is_open = match path {
            "/api/login" => method == Method::POST,
            passkeys::LOGIN => method == Method::GET || method == Method::POST,
            _ => false,
        };
        if is_open {
            return Ok(Requester { site, sign_in: None });
        }
        let secret = bearer(&parts.headers).unwrap_or_default();
        match self.hub.sign_ins.find(&secret).await.map_err(internal)? {
            Some(sign_in) => Ok(Requester { site, sign_in: Some((sign_in, secret)) }),
            None => refused(StatusCode::UNAUTHORIZED, "Sign in first"),
        }
    }

    /// Answers a request that has passed [`Self::check`].
    ///
    /// # Errors
    /// A status, and the reason for the user.
    pub async fn answer(&self, asked: Requester<'_>, parts: &Parts, body: &[u8]) -> HttpResult {
        let (method, path) = (&parts.method, parts.uri.path());
        let site = asked.site;
        if let Some((sign_in, secret)) = asked.sign_in {
            return self
                .route(Request { method, uri: &parts.uri, body, sign_in, secret, site })
                .await;
        }
        let tried = {
            let _turn = self.lookups.acquire().await.map_err(|error| internal(error.into()))?;
            match path {
                "/api/login" => self.sign_in(body).await,
                _ if method == Method::GET => {
                    return passkeys::begin_sign_in(&self.hub, site).await;
                }
                _ => passkeys::sign_in(&self.hub, site, body).await,
            }
        };
        // A delay is used instead of a lock-out. A request that waits here delays no other request.
        if matches!(&tried, Err((StatusCode::UNAUTHORIZED, _))) {
            sleep(WRONG_SECRET).await;
        }
        Ok(signed_in_reply(&tried?))
    }

    async fn sign_in(&self, body: &[u8]) -> Result<(SignIn, String), HttpRefusal> {
        #[derive(Deserialize)]
        struct Login {
            code: String,
        }
        let Login { code } = read(body)?;
        if let Some(signed_in) = self.hub.sign_ins.sign_in(&code).await.map_err(internal)? {
            return Ok(signed_in);
        }
        tracing::warn!("a wrong code for the dashboard");
        refused(StatusCode::UNAUTHORIZED, "The code is wrong, was used or has expired")
    }

    async fn route(&self, request: Request<'_>) -> HttpResult {
        match (request.method, request.uri.path()) {
            (&Method::GET, "/api/overview") => {
                let overview = overview::of(&self.hub, &request.sign_in, request.site).await;
                Ok(json_reply(&overview.map_err(internal)?))
            }
            (&Method::GET, "/api/events") => Ok(self.events(request.secret)),
            (&Method::GET, "/api/audit") => {
                let before = request.query("before").parse().ok();
                let limit = request.query("limit").parse().unwrap_or(100);
                let found =
                    log::search(&self.hub.store, &request.query("search"), before, limit).await;
                Ok(json_reply(&found.map_err(internal)?))
            }
            (&Method::GET, "/api/audit/export") => log::export(
                self.hub.store.clone(),
                request.query("search"),
                &request.query("format"),
            ),
            (&Method::GET, "/api/sessions/live") => self.live(&request),
            (&Method::POST, "/api/logout") => {
                self.hub.sign_ins.sign_out(&request.secret).await.map_err(internal)?;
                Ok(done())
            }
            (&Method::POST, _) if !request.sign_in.may_act => refused(
                StatusCode::FORBIDDEN,
                "This sign-in is read-only: sign in with a code from `unterm-hub login` without --read-only",
            ),
            (&Method::POST, path) => {
                let from = requests::RequestOrigin { site: request.site, secret: &request.secret };
                match passkeys::answer(&self.hub, &from, path, request.body).await {
                    Some(answer) => answer,
                    None => {
                        requests::answer(&self.hub, &self.pairing, &from, path, request.body).await
                    }
                }
            }
            _ => refused(StatusCode::NOT_FOUND, "There is no such request"),
        }
    }

    /// The changes in the fleet and the calls of agents, as events.
    fn events(&self, secret: String) -> Response<Body> {
        let mut notices = self.hub.notices.listen();
        self.stream(secret, async move |send| {
            loop {
                let event = match notices.recv().await {
                    Ok(Notice::Changed(topic)) => event("changed", topic.name()),
                    Ok(Notice::Call(entry)) => event("call", &entry),
                    // The page loads everything again, and shows that it has missed calls.
                    Err(RecvError::Lagged(_)) => event("lost", "{}"),
                    Err(RecvError::Closed) => return,
                };
                if send.send(event).await.is_err() {
                    return;
                }
            }
        })
    }

    /// A session's screen and output, as events.
    fn live(&self, request: &Request<'_>) -> HttpResult {
        let bad = |why| (StatusCode::BAD_REQUEST, why);
        let machine = MachineId::try_from(request.query("machine")).map_err(bad)?;
        if !self.hub.machines.is_paired(&machine) {
            return refused(StatusCode::CONFLICT, "There is no such machine");
        }
        let viewer = self.hub.views.open(&machine, &request.query("sid")).map_err(bad)?;
        Ok(self.stream(request.secret.clone(), async move |send| viewer.forward(&send).await))
    }

    /// A stream of the events that `pass` sends, until `pass` returns, the page disconnects or the sign-in ends.
    fn stream<F>(
        &self,
        secret: String,
        pass: impl FnOnce(mpsc::Sender<Bytes>) -> F,
    ) -> Response<Body>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        // The queue is small, because a page that does not read must not fill the memory.
        let (send, receive) = mpsc::channel(1);
        let (pass, sign_ins) = (pass(send.clone()), self.hub.sign_ins.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = pass => {}
                () = send.closed() => {}
                () = sign_in_end(&sign_ins, &secret) => {}
            }
        });
        reply(StatusCode::OK, "text/event-stream", Body::new(Lines(receive)))
    }
}

/// The reply to someone who has signed in.
fn signed_in_reply((sign_in, secret): &(SignIn, String)) -> Response<Body> {
    json_reply(&json!({"token": secret, "may_act": sign_in.may_act}))
}

/// Waits until a sign-in has ended.
async fn sign_in_end(sign_ins: &SignIns, secret: &str) {
    loop {
        sleep(SIGN_IN_CHECK).await;
        if matches!(sign_ins.find(secret).await, Ok(None)) {
            return;
        }
    }
}
