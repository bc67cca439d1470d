//! File transfers over the terminal (OSC 5113; kitty's "File transfer over the TTY").
//!
//! `program` is the program's side. The other modules own the sessions of a pane: whether the user was asked about a
//! session, whether it was accepted, and what it may do. A session reads and writes only beneath the folder that came
//! with the user's answer, and follows no links there. Files that arrive never replace others. The rsync algorithm is
//! refused: programs then send whole files.
//!
//! Never asks the user itself, and does no I/O under a lock: the pane's reader writes files that arrive, so that a program
//! can't send faster than they are written, and each session that fetches files has a thread of its own.

mod arriving;
mod folder;
mod program;
mod recipient;
mod serving;
mod sessions;

pub(crate) use arriving::Arriving;
pub use program::{Channel, TransferError, Transferred, fetch, put};
pub(crate) use recipient::{Recipient, status_of};
pub(crate) use serving::{Serving, Wanted, serve};
pub(crate) use sessions::{Answered, Step, Transfers};
pub use sessions::{TransferDirection, TransferRequest};

#[cfg(test)]
mod tests;
