//! The client side: finding a running instance and calling its methods.
//!
//! Never starts an instance and never waits for one to appear. A [`Remote`] calls methods from asynchronous code; a [`Client`]
//! does the same from code that blocks.

mod blocking;
mod blocking_stream;
mod connection;
mod discover;
mod remote;
mod stream;

use std::{io, path::PathBuf};

pub use self::{
    blocking::Client,
    blocking_stream::BlockingStream,
    discover::{Endpoint, find, find_by_name, instances_folder, running},
    remote::Remote,
};
pub(crate) use self::{connection::Connection, stream::Stream};

/// The method of a notification that a relay of the Model Context Protocol sends when its client asks for nothing more: the
/// session ends once all that was asked for is answered.
pub const LAST: &str = "notifications/unterm/last";

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
