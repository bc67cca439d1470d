//! Starts a program as the leader of a session on a terminal.
//!
//! The child starts in the same state as after a login: no signal is ignored or blocked, the limit of open files is the
//! one with which this process was started, and only the three standard streams are open.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Command, Stdio},
};

use rustix::process::{Pid, ioctl_tiocsctty, setsid};

use super::{limits, system};

/// The signals to reset to their default action. Some parents ignore them for their children: `nohup`, and a shell that
/// starts a job in the background.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGCHLD, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGALRM];

/// Starts a program with `terminal` as its controlling terminal. Returns its process id. The caller must wait for the
/// process.
pub(super) fn on_terminal(command: &mut Command, terminal: OwnedFd) -> io::Result<Pid> {
    command.stdin(Stdio::from(terminal.try_clone()?));
    command.stdout(Stdio::from(terminal.try_clone()?));
    command.stderr(Stdio::from(terminal));
    let limit = limits::started_with();
    let prepare = move || {
        for signal in SIGNALS {
            // SAFETY: the child has only this thread, and the default action calls no code of ours.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        setsid()?;
        ioctl_tiocsctty(rustix::stdio::stdin())?;
        limits::set(limit);
        system::keep_streams_alone();
        Ok(())
    };
    // SAFETY: between fork and exec, `prepare` makes only system calls. It takes no lock, and allocates memory only if
    // the system is too old to mark descriptors in one call.
    unsafe { command.pre_exec(prepare) };
    let child = command.spawn()?;
    Pid::from_raw(child.id() as i32).ok_or_else(|| io::ErrorKind::NotFound.into())
}
