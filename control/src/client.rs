//! The client side: finding a running instance and calling its methods, blocking.
//!
//! Owns one connection and its request numbers. Never starts an instance and never waits for one to appear.

mod discover;
mod stream;

use std::{
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

pub use discover::{Endpoint, find, find_by_name, instances_folder, running};
pub use stream::Stream;

/// The method of a notification that a relay of the Model Context Protocol sends when its client asks for nothing more: the
/// session ends once all that was asked for is answered.
pub const LAST: &str = "notifications/unterm/last";

/// The code of a refusal to serve a connection.
const NOT_AUTHENTICATED: i64 = -32002;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No instance runs, or none of those found answers.
    #[error("no running Unterm found in {}; start one with `unterm` or `unterm --headless`", home.display())]
    NotRunning {
        /// The directory that was searched.
        home: PathBuf,
    },
    /// No instance of that name runs.
    #[error("no running instance is named {name:?}; {}", match known.as_slice() { [] => "none is running".to_owned(), known => format!("running: {}", known.join(", ")) })]
    NoInstance {
        /// The name.
        name: String,
        /// The instances that run.
        known: Vec<String>,
    },
    /// The connection broke.
    #[error("the connection to Unterm was lost: {0}")]
    Io(#[from] io::Error),
    /// What came back is no reply.
    #[error("invalid reply from Unterm: {0}")]
    Reply(String),
    /// The server refused a call.
    #[error("MCP {method} failed [{code}]: {message}")]
    Call {
        /// The method.
        method: String,
        /// The wire's code.
        code: i64,
        /// Why.
        message: String,
    },
}

/// A connection that has logged in.
pub struct Client {
    reader: BufReader<Stream>,
    last_id: u64,
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: P,
}

#[derive(Deserialize)]
struct Reply<'a> {
    id: Value,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    code: i64,
    message: String,
}

impl Client {
    /// Connects to the instance that `home` points to: the first endpoint that [`find`] gives and that answers.
    pub fn connect(home: &std::path::Path) -> Result<Self, ClientError> {
        let mut refusal = None;
        for endpoint in find(home) {
            match Self::connect_to(&endpoint) {
                Err(error @ ClientError::Call { .. }) => refusal = refusal.or(Some(error)),
                Err(_) => {}
                connected => return connected,
            }
        }
        Err(refusal.unwrap_or_else(|| ClientError::NotRunning { home: home.to_owned() }))
    }

    /// Connects and logs in.
    pub fn connect_to(endpoint: &Endpoint) -> Result<Self, ClientError> {
        Self::connect_as(endpoint, Some("unterm-cli"))
    }

    /// The same under another name, or none.
    pub fn connect_as(endpoint: &Endpoint, name: Option<&str>) -> Result<Self, ClientError> {
        Self::login(endpoint, &serde_json::json!({ "token": endpoint.token, "client": name }))
    }

    /// Connects for an agent that is a client of this process: the other instance treats it as it does its own agents.
    pub(crate) fn connect_for_agent(
        endpoint: &Endpoint,
        name: Option<&str>,
    ) -> Result<Self, ClientError> {
        let login = serde_json::json!({ "token": endpoint.token, "client": name, "agent": true });
        Self::login(endpoint, &login)
    }

    /// Connects, and goes over to the Model Context Protocol with a toolset, the usual one if it is empty: what is written
    /// from now on, and read, are its messages, a line each. `UNTERM_TOKEN` holds another token than the instance's own.
    pub fn model_context(endpoint: &Endpoint, toolset: &str) -> Result<Stream, ClientError> {
        let given = std::env::var("UNTERM_TOKEN").ok().filter(|token| !token.is_empty());
        let token = given.as_deref().unwrap_or(&endpoint.token);
        let cwd = std::env::current_dir().ok();
        let login = serde_json::json!({
            "token": token,
            "client": "mcp",
            "mcp": toolset,
            "cwd": cwd,
        });
        // Nothing comes behind the reply before something is asked.
        Ok(Self::login(endpoint, &login)?.reader.into_inner())
    }

    /// Logs in by the socket, or by the port if the socket is gone, or serves another user only.
    fn login(endpoint: &Endpoint, login: &Value) -> Result<Self, ClientError> {
        if let Some(socket) = &endpoint.socket {
            let stream = Stream::to_socket(socket).map_err(ClientError::from);
            match stream.and_then(|stream| Self::login_on(stream, login)) {
                Err(ClientError::Call { code: NOT_AUTHENTICATED, .. } | ClientError::Io(_)) => {}
                done => return done,
            }
        }
        Self::login_on(Stream::to_port(endpoint.port)?, login)
    }

    fn login_on(stream: Stream, login: &Value) -> Result<Self, ClientError> {
        let mut client = Self { reader: BufReader::new(stream), last_id: 0 };
        client.call("auth.login", login)?;
        Ok(client)
    }

    /// Calls a method and waits for its result, however long it takes.
    pub fn call(&mut self, method: &str, params: impl Serialize) -> Result<Value, ClientError> {
        self.last_id += 1;
        let request = Request { jsonrpc: "2.0", id: self.last_id, method, params };
        let mut line = serde_json::to_vec(&request)
            .map_err(|error| ClientError::Io(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        line.push(b'\n');
        self.reader.get_mut().write_all(&line)?;

        self.read_line(&mut line)?;
        let nonsense = |error: serde_json::Error| ClientError::Reply(error.to_string());
        let reply: Reply<'_> = serde_json::from_slice(&line).map_err(nonsense)?;
        if let Some(Failure { code, message }) = reply.error {
            return Err(ClientError::Call { method: method.to_owned(), code, message });
        }
        if reply.id != self.last_id {
            return Err(ClientError::Reply(format!("it answers request {}", reply.id)));
        }
        let result = reply.result.map_or("null", RawValue::get);
        serde_json::from_str(result).map_err(nonsense)
    }

    /// The next event, after `events.subscribe`; waits for it, however long it takes. Call nothing else on this
    /// connection then: events come between replies.
    ///
    /// # Errors
    /// When the connection breaks, as it does when the instance ends.
    pub fn event(&mut self) -> Result<Value, ClientError> {
        let mut line = Vec::new();
        self.read_line(&mut line)?;
        let event: Result<Value, _> = serde_json::from_slice(&line);
        let mut event = event.map_err(|error| ClientError::Reply(error.to_string()))?;
        Ok(event["params"].take())
    }

    fn read_line(&mut self, line: &mut Vec<u8>) -> Result<(), ClientError> {
        line.clear();
        if self.reader.read_until(b'\n', line)? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }
}
