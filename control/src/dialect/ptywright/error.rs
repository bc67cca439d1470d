//! The protocol's errors: a code, a message, and data for some of them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    client::ClientError,
    error::{Error as MethodError, ErrorKind},
};

/// The error codes.
mod code {
    pub const PARSE: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const METHOD_NOT_FOUND: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    pub const INTERNAL: i32 = -32603;
    pub const TIMEOUT: i32 = -32001;
    pub const CLOSED: i32 = -32002;
    pub const DENIED: i32 = -32004;
    pub const CANCELLED: i32 = -32005;
}

/// The error of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Error {
    /// The code.
    pub code: i32,
    /// The message, which is redacted before it is sent.
    pub message: String,
    /// Additional data about the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// The result of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// A message is not valid JSON.
    pub fn parse(message: impl Into<String>) -> Self {
        Self::new(code::PARSE, message)
    }

    /// A message is not a valid request.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// There is no such method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("unknown method: {method}"))
    }

    /// A parameter is missing or wrong.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// A session's id is unknown, or its session was closed.
    pub fn no_session(id: &str) -> Self {
        Self::invalid_params(format!(
            "unknown session {id:?}: it was never created, or it was closed"
        ))
    }

    /// The server itself failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL, message)
    }

    /// A matcher did not match in time.
    pub fn timeout(milliseconds: u64) -> Self {
        Self::new(code::TIMEOUT, format!("the matcher did not match within {milliseconds} ms"))
    }

    /// Whether a matcher did not match in time.
    pub fn is_timeout(&self) -> bool {
        self.code == code::TIMEOUT
    }

    /// A session's program has ended, or the session was closed during the request.
    pub fn closed(message: impl Into<String>) -> Self {
        Self::new(code::CLOSED, message)
    }

    /// The client may not do this. `data`: the reason.
    pub fn denied(message: impl Into<String>, data: Value) -> Self {
        Self { data: Some(data), ..Self::new(code::DENIED, message) }
    }

    /// A plugin's manifest lacks a permission that a method needs.
    pub fn permission(message: impl Into<String>, method: &str, permission: &str) -> Self {
        Self::denied(message, json!({"method": method, "required_permission": permission}))
    }

    /// The request was canceled.
    pub fn cancelled() -> Self {
        Self::new(code::CANCELLED, "the request was canceled")
    }
}

/// Converts the error of a backend's method that was refused or failed.
impl From<MethodError> for Error {
    fn from(error: MethodError) -> Self {
        let message = match &error {
            MethodError::Remote(ClientError::Call { message, .. }) => message.clone(),
            error => error.to_string(),
        };
        match error.kind() {
            ErrorKind::NoSession => Self::pane_closed(),
            ErrorKind::Invalid => Self::invalid_params(message),
            ErrorKind::Refused => Self::new(code::DENIED, message),
            ErrorKind::Failed => Self::internal(message),
        }
    }
}

impl Error {
    /// Someone other than this server has closed the session's pane.
    pub fn pane_closed() -> Self {
        Self::closed("the session's pane was closed")
    }
}
