//! HTTP with server-sent events at `/mcp/sse`: the transport of the protocol's revision of 2024-11-05 ("Transports, HTTP with
//! SSE"), for clients that know no other. `GET` opens a stream whose first event, `endpoint`, is the address that messages
//! are posted to; what the server says comes as `message` events.
//!
//! rmcp has it no more: a stream is a session as the lines of the TCP wire carry one, behind two pipes. Owns the streams and
//! their bounds. A session ends with its stream, and gives back what it held.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use hyper::body::Bytes;
use parking_lot::Mutex;
use serde::de::IgnoredAny;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    sync::{Notify, OwnedSemaphorePermit, mpsc},
    time::{Instant, sleep_until},
};
use unterm_mux::random;

use super::{pending_replies::PendingReplies, server::Server, session::serve, tool::Toolset};
use crate::{
    caller::{Caller, TokenKind},
    dialect::http::Lines,
};

/// How long a session that asks for nothing is kept.
pub const IDLE: Duration = Duration::from_secs(3600);
/// Why a request is not answered; for the client.
pub type Refused = (StatusCode, String);

/// Where it is.
pub const PATH: &str = "/mcp/sse";
/// What names the stream in that address; clients look for this name.
pub const SESSION: &str = "session_id";
/// Streams at a time: fewer than there are places, so that their clients always find one to post.
const MOST_STREAMS: usize = 24;
/// Bytes that wait between a session and its stream, each way.
const PIPE: usize = 64 << 10;
/// Events that wait for the connection.
const MOST_EVENTS: usize = 4;
/// After so long without an event a comment is sent: clients give up a stream that is silent for five minutes.
const QUIET: Duration = Duration::from_secs(60);

/// An open stream.
struct Stream {
    /// What its client brought; who brings another is somebody else.
    token: TokenKind,
    /// To the session, a line a message.
    input: tokio::sync::Mutex<DuplexStream>,
    /// Requests that are not answered.
    pending: PendingReplies,
    /// When something was said last, by its client or to it.
    used: Mutex<Instant>,
    /// Has it give way to another.
    end: Notify,
}

/// The open streams, by what their clients name them with: nobody guesses it.
pub struct Streams {
    server: Arc<Server>,
    open: Mutex<HashMap<String, Arc<Stream>>>,
}

impl Streams {
    /// None yet.
    pub fn new(server: Arc<Server>) -> Self {
        Self { server, open: Mutex::default() }
    }

    /// Opens one, and begins its session.
    pub fn open(
        self: &Arc<Self>,
        caller: Caller,
        toolset: &'static Toolset,
    ) -> Result<Response<Body>, Refused> {
        let id = random::hex()
            .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        let (to_session, from_client) = duplex(PIPE);
        let (from_session, to_client) = duplex(PIPE);
        let stream = Arc::new(Stream {
            token: caller.token,
            input: tokio::sync::Mutex::new(to_session),
            pending: PendingReplies::default(),
            used: Mutex::new(Instant::now()),
            end: Notify::new(),
        });
        self.admit(id.clone(), stream.clone())?;
        let server = self.server.clone();
        let connection = server.dispatcher.next_connection();
        let caller = Caller { connection, ..caller.for_agent() };
        server.dispatcher.logged_in(&caller);
        let pending = stream.pending.clone();
        tokio::spawn(async move {
            serve(server.clone(), from_client, to_client, caller, toolset, None, pending).await;
            server.dispatcher.disconnected(connection);
        });
        let (events, body) = mpsc::channel(MOST_EVENTS);
        let streams = self.clone();
        tokio::spawn(async move {
            let endpoint = format!("event: endpoint\ndata: {PATH}?{SESSION}={id}\n\n");
            if events.send(endpoint.into()).await.is_ok() {
                pass(&stream, from_session, &events).await;
            }
            // With the last that holds it its pipe closes, and the session ends.
            streams.open.lock().remove(&id);
        });
        let mut reply = Response::new(Body::new(Lines(body)));
        let kind = HeaderValue::from_static("text/event-stream");
        reply.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(reply)
    }

    /// Takes a stream in. Where there are too many, the one of the same token that was idle for longest gives way: many
    /// clients leave theirs open and never come back to them.
    fn admit(&self, id: String, stream: Arc<Stream>) -> Result<(), Refused> {
        let mut open = self.open.lock();
        if open.len() >= MOST_STREAMS {
            let Some((left, idle)) = longest_idle(&open, stream.token) else {
                let why = format!(
                    "There are {MOST_STREAMS} streams, and none of yours is idle: end one, or use /mcp, which needs none"
                );
                return Err((StatusCode::SERVICE_UNAVAILABLE, why));
            };
            tracing::warn!(
                ?idle,
                "there are {MOST_STREAMS} streams: one that was left gives way to a new one"
            );
            if let Some(left) = open.remove(&left) {
                left.end.notify_one();
            }
        }
        open.insert(id, stream);
        Ok(())
    }

    /// Takes a message for the stream of that name; `place` is kept until its session has it.
    pub async fn post(
        &self,
        caller: &Caller,
        name: Option<&str>,
        body: &[u8],
        place: OwnedSemaphorePermit,
    ) -> Result<Response<Body>, Refused> {
        let none = || {
            let why = "Open a stream with GET, and post to the address that its first event says";
            (StatusCode::NOT_FOUND, why.to_owned())
        };
        let stream = name.and_then(|name| self.open.lock().get(name).cloned());
        let stream = stream.filter(|stream| stream.token == caller.token).ok_or_else(none)?;
        let message = line(body)?;
        *stream.used.lock() = Instant::now();
        // By itself, so that a client that breaks off leaves no half of a line.
        let written = tokio::spawn(async move {
            let _place = place;
            stream.input.lock().await.write_all(&message).await
        });
        match written.await {
            Ok(Ok(())) => {
                let mut reply = Response::new(Body::empty());
                *reply.status_mut() = StatusCode::ACCEPTED;
                Ok(reply)
            }
            _ => Err(none()),
        }
    }
}

/// Among the streams of a token that owe no answer the one that was not used for longest, and how long.
fn longest_idle(
    open: &HashMap<String, Arc<Stream>>,
    token: TokenKind,
) -> Option<(String, Duration)> {
    let is_idle = |stream: &Stream| stream.token == token && stream.pending.borrow().is_empty();
    let idle = open.iter().filter(|(_, stream)| is_idle(stream));
    let (id, since) = idle.map(|(id, stream)| (id, *stream.used.lock())).min_by_key(|of| of.1)?;
    Some((id.clone(), since.elapsed()))
}

/// A message as a line: in JSON line ends stand between its parts only, as blanks do.
fn line(body: &[u8]) -> Result<Vec<u8>, Refused> {
    let wrong = |why: String| (StatusCode::BAD_REQUEST, why);
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(body) {
        return Err(wrong(format!("The body is no JSON: {error}")));
    }
    let body = body.trim_ascii();
    if !body.starts_with(b"{") {
        return Err(wrong("The body must be one message, a JSON object".to_owned()));
    }
    let is_end = |byte: u8| matches!(byte, b'\n' | b'\r');
    let bytes = body.iter().map(|byte| if is_end(*byte) { b' ' } else { *byte });
    Ok(bytes.chain([b'\n']).collect())
}

/// Passes on what a session says, until it or its client goes, or neither has said anything for too long.
async fn pass(stream: &Stream, session: DuplexStream, events: &mpsc::Sender<Bytes>) {
    const BEFORE: &[u8] = b"event: message\ndata: ";
    let mut session = BufReader::new(session);
    let mut event = BEFORE.to_vec();
    let mut sent = Instant::now();
    loop {
        let idle = *stream.used.lock() + IDLE;
        let next: Bytes = tokio::select! {
            () = events.closed() => return,
            () = stream.end.notified() => return,
            // What was read of a line stays when something else comes first.
            read = session.read_until(b'\n', &mut event) => {
                if read.is_err() || !event.ends_with(b"\n") {
                    return;
                }
                *stream.used.lock() = Instant::now();
                event.push(b'\n');
                std::mem::replace(&mut event, BEFORE.to_vec()).into()
            }
            () = sleep_until(idle.min(sent + QUIET)) => {
                if Instant::now() >= *stream.used.lock() + IDLE {
                    return;
                }
                Bytes::from_static(b":\n\n")
            }
        };
        let passed = tokio::select! {
            passed = events.send(next) => passed,
            () = stream.end.notified() => return,
        };
        if passed.is_err() {
            return;
        }
        sent = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::*;

    #[test]
    fn a_stream_of_the_same_token_that_owes_nothing_gives_way() {
        let now = Instant::now();
        let at = |token, seconds| {
            let stream = Stream {
                token,
                input: tokio::sync::Mutex::new(duplex(1).0),
                pending: PendingReplies::default(),
                used: Mutex::new(now + Duration::from_secs(seconds)),
                end: Notify::new(),
            };
            Arc::new(stream)
        };
        let busy = at(TokenKind::Instance, 0);
        busy.pending.send_modify(|pending| {
            pending.insert(RequestId::Number(1));
        });
        let mut open = HashMap::from([
            ("busy".to_owned(), busy),
            ("another's".to_owned(), at(TokenKind::Agent(1), 1)),
        ]);
        let left = |open: &HashMap<_, _>, token| longest_idle(open, token).map(|left| left.0);
        assert_eq!(left(&open, TokenKind::Instance), None);
        open.insert("younger".to_owned(), at(TokenKind::Instance, 3));
        open.insert("older".to_owned(), at(TokenKind::Instance, 2));
        assert_eq!(left(&open, TokenKind::Instance).as_deref(), Some("older"));
        assert_eq!(left(&open, TokenKind::Agent(1)).as_deref(), Some("another's"));
        assert_eq!(left(&open, TokenKind::Agent(2)), None);
    }

    #[test]
    fn a_message_is_one_line_whatever_it_looks_like() {
        let text = |body: &str| line(body.as_bytes()).map(|line| String::from_utf8(line).unwrap());
        assert_eq!(text(" {\r\n  \"a\": \"b\\n\"\n}\n").unwrap(), "{    \"a\": \"b\\n\" }\n");
        for wrong in ["", "[]", "[{}]", "5", "{", "{} {}", "{\"a\": \"\n\"}"] {
            assert_eq!(line(wrong.as_bytes()).unwrap_err().0, StatusCode::BAD_REQUEST, "{wrong}");
        }
    }
}
