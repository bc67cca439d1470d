//! The processes of clients.
//!
//! A process id can belong to another process later, so the keeper gives each process a number of its own. As long as a
//! process runs, and is connected, owns a pane or has a successor, all of them refer to one [`Process`].

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    rc::{Rc, Weak},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::Pid,
};

use crate::socket;

/// A process, even after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessId {
    /// A number that no other process of this keeper ever has.
    number: u64,
    /// The process id. After the end of the process, it may belong to another process.
    pub(crate) pid: Pid,
}

/// A process that the keeper watches.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: ProcessId,
    /// A pidfd, which becomes readable when the process ends.
    fd: OwnedFd,
}

impl Process {
    pub(crate) fn has_ended(&self) -> bool {
        has_ended(self.fd.as_fd())
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn has_ended(pidfd: BorrowedFd<'_>) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::from_borrowed_fd(pidfd, PollFlags::IN)];
    poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready == 1)
}

/// All processes that something refers to.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    known: Vec<Weak<Process>>,
    /// The last number that was given to a process.
    last: u64,
}

impl Processes {
    /// The process that has connected a socket.
    ///
    /// # Errors
    /// If it has ended, or the system does not report it.
    pub(crate) fn of_peer(&mut self, socket: impl AsFd) -> io::Result<Rc<Process>> {
        let (pid, fd) = socket::peer_process(socket)?;
        Ok(self.of_pidfd(pid, fd))
    }

    /// The process with this id, to which the pidfd refers.
    pub(crate) fn of_pidfd(&mut self, pid: Pid, fd: OwnedFd) -> Rc<Process> {
        self.known.retain(|process| process.strong_count() > 0);
        let same_id = self.known.iter().filter_map(Weak::upgrade).filter(|it| it.id.pid == pid);
        // Two processes that run at the same time have different ids.
        if let Some(known) = { same_id }.find(|it| !it.has_ended() && !has_ended(fd.as_fd())) {
            return known;
        }
        self.last += 1;
        let process = Rc::new(Process { id: ProcessId { number: self.last, pid }, fd });
        self.known.push(Rc::downgrade(&process));
        process
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use rustix::process::{PidfdFlags, pidfd_open};

    use super::*;

    fn child() -> (Child, Pid) {
        let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let child = child.unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        (child, pid)
    }

    fn open(pid: Pid) -> OwnedFd {
        pidfd_open(pid, PidfdFlags::empty()).unwrap()
    }

    #[test]
    fn connections_of_one_process_have_one_number() {
        let mut processes = Processes::default();
        let (one, two) = std::os::unix::net::UnixStream::pair().unwrap();
        let own = processes.of_peer(&one).unwrap();
        assert_eq!(own.id.pid, rustix::process::getpid());
        assert!(Rc::ptr_eq(&own, &processes.of_peer(&two).unwrap()));
        assert!(!own.has_ended());
        let (mut child, pid) = child();
        let other = processes.of_pidfd(pid, open(pid));
        assert_ne!(own.id, other.id);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(other.has_ended() && !own.has_ended());
    }

    #[test]
    fn a_reused_process_id_is_another_process() {
        let mut processes = Processes::default();
        let (mut ended, pid) = child();
        let before = processes.of_pidfd(pid, open(pid));
        ended.kill().unwrap();
        ended.wait().unwrap();
        // Simulate that the running process has the id of the ended process.
        let (mut running, running_pid) = child();
        let after = processes.of_pidfd(pid, open(running_pid));
        assert_eq!(before.id.pid, after.id.pid);
        assert_ne!(before.id, after.id);
        // A pidfd of the ended process is not the running process either.
        let late = processes.of_pidfd(pid, before.fd.try_clone().unwrap());
        assert!(late.id != after.id && late.id != before.id);
        running.kill().unwrap();
        running.wait().unwrap();
    }

    #[test]
    fn processes_that_nothing_refers_to_are_forgotten() {
        let mut processes = Processes::default();
        let (one, _two) = std::os::unix::net::UnixStream::pair().unwrap();
        let first = processes.of_peer(&one).unwrap().id;
        let second = processes.of_peer(&one).unwrap();
        assert_ne!(first, second.id);
        assert_eq!(processes.known.len(), 1);
    }
}
