//! A connection to an instance, after the login. Sends one JSON object per line, and one request at a time.

use std::{collections::VecDeque, io};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::{discover::Endpoint, error::ClientError, stream::Stream};

/// The error code with which an instance refuses to serve a connection.
const NOT_AUTHENTICATED: i64 = -32002;

/// A connection to an instance, after the login.
pub struct Connection {
    stream: BufReader<Stream>,
    last_id: u64,
    line: Vec<u8>,
    /// Events that arrived while a reply was awaited.
    events: VecDeque<Value>,
}

/// A reply, or an event.
#[derive(Deserialize)]
struct Message<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Failure>,
    params: Option<Value>,
}

#[derive(Deserialize)]
struct Failure {
    code: i64,
    message: String,
}

impl Connection {
    /// Connects and logs in. Uses the socket. If the socket does not exist or serves only another user, uses the port.
    pub async fn login(endpoint: &Endpoint, login: &Value) -> Result<Self, ClientError> {
        if let Some(socket) = &endpoint.socket {
            let stream = Stream::to_socket(socket).await.map_err(ClientError::from);
            let connection = match stream {
                Ok(stream) => Self::login_on(stream, login).await,
                Err(error) => Err(error),
            };
            match connection {
                Err(ClientError::Call { code: NOT_AUTHENTICATED, .. } | ClientError::Io(_)) => {}
                done => return done,
            }
        }
        Self::login_on(Stream::to_port(endpoint.port).await?, login).await
    }

    async fn login_on(stream: Stream, login: &Value) -> Result<Self, ClientError> {
        let stream = BufReader::new(stream);
        let (line, events) = (Vec::new(), VecDeque::new());
        let mut connection = Self { stream, last_id: 0, line, events };
        connection.call("auth.login", &login.to_string()).await?;
        Ok(connection)
    }

    /// Calls a method and returns its reply as JSON. `params`: the parameters as JSON; empty if there are none. If the
    /// future is dropped before it completes, the connection is unusable.
    pub async fn call(&mut self, method: &str, params: &str) -> Result<String, ClientError> {
        self.last_id += 1;
        let id = self.last_id;
        let params = if params.is_empty() { "{}" } else { params };
        let method_name = json!(method);
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method_name},\"params\":{params}}}\n"
        );
        self.stream.get_mut().write_all(request.as_bytes()).await?;
        loop {
            self.read_line().await?;
            let message: Message<'_> = serde_json::from_slice(&self.line).map_err(unread)?;
            if let (None, Some(event)) = (&message.id, message.params) {
                self.events.push_back(event);
                continue;
            }
            if let Some(Failure { code, message }) = message.error {
                return Err(ClientError::Call { method: method.to_owned(), code, message });
            }
            let answered = message.id.unwrap_or_default();
            if answered != id {
                return Err(ClientError::Reply(format!("it answers request {answered}")));
            }
            return Ok(message.result.map_or("null", RawValue::get).to_owned());
        }
    }

    /// The next event, after a subscription. Cancel-safe.
    ///
    /// # Errors
    /// The connection broke, for example because the instance ended.
    pub async fn event(&mut self) -> Result<Value, ClientError> {
        if let Some(event) = self.events.pop_front() {
            return Ok(event);
        }
        // If an earlier `read_until` was dropped, `line` contains the bytes that it read. They are kept unless they are
        // a whole line.
        if self.line.ends_with(b"\n") {
            self.line.clear();
        }
        self.read_more().await?;
        let message: Message<'_> = serde_json::from_slice(&self.line).map_err(unread)?;
        Ok(message.params.unwrap_or_default())
    }

    /// Whether the connection is still open, checked without waiting.
    pub async fn is_open(&mut self) -> bool {
        let read = self.stream.fill_buf();
        // Between calls, the instance sends nothing unless it closes the connection.
        crate::poll::poll_once(&mut std::pin::pin!(read)).await.is_pending()
    }

    /// See [`Stream::reset_on_close`].
    pub fn reset_on_close(&self) -> io::Result<()> {
        self.stream.get_ref().reset_on_close()
    }

    /// The stream of the connection. No byte is lost, because the instance sends nothing between its last reply and the
    /// next request.
    pub fn into_stream(self) -> Stream {
        self.stream.into_inner()
    }

    async fn read_line(&mut self) -> Result<(), ClientError> {
        self.line.clear();
        self.read_more().await
    }

    async fn read_more(&mut self) -> Result<(), ClientError> {
        if self.stream.read_until(b'\n', &mut self.line).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }
}

fn unread(error: serde_json::Error) -> ClientError {
    ClientError::Reply(error.to_string())
}
