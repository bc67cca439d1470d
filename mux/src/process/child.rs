//! The program of a pty as a process: detects its end, and determines its status.
//!
//! The parent of the program is this process, or a keeper. Only a parent can collect the status.

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, waitpid},
};
#[cfg(target_os = "linux")]
use unterm_keeper::{Ending, Exit, ExitPipe};

use super::system;
use crate::ExitStatus;

/// A process, or its status after the status was collected. Before that, no other process gets the process id, unless a
/// keeper was killed.
pub(super) struct Child {
    pid: Pid,
    status: Option<ExitStatus>,
    parent: Parent,
}

enum Parent {
    /// This process.
    Own(Arc<system::ExitWatch>),
    /// A keeper, which reports the end through a pipe. `None` after the end: the keeper then collects the process.
    #[cfg(target_os = "linux")]
    Keeper {
        exit: Option<Arc<ExitPipe>>,
        process: Arc<OwnedFd>,
        /// Whether the pane belongs to this process also after the end of its program, so that it can be left.
        keeps_end: bool,
    },
    /// A keeper that is gone. The descriptor becomes readable when the process has ended.
    #[cfg(target_os = "linux")]
    Gone(Arc<OwnedFd>),
}

/// A descriptor that becomes readable when [`Child::status`] may have a new result.
pub(super) enum Watch {
    Own(Arc<system::ExitWatch>),
    #[cfg(target_os = "linux")]
    Exit(Arc<ExitPipe>),
    #[cfg(target_os = "linux")]
    Process(Arc<OwnedFd>),
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Own(watch) => watch.as_fd(),
            #[cfg(target_os = "linux")]
            Self::Exit(pipe) => pipe.as_fd(),
            #[cfg(target_os = "linux")]
            Self::Process(process) => process.as_fd(),
        }
    }
}

impl Child {
    /// A child of this process that no thread has waited for yet.
    ///
    /// # Errors
    /// If its end cannot be watched. The child is then killed.
    pub(super) fn own(pid: Pid) -> io::Result<Self> {
        let watch = system::ExitWatch::new(pid).inspect_err(|_| {
            // The child was not waited for, so the process id is still its own.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        })?;
        Ok(Self { pid, status: None, parent: Parent::Own(Arc::new(watch)) })
    }

    /// A child of a keeper.
    #[cfg(target_os = "linux")]
    pub(super) fn kept(pid: Pid, exit: ExitPipe, process: OwnedFd) -> Self {
        let (exit, process) = (Some(Arc::new(exit)), Arc::new(process));
        Self { pid, status: None, parent: Parent::Keeper { exit, process, keeps_end: false } }
    }

    /// Keeps the pane after the end of its program, if the end is not known yet and the parent is a keeper.
    #[cfg(target_os = "linux")]
    pub(super) fn keep_end(&mut self) {
        if let Parent::Keeper { exit: Some(_), keeps_end, .. } = &mut self.parent {
            *keeps_end = true;
        }
    }

    /// Whether the program has ended, and its pane can be left to another process.
    pub(super) fn has_kept_end(&self) -> bool {
        match self.parent {
            #[cfg(target_os = "linux")]
            Parent::Keeper { keeps_end, .. } => keeps_end && self.status.is_some(),
            _ => false,
        }
    }

    /// Whether a keeper is known to be the parent.
    pub(super) fn is_kept(&self) -> bool {
        match self.parent {
            Parent::Own(_) => false,
            #[cfg(target_os = "linux")]
            Parent::Keeper { .. } => true,
            #[cfg(target_os = "linux")]
            Parent::Gone(_) => false,
        }
    }

    /// How the process ended. `None` if that is not known yet.
    pub(super) fn known_status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Checks how the process ended. `None` while it runs. Never waits.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        if self.status.is_some() {
            return self.status;
        }
        self.status = match &mut self.parent {
            Parent::Own(_) => wait(self.pid),
            #[cfg(target_os = "linux")]
            Parent::Keeper { exit, process, keeps_end } => {
                let look =
                    |exit: &Arc<ExitPipe>| if *keeps_end { exit.peek() } else { exit.read() };
                match exit.as_ref().map_or(Exit::Lost, look) {
                    Exit::Running => None,
                    Exit::Ended(Ending { how, .. }) => {
                        // Otherwise, the keeper may now collect the process, and its id may be reused.
                        if !*keeps_end {
                            *exit = None;
                        }
                        Some(how.map_or_else(ExitStatus::Signal, ExitStatus::Code))
                    }
                    Exit::Lost => {
                        let pid = self.pid.as_raw_nonzero();
                        tracing::warn!(pid, "the keeper is gone: the program continues without it");
                        let process = Arc::clone(process);
                        let status = lost(&process);
                        self.parent = Parent::Gone(process);
                        status
                    }
                }
            }
            #[cfg(target_os = "linux")]
            Parent::Gone(process) => lost(process),
        };
        self.status
    }

    /// The descriptor to wait for. `None` after the end.
    pub(super) fn watch(&self) -> Option<Watch> {
        if self.status.is_some() {
            return None;
        }
        match &self.parent {
            Parent::Own(watch) => Some(Watch::Own(Arc::clone(watch))),
            #[cfg(target_os = "linux")]
            Parent::Keeper { exit, .. } => exit.as_ref().map(|exit| Watch::Exit(Arc::clone(exit))),
            #[cfg(target_os = "linux")]
            Parent::Gone(process) => Some(Watch::Process(Arc::clone(process))),
        }
    }
}

/// Collects the status of a child of this process, if it has ended.
fn wait(pid: Pid) -> Option<ExitStatus> {
    match waitpid(Some(pid), WaitOptions::NOHANG) {
        Ok(Some((_, status))) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(ExitStatus::Code(code)),
            (_, Some(signal)) => Some(ExitStatus::Signal(signal)),
            _ => None,
        },
        Ok(None) | Err(Errno::INTR) => None,
        // Other code in this process waited for all children.
        Err(error) => {
            tracing::warn!(pid = pid.as_raw_nonzero(), %error, "cannot wait for a program");
            Some(ExitStatus::Lost)
        }
    }
}

/// The status of a process whose parent is gone: lost, as soon as it has ended.
#[cfg(target_os = "linux")]
fn lost(process: &OwnedFd) -> Option<ExitStatus> {
    let mut fds = [PollFd::new(process, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let has_ended = poll(&mut fds, Some(&at_once)).is_ok_and(|count| count > 0);
    has_ended.then_some(ExitStatus::Lost)
}
