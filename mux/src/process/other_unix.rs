//! The counterparts of `linux.rs` on other Unix systems. Untested: it compiles for macOS but has never been run there.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    time::Duration,
};

use rustix::{
    event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue},
    fs::{Mode, OFlags},
    io::{FdFlags, fcntl_setfd},
    process::Pid,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};

use super::job::Job;

/// A new pty: its master, and its terminal. macOS can mark the master close-on-exec only after opening it.
pub(super) fn open_pty() -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&master, FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal =
        rustix::fs::open(ptsname(&master, Vec::new())?.as_c_str(), flags, Mode::empty())?;
    Ok((master, terminal))
}

/// Replaces an open file with another one, and closes it.
pub(super) fn replace(place: &mut OwnedFd, by: impl AsFd) {
    let _ = rustix::io::dup2(by, place);
}

/// Closes every descriptor of a child except its three streams. Called between fork and exec.
pub(super) fn keep_streams_alone() {
    portable_pty::unix::close_random_fds();
}

/// Becomes readable, permanently, when a process has ended: a kqueue with one event.
pub(super) struct ExitWatch(OwnedFd);

impl ExitWatch {
    /// Watches a child that has not been waited for.
    pub(super) fn new(pid: Pid) -> io::Result<Self> {
        let queue = kqueue()?;
        let filter = EventFilter::Proc { pid, flags: ProcessEvents::EXIT };
        let event = Event::new(filter, EventFlags::ADD, std::ptr::null_mut());
        let mut none = Vec::<Event>::new();
        // SAFETY: the event holds no pointer, and no descriptor that could be closed while the queue uses it.
        unsafe { kevent(&queue, &[event], &mut none, None)? };
        Ok(Self(queue))
    }
}

impl AsFd for ExitWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A flag that wakes a thread waiting in poll(2): a pipe that holds a byte while it is set.
pub(super) struct Wake {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Wake {
    pub(super) fn new() -> io::Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
        for end in [&reader, &writer] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        Ok(Self { reader, writer })
    }

    pub(super) fn set(&self) {
        // A full pipe is already set.
        let _ = rustix::io::write(&self.writer, &[1]);
    }

    pub(super) fn clear(&self) {
        while matches!(rustix::io::read(&self.reader, &mut [0; 64]), Ok(1..)) {}
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// The name of a process: not implemented.
pub(super) fn name(_pid: i32) -> Option<String> {
    None
}

/// Whether a process still runs our own executable: not implemented.
pub(super) fn is_own_image(_pid: i32) -> bool {
    false
}

/// A variable of the environment that a process was started with: not implemented.
pub(super) fn variable(_pid: i32, _name: &str) -> Option<String> {
    None
}

/// The process groups of a terminal: not implemented.
pub(super) fn jobs(_terminal: u64, _except: &[i32]) -> Option<Vec<Job>> {
    None
}

/// How long ago a process was started: not implemented.
pub(super) fn age(_pid: i32) -> Option<Duration> {
    None
}

/// The arguments that a process was started with. Not reported here.
pub(super) fn arguments(_: i32) -> Option<Vec<String>> {
    None
}

/// The working directory of a process: not implemented, so only OSC 7 reports it.
pub(super) fn cwd(_pid: i32) -> Option<PathBuf> {
    None
}

/// A member of a process group without leader: not implemented.
pub(super) fn group_member(_group: i32) -> Option<i32> {
    None
}

/// The process groups that started a process group: not implemented.
pub(super) fn groups_above(_group: i32) -> Option<Vec<i32>> {
    None
}

/// The names of the processes in a process group and of their descendants: not implemented.
pub(super) fn names_below(_group: i32) -> Vec<String> {
    Vec::new()
}

/// Returns freed memory to the system: left to the allocator.
pub(super) fn release_memory() {}
