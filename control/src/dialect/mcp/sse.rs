//! HTTP with server-sent events at `/mcp/sse`: the transport of the protocol's revision of 2024-11-05 ("Transports,
//! HTTP with SSE"), for clients that support no other transport. `GET` opens a stream. Its first event, `endpoint`, is
//! the address to which the client posts messages. The server's messages are `message` events.
//!
//! rmcp no longer supports this transport. So two pipes connect a stream to a session like that of a TCP connection.
//! This module owns the streams and their limits. A session ends with its stream, and releases what it held. The module
//! does not depend on the kind of session, so the hub of a fleet can also use it.

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
    sync::{Notify, mpsc},
    time::{Instant, sleep_until},
};
use unterm_mux::random;

use super::pending_replies::PendingReplies;
use crate::{caller::TokenKind, dialect::http::Lines};

/// A stream that is idle for this long is closed.
pub const IDLE: Duration = Duration::from_secs(3600);
/// An error for the client: the status and a text.
pub type Refused = (StatusCode, String);

/// The path of the endpoint.
pub const PATH: &str = "/mcp/sse";
/// The query parameter that contains the stream's name. Clients look for this parameter.
pub const SESSION: &str = "session_id";
/// The maximum number of streams. It is less than the maximum of concurrent requests, so that clients of streams can
/// always post.
const MOST_STREAMS: usize = 24;
/// The maximum number of streams of agents. The remaining streams are reserved for the owner.
const MOST_OF_AGENTS: usize = 20;
/// The maximum number of streams of one agent's token.
const MOST_OF_AGENT: usize = 8;
/// The maximum number of bytes that are buffered between a session and its stream, in each direction.
const PIPE: usize = 64 << 10;
/// The maximum number of events that are buffered for the connection.
const MOST_EVENTS: usize = 4;
/// The interval of comments on a silent stream. Clients give up a stream after five minutes of silence.
const QUIET: Duration = Duration::from_secs(60);

/// The session's ends of a stream's pipes. Each message is one line.
pub struct Pipes {
    /// Reads the client's messages.
    pub reader: DuplexStream,
    /// Writes the session's messages.
    pub writer: DuplexStream,
    /// The session stores its unanswered requests here, so that a stream that waits for a reply does not count as idle.
    pub pending: PendingReplies,
}

/// An open stream.
struct Stream {
    /// The token of the stream's client. A request with another token is refused.
    token: TokenKind,
    /// The pipe to the session: one line per message.
    input: tokio::sync::Mutex<DuplexStream>,
    /// The unanswered requests.
    pending: PendingReplies,
    /// When the last message was sent or received.
    used: Mutex<Instant>,
    /// Ends the stream in favor of another one.
    end: Notify,
}

/// The open streams, by their unguessable names.
#[derive(Default)]
pub struct Streams {
    open: Mutex<HashMap<String, Arc<Stream>>>,
}

impl Streams {
    /// Opens a stream for a client with this token, and begins its session. The stream ends with the session.
    ///
    /// # Errors
    /// Too many streams are open, or the system provides no random numbers.
    pub fn open<S: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        token: TokenKind,
        session: impl FnOnce(Pipes) -> S,
    ) -> Result<Response<Body>, Refused> {
        let id = random::hex()
            .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        let (to_session, from_client) = duplex(PIPE);
        let (from_session, to_client) = duplex(PIPE);
        let stream = Arc::new(Stream {
            token,
            input: tokio::sync::Mutex::new(to_session),
            pending: PendingReplies::default(),
            used: Mutex::new(Instant::now()),
            end: Notify::new(),
        });
        self.admit(id.clone(), stream.clone())?;
        let pending = stream.pending.clone();
        tokio::spawn(session(Pipes { reader: from_client, writer: to_client, pending }));
        let (events, body) = mpsc::channel(MOST_EVENTS);
        let streams = self.clone();
        tokio::spawn(async move {
            let endpoint = format!("event: endpoint\ndata: {PATH}?{SESSION}={id}\n\n");
            if events.send(endpoint.into()).await.is_ok() {
                pass(&stream, from_session, &events).await;
            }
            // The pipe closes when the last reference to the stream is dropped. That ends the session.
            streams.open.lock().remove(&id);
        });
        let mut reply = Response::new(Body::new(Lines(body)));
        let kind = HeaderValue::from_static("text/event-stream");
        reply.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(reply)
    }

    /// Adds a stream. If there is no room, first ends the stream of the same token that was idle longest, because many
    /// clients leave streams open and never use them again.
    fn admit(&self, id: String, stream: Arc<Stream>) -> Result<(), Refused> {
        let mut open = self.open.lock();
        if let Some((most, whose)) = limit_reached(&open, stream.token) {
            let Some((left, idle)) = longest_idle(&open, stream.token) else {
                let why = format!(
                    "There are {most} streams{whose}, and none of yours is idle: end one, or use /mcp, which needs none"
                );
                return Err((StatusCode::SERVICE_UNAVAILABLE, why));
            };
            tracing::warn!(?idle, "there are {most} streams{whose}: one gives way to a new one");
            if let Some(left) = open.remove(&left) {
                left.end.notify_one();
            }
        }
        open.insert(id, stream);
        Ok(())
    }

    /// Passes a message to the stream with this name. `place` is held until the session has received it.
    ///
    /// # Errors
    /// The token has no stream with this name, or the body is not exactly one message.
    pub async fn post<P: Send + 'static>(
        &self,
        token: TokenKind,
        name: Option<&str>,
        body: &[u8],
        place: P,
    ) -> Result<Response<Body>, Refused> {
        let none = || {
            let why = "Open a stream with GET, and post to the address that its first event says";
            (StatusCode::NOT_FOUND, why.to_owned())
        };
        let stream = name.and_then(|name| self.open.lock().get(name).cloned());
        let stream = stream.filter(|stream| stream.token == token).ok_or_else(none)?;
        let message = line(body)?;
        *stream.used.lock() = Instant::now();
        // This runs in a separate task, so that a client that disconnects leaves no incomplete line.
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

/// The limit that leaves no room for another stream of this token, and a description of the streams that the limit
/// counts. `None` if there is room.
fn limit_reached(
    open: &HashMap<String, Arc<Stream>>,
    token: TokenKind,
) -> Option<(usize, &'static str)> {
    let is_agent = |of: TokenKind| matches!(of, TokenKind::Agent(_));
    let count = |is_counted: &dyn Fn(TokenKind) -> bool| {
        open.values().filter(|stream| is_counted(stream.token)).count()
    };
    let limits = [
        (MOST_OF_AGENT, " of this token", count(&|of| of == token)),
        (MOST_OF_AGENTS, " of agents", count(&is_agent)),
        (MOST_STREAMS, "", count(&|_| true)),
    ];
    // For the owner's streams, only the last limit applies.
    let mut limits = limits.into_iter().skip(if is_agent(token) { 0 } else { 2 });
    let reached = limits.find(|(most, _, count)| count >= most);
    reached.map(|(most, whose, _)| (most, whose))
}

/// Among the streams of a token that have no unanswered requests: the stream that was idle longest, and its idle time.
fn longest_idle(
    open: &HashMap<String, Arc<Stream>>,
    token: TokenKind,
) -> Option<(String, Duration)> {
    let is_idle = |stream: &Stream| stream.token == token && stream.pending.borrow().is_empty();
    let idle = open.iter().filter(|(_, stream)| is_idle(stream));
    let (id, since) = idle.map(|(id, stream)| (id, *stream.used.lock())).min_by_key(|of| of.1)?;
    Some((id.clone(), since.elapsed()))
}

/// Writes a message as one line. In valid JSON, line ends occur only between tokens, so blanks can replace them.
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

/// Forwards a session's messages until the session or its client ends, or both are idle for too long.
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
            // An incompletely read line stays in `event` if another branch completes first.
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

    /// A stream that was last used `seconds` after `now`.
    fn stream(token: TokenKind, now: Instant, seconds: u64) -> Arc<Stream> {
        Arc::new(Stream {
            token,
            input: tokio::sync::Mutex::new(duplex(1).0),
            pending: PendingReplies::default(),
            used: Mutex::new(now + Duration::from_secs(seconds)),
            end: Notify::new(),
        })
    }

    fn owes(stream: Arc<Stream>) -> Arc<Stream> {
        stream.pending.send_modify(|pending| {
            pending.insert(RequestId::Number(1));
        });
        stream
    }

    #[test]
    fn agents_leave_streams_to_each_other_and_to_the_owner() {
        let (streams, now) = (Streams::default(), Instant::now());
        let mut number = 0;
        let mut open = |token, is_busy| {
            number += 1;
            let stream = stream(token, now, number);
            let stream = if is_busy { owes(stream) } else { stream };
            streams.admit(number.to_string(), stream).is_ok()
        };
        let mut opened =
            |token, is_busy, tries: usize| (0..tries).filter(|_| open(token, is_busy)).count();
        let count = || streams.open.lock().len();
        // If a token has too many streams, its own idle streams are ended.
        assert_eq!(opened(TokenKind::Agent(1), false, 30), 30);
        assert_eq!(count(), MOST_OF_AGENT);
        assert_eq!(opened(TokenKind::Agent(1), true, 30), MOST_OF_AGENT);
        for agent in 2..9 {
            opened(TokenKind::Agent(agent), true, 30);
        }
        assert_eq!(count(), MOST_OF_AGENTS);
        assert_eq!(opened(TokenKind::Instance, true, 30), MOST_STREAMS - MOST_OF_AGENTS);
        assert_eq!(count(), MOST_STREAMS);
    }

    #[test]
    fn a_stream_of_the_same_token_that_owes_nothing_gives_way() {
        let now = Instant::now();
        let at = |token, seconds| stream(token, now, seconds);
        let busy = owes(at(TokenKind::Instance, 0));
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
