//! The program's side of a file transfer (OSC 5113): puts files on the terminal's machine, or fetches files from there.
//!
//! Runs at the program's end of a pty, usually on a remote host, and works with each terminal that has the protocol.
//! The terminal's data is not trusted: every size is bounded, and fetched files stay beneath one folder, replace no
//! other files and follow no links there.

mod channel;
mod fetch;
mod put;
mod scanner;

use std::{io, path::PathBuf};

pub use channel::Channel;
pub use fetch::fetch;
pub use put::put;

/// Why a transfer ended early.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The terminal refused the session or ended it. Contains the terminal's reason.
    #[error("the terminal refuses the transfer: {0}")]
    Refused(String),
    /// The terminal answered nothing, not even the query for its attributes.
    #[error("the terminal did not answer within 5 seconds")]
    Silent,
    /// A multiplexer, whose name this contains, is between this program and the terminal.
    #[error("{0} does not pass on file transfers (OSC 5113); run this outside of it")]
    Multiplexer(String),
    /// The user pressed Ctrl+C.
    #[error("interrupted")]
    Interrupted,
    /// The terminal sent more than a transfer needs.
    #[error("the terminal sends {0}")]
    Flood(&'static str),
    /// A file of this machine can't be read.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// The terminal can't be read or written.
    #[error("the terminal can't be used: {0}")]
    Terminal(#[from] io::Error),
}

/// The result of a transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    /// The number of regular files that were copied completely.
    pub files: usize,
    /// The number of bytes in these files.
    pub bytes: u64,
    /// Files that were not copied, each with the reason.
    pub failures: Vec<(String, String)>,
}

impl Transferred {
    fn fail(&mut self, path: impl Into<String>, why: impl ToString) {
        self.failures.push((path.into(), why.to_string()));
    }
}

/// Bytes of data in one command: base64 makes 4,096 bytes of them.
const CHUNK: usize = 3072;
/// The maximum number of files of a session, and the maximum depth of folders.
const FILES_CAP: usize = 10_000;
const DEPTH_CAP: usize = 30;

/// A terminal's text without control characters, so that it can be printed.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The reason in a status such as `EPERM:User refused the transfer`.
fn reason(status: &str) -> String {
    let text = match status.split_once(':') {
        Some((code, "")) => code,
        Some((_, why)) => why,
        None => status,
    };
    printable(text.trim())
}

#[cfg(test)]
mod tests;
