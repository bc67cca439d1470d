//! Detects that no program reads standard output any more.

use std::io;

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

/// Waits until the reader of standard output has closed its side.
///
/// # Errors
/// Fails if the operating system can't report it.
pub fn until_unread() -> rustix::io::Result<()> {
    let stdout = io::stdout();
    loop {
        // No events need to be requested, because `poll` always reports errors and hang-ups (POSIX).
        match poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None) {
            Ok(0) | Err(Errno::INTR) => {}
            told => return told.map(drop),
        }
    }
}
