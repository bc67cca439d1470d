//! Detects that the reader of standard output has closed it.

use std::io;

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

/// Waits until the reader of standard output has closed it.
///
/// # Errors
/// The system can't tell.
pub fn until_unread() -> rustix::io::Result<()> {
    let stdout = io::stdout();
    loop {
        // No events are requested: poll always reports errors and hang-ups (POSIX).
        match poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None) {
            Ok(0) | Err(Errno::INTR) => {}
            told => return told.map(drop),
        }
    }
}
