//! Why a journal cannot be used.

use std::io;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The journal was written by another version, or was damaged.
    #[error("{0}")]
    Damaged(String),
}

impl From<rustix::io::Errno> for JournalError {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Io(error.into())
    }
}
