//! Starts programs on ptys, and keeps them running while Unterm's windows come and go.
//!
//! Owns how a program is started on a pty ([`Pty`], [`Program`]), which every instance uses. On Linux, also owns the
//! keeper: a small process that is the parent of the programs, and the protocol between the keeper and its clients.
//! Reads the output of a program only while the program has no owner, and does not depend on terminals, panes or
//! layouts.

#[cfg(target_os = "linux")]
mod fields;
#[cfg(target_os = "linux")]
mod frame;
mod program;
mod pty;

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod daemon;
#[cfg(target_os = "linux")]
mod exit;
#[cfg(target_os = "linux")]
mod identity;
#[cfg(target_os = "linux")]
mod journal;
#[cfg(target_os = "linux")]
mod log;
#[cfg(target_os = "linux")]
mod message;
#[cfg(target_os = "linux")]
mod pane;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
mod successor;

pub use program::Program;
pub use pty::Pty;

#[cfg(target_os = "linux")]
pub use client::{Client, Error, Held, Launcher};
#[cfg(target_os = "linux")]
pub use daemon::run;
#[cfg(target_os = "linux")]
pub use exit::{Ending, Exit, ExitPipe};
#[cfg(target_os = "linux")]
pub use fields::Broken;
#[cfg(target_os = "linux")]
pub use frame::{HEADER, MAX_BODY};
#[cfg(target_os = "linux")]
pub use identity::{Identity, MAX_TEXT, Origin, PaneState, Placement};
#[cfg(target_os = "linux")]
pub use journal::{
    Due, Journal, JournalError, MAX_CHECKPOINT, MAX_LOG, MAX_MARKS, Mark, PIECE, Recovered,
};
#[cfg(target_os = "linux")]
pub use message::{Hello, NEWEST, OLDEST, PaneKey, Refusal, Start};
#[cfg(target_os = "linux")]
pub use server::{MAX_CONNECTIONS, MAX_PANES};
#[cfg(target_os = "linux")]
pub use successor::{MAX_INPUT, MAX_SUCCESSORS, Successor};
