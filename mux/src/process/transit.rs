//! Checks whether bytes are on their way between a pane and its program (Linux, pty(7)).
//!
//! The kernel delivers bytes from one side of a pty to the other with a small delay. A poll of the other side delivers
//! them at once. So a program that still waits for input after the poll has received everything.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pty::{OpenptFlags, ioctl_tiocgptpeer},
};

/// Whether the program has not read all its input, or its output was not read from `master`. A line without Enter
/// counts as read.
pub(super) fn is_in_transit(master: BorrowedFd<'_>) -> bool {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    // If the program's side cannot be opened, only the output can be checked.
    let has_input = ioctl_tiocgptpeer(master, flags).is_ok_and(|slave| is_readable(slave.as_fd()));
    has_input || is_readable(master)
}

fn is_readable(end: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(end, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents().contains(PollFlags::IN)
}
