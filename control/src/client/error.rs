//! The reasons why another instance could not be called.

use std::{io, path::PathBuf};

/// The reason why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No instance is running, or no found instance answers.
    #[error("no running Unterm found in {}; start one with `unterm` or `unterm --headless`", home.display())]
    NotRunning {
        /// The directory that was searched.
        home: PathBuf,
    },
    /// No instance with this name is running.
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
    /// The response is not a reply.
    #[error("invalid reply from Unterm: {0}")]
    Reply(String),
    /// The server refused a call.
    #[error("MCP {method} failed [{code}]: {message}")]
    Call {
        /// The method.
        method: String,
        /// The wire's code.
        code: i64,
        /// The reason.
        message: String,
    },
}
