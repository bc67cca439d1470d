//! One client of the server: handles its requests in their order, and sends its notifications.

use std::{
    collections::VecDeque,
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::{
    adapters::Adapters,
    error::{Error, Result},
    framing::{Messages, Received, send},
    methods::{Client, call, lasts},
    notifications::Notifications,
    redaction::Redaction,
    request::{Request, failure, reply},
    sessions::Sessions,
};
use crate::transport::framing::Framing;

/// The maximum number of bytes, and of messages, that are read ahead while a request is in progress.
const BYTES_AHEAD: usize = 1 << 20;
const MESSAGES_AHEAD: usize = 64;
/// The maximum number of characters of an error's message.
const LONGEST_ERROR: usize = 2000;
/// The notification that cancels a request, as in the Language Server Protocol.
const CANCEL: &str = "$/cancelRequest";

/// The number of the next client, which is used in the log.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Serves a client until its input has ended and every request is answered, or until the client disconnects.
pub async fn serve<F: Framing>(
    adapters: Arc<Adapters>,
    framing: &'static str,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) {
    let mut connection = Connection::<F, _, _> {
        sessions: adapters.sessions().clone(),
        adapters,
        framing,
        messages: Messages::new(reader),
        writer,
        notifications: Notifications::default(),
        ahead: VecDeque::new(),
        end: None,
    };
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    tracing::info!(client = number, framing, "a client has connected");
    if let Err(error) = connection.run().await {
        tracing::debug!(client = number, %error, "a client is gone");
    }
    tracing::info!(client = number, "a client has left");
}

struct Connection<F, R, W> {
    sessions: Arc<Sessions>,
    adapters: Arc<Adapters>,
    framing: &'static str,
    messages: Messages<F, R>,
    writer: W,
    notifications: Notifications,
    /// Messages that arrived while a request was in progress.
    ahead: VecDeque<Vec<u8>>,
    /// The reason why nothing more is read. `None` while messages are read.
    end: Option<End>,
}

/// The reason why nothing more is read from a client.
enum End {
    /// The client has closed its side.
    Closed,
    /// The client sent bytes that can't be read. Contains the reason.
    Broken(String),
}

/// The next thing to do for the client.
enum Next {
    Message(Vec<u8>),
    News,
    End,
}

impl<F: Framing, R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Connection<F, R, W> {
    async fn run(&mut self) -> io::Result<()> {
        let mut news = self.sessions.news();
        loop {
            let next = match (self.ahead.pop_front(), &self.end) {
                (Some(message), _) => Next::Message(message),
                (None, Some(_)) => Next::End,
                (None, None) => {
                    let is_on = self.notifications.is_on();
                    tokio::select! {
                        received = self.messages.next() => match received? {
                            Received::Message(message) => Next::Message(message),
                            Received::End => {
                                self.end = Some(End::Closed);
                                Next::End
                            }
                            Received::Broken(why) => {
                                self.end = Some(End::Broken(why));
                                Next::End
                            }
                        },
                        Ok(()) = news.changed(), if is_on => Next::News,
                    }
                }
            };
            match next {
                Next::Message(message) => self.answer(&message).await?,
                Next::News => {}
                Next::End => return self.finish().await,
            }
            news.mark_unchanged();
            for message in self.notifications.take(&self.sessions).await {
                send::<F>(&mut self.writer, message).await?;
            }
        }
    }

    /// If the server ends the connection, sends the reason.
    async fn finish(&mut self) -> io::Result<()> {
        if let Some(End::Broken(why)) = self.end.take() {
            self.fail(&Value::Null, Error::parse(why)).await?;
        }
        self.writer.shutdown().await
    }

    /// Answers a message.
    ///
    /// # Errors
    /// The client has disconnected.
    async fn answer(&mut self, message: &[u8]) -> io::Result<()> {
        let request = match Request::parse(message) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(refused) => return self.fail(&refused.id, refused.error).await,
        };
        if request.method.starts_with("$/") {
            // This is the cancellation of a request that was already answered, or another notification that may be
            // ignored.
            return match request.id {
                Some(id) => self.fail(&id, Error::method_not_found(&request.method)).await,
                None => Ok(()),
            };
        }
        let id = request.id.clone();
        let method = request.method.clone();
        let result = self.carry_out(request).await?;
        if let Err(Error { code, message, .. }) = &result {
            tracing::info!(method, code, message, "a request failed");
        }
        match (id, result) {
            (None, _) => Ok(()),
            (Some(id), Ok(result)) => send::<F>(&mut self.writer, reply(&id, &result)).await,
            (Some(id), Err(error)) => self.fail(&id, error).await,
        }
    }

    /// Executes a request. Meanwhile, reads ahead, in order to notice a cancellation and the end of the client's input.
    async fn carry_out(
        &mut self,
        request: Request,
    ) -> io::Result<Result<Box<serde_json::value::RawValue>>> {
        let lasts = lasts(&request);
        let Request { id, method, params } = request;
        // The client may have canceled the request before it began.
        if lasts && let Some(id) = &id {
            let cancelled = self.ahead.iter().position(|message| cancels(message, id));
            if let Some(index) = cancelled {
                self.ahead.remove(index);
                return Ok(Err(Error::cancelled()));
            }
        }
        let client = Client {
            sessions: &self.sessions,
            adapters: &self.adapters,
            notifications: &mut self.notifications,
            framing: self.framing,
        };
        let mut done = pin!(call(client, &method, params));
        loop {
            let bytes: usize = self.ahead.iter().map(Vec::len).sum();
            let has_room = bytes < BYTES_AHEAD && self.ahead.len() < MESSAGES_AHEAD;
            tokio::select! {
                biased;
                result = &mut done => return Ok(result),
                received = self.messages.next(), if self.end.is_none() && has_room => match received? {
                    Received::Message(message) => {
                        if lasts && id.as_ref().is_some_and(|id| cancels(&message, id)) {
                            return Ok(Err(Error::cancelled()));
                        }
                        self.ahead.push_back(message);
                    }
                    Received::End => {
                        self.end = Some(End::Closed);
                        // A client that closed only its writing half still reads the reply. An empty write fails if the
                        // client closed the Unix socket completely (unix(7), EPIPE).
                        if let (Err(error), true) = (self.writer.write(&[]).await, lasts) {
                            return Err(error);
                        }
                    }
                    Received::Broken(why) => self.end = Some(End::Broken(why)),
                },
            }
        }
    }

    async fn fail(&mut self, id: &Value, mut error: Error) -> io::Result<()> {
        let redacted = Redaction::default().line(&error.message).into_owned();
        error.message = redacted.chars().take(LONGEST_ERROR).collect();
        send::<F>(&mut self.writer, failure(id, &error)).await
    }
}

/// Whether a message cancels the request with this id.
fn cancels(message: &[u8], id: &Value) -> bool {
    // Most messages contain no cancellation. This check rules them out without parsing.
    if memchr::memmem::find(message, CANCEL.as_bytes()).is_none() {
        return false;
    }
    match Request::parse(message) {
        Ok(Some(Request { id: None, method, params })) => {
            method == CANCEL && params.get("id") == Some(id)
        }
        _ => false,
    }
}
