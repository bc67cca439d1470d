//! The functions of `linux.rs` for other Unix systems. Untested: this file compiles for macOS but has never run there.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    time::Duration,
};

use rustix::{
    event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue},
    process::Pid,
};

use super::job::Job;

/// Makes `place` refer to the open file `by`, and closes its previous file.
pub(super) fn replace(place: &mut OwnedFd, by: impl AsFd) {
    let _ = rustix::io::dup2(by, place);
}

/// A descriptor that becomes readable when a process has ended, and stays readable: a kqueue with one event.
pub(super) struct ExitWatch(OwnedFd);

impl ExitWatch {
    /// Watches a child that no thread has waited for yet.
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

/// A flag that wakes a thread waiting in poll(2): a pipe that contains a byte while the flag is set.
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
        // If the pipe is full, the flag is already set.
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

/// Not implemented here: the name of a process.
pub(super) fn name(_pid: i32) -> Option<String> {
    None
}

/// Not implemented here: what differs between two programs of a process.
#[derive(PartialEq, Eq)]
pub(super) struct Image;

/// Not implemented here: the program that a process executes.
pub(super) fn image(_pid: i32) -> Option<Image> {
    None
}

/// Not implemented here: whether a process still executes this process's program.
pub(super) fn is_own_image(_pid: i32) -> bool {
    false
}

/// Not implemented here: a variable of the environment with which a process was started.
pub(super) fn variable(_pid: i32, _name: &str) -> Option<String> {
    None
}

/// Not implemented here: the process groups of a terminal.
pub(super) fn jobs(_terminal: u64, _except: &[i32]) -> Option<Vec<Job>> {
    None
}

/// Not implemented here: the time since a process was started.
pub(super) fn age(_pid: i32) -> Option<Duration> {
    None
}

/// Not implemented here: the arguments with which a process was started.
pub(super) fn arguments(_: i32) -> Option<Vec<String>> {
    None
}

/// Not implemented here: the working directory of a process. Only OSC 7 reports it.
pub(super) fn cwd(_pid: i32) -> Option<PathBuf> {
    None
}

/// Not implemented here: a process of a group whose leader has ended.
pub(super) fn group_member(_group: i32) -> Option<i32> {
    None
}

/// Not implemented here: the process groups that started a process group.
pub(super) fn groups_above(_group: i32) -> Option<Vec<i32>> {
    None
}

/// Not implemented here: whether a process belongs to a terminal or was started by a program.
pub(super) fn belongs_to(_pid: i32, _terminal: Option<u64>, _program: i32) -> bool {
    false
}

/// Not implemented here: the names of the processes in a process group and of their descendants.
pub(super) fn names_below(_group: i32) -> Vec<String> {
    Vec::new()
}

/// Does nothing here: the allocator decides when to return freed memory to the system.
pub(super) fn release_memory() {}

/// Does nothing here: the allocator decides how much freed memory it keeps.
pub(super) fn limit_kept_memory() {}
