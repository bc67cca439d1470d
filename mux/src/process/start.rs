//! Starting a program as the leader of a terminal's session.
//!
//! The child gets what the person's own login would give it: no signal that is ignored or blocked here, the limit of open
//! files that this process was started with, and of our descriptors its three streams alone.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Command, Stdio},
};

use rustix::process::{Pid, ioctl_tiocsctty, setsid};

use super::{limits, system};

/// Signals that get their default action: whoever started this process may have ignored them, as `nohup` and a shell that
/// starts something in the background do.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGCHLD, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGALRM];

/// Starts a program on a terminal, which becomes its controlling one, and gives its process id. Whoever started it has to wait
/// for it.
pub(super) fn on_terminal(command: &mut Command, terminal: OwnedFd) -> io::Result<Pid> {
    command.stdin(Stdio::from(terminal.try_clone()?));
    command.stdout(Stdio::from(terminal.try_clone()?));
    command.stderr(Stdio::from(terminal));
    let limit = limits::started_with();
    let prepare = move || {
        for signal in SIGNALS {
            // SAFETY: the child has this thread alone, and the default action calls no code of ours.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        setsid()?;
        ioctl_tiocsctty(rustix::stdio::stdin())?;
        limits::set(limit);
        system::keep_streams_alone();
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls alone; it takes no lock, and allocates only where the system is too
    // old to mark descriptors in one call.
    unsafe { command.pre_exec(prepare) };
    let child = command.spawn()?;
    Pid::from_raw(child.id() as i32).ok_or_else(|| io::ErrorKind::NotFound.into())
}
