//! Starts a program as the leader of a session, on a terminal or without one.
//!
//! The child starts in the same state as after a login: no signal is ignored or blocked, and only the three standard
//! streams are open.

use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    path::PathBuf,
    process::{Command, Stdio},
};
#[cfg(target_os = "linux")]
use std::{
    os::{fd::AsFd as _, unix::net::UnixStream},
    path::Path,
};

#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};
use rustix::{
    fs::Mode,
    process::{Pid, Resource, Rlimit, ioctl_tiocsctty, setrlimit, setsid},
};

#[cfg(target_os = "linux")]
use crate::socket;

/// The signals to reset to their default action. Some parents ignore them for their children: `nohup`, and a shell that
/// starts a job in the background.
const SIGNALS: [libc::c_int; 6] =
    [libc::SIGCHLD, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGALRM];

/// A program to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The path of the executable.
    pub file: PathBuf,
    /// The first argument, by convention the program's name.
    pub arg0: OsString,
    /// The arguments after the first.
    pub args: Vec<OsString>,
    /// The whole environment. If a name occurs twice, the last value counts.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The permissions that new files do not get. `None`: the parent's umask.
    pub umask: Option<u32>,
    /// The limit of open files: the soft and the hard limit, each `None` if there is no limit. `None`: the parent's
    /// limits.
    pub open_files: Option<(Option<u64>, Option<u64>)>,
}

impl Program {
    /// Starts the program with `terminal` as its controlling terminal. Returns its process id. The caller must wait for
    /// the process.
    ///
    /// # Errors
    /// If the system refuses: there is no such file or directory, no process is left, or the file is no program.
    pub fn start(&self, terminal: OwnedFd) -> io::Result<Pid> {
        let mut command = self.command();
        command.current_dir(&self.cwd).stdin(Stdio::from(terminal.try_clone()?));
        command.stdout(Stdio::from(terminal.try_clone()?));
        command.stderr(Stdio::from(terminal));
        let limits = self.limits();
        let prepare = move || {
            reset_signals();
            setsid()?;
            ioctl_tiocsctty(rustix::stdio::stdin())?;
            limits.set();
            keep_streams_alone();
            Ok(())
        };
        // SAFETY: between fork and exec, `prepare` makes only system calls. It takes no lock and allocates no memory.
        unsafe { command.pre_exec(prepare) };
        let child = command.spawn()?;
        i32::try_from(child.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::other("the system returned no process id"))
    }

    /// Starts the program without a terminal, as a child of the system's first process. It reads `input` from its standard
    /// input, and inherits the other standard streams. If the directory is gone, it starts in `/`. Returns its process id
    /// and a pidfd. This process must have one thread.
    ///
    /// # Errors
    /// As for [`Program::start`].
    #[cfg(target_os = "linux")]
    pub(crate) fn start_apart(&self, input: &str) -> io::Result<(Pid, OwnedFd)> {
        self.start_apart_in(&self.cwd, input).or_else(|_| self.start_apart_in("/".as_ref(), input))
    }

    #[cfg(target_os = "linux")]
    fn start_apart_in(&self, cwd: &Path, input: &str) -> io::Result<(Pid, OwnedFd)> {
        // The socket's buffer holds the whole input, because the program reads it later. A pipe of a user with many
        // pipes may be too small.
        let (from, mut to) = UnixStream::pair()?;
        to.set_nonblocking(true)?;
        io::Write::write_all(&mut to, input.as_bytes())?;
        drop(to);
        let (own, link) = UnixStream::pair()?;
        let mut command = self.command();
        command.current_dir(cwd).stdin(Stdio::from(OwnedFd::from(from)));
        let limits = self.limits();
        let prepare = move || {
            reset_signals();
            setsid()?;
            // SAFETY: the child has only this thread, and its copy makes only system calls until it runs the program.
            let program = match unsafe { libc::fork() } {
                -1 => return Err(io::Error::last_os_error()),
                0 => {
                    limits.set();
                    keep_streams_alone();
                    return Ok(());
                }
                pid => pid,
            };
            if report(program, &link).is_err() {
                // A program that the keeper cannot watch must not run. It was not waited for, so the id is its own.
                // SAFETY: kill(2) has no memory arguments.
                unsafe { libc::kill(program, libc::SIGKILL) };
            }
            // SAFETY: _exit(2) ends this process at once.
            unsafe { libc::_exit(0) }
        };
        // SAFETY: between fork and exec, `prepare` makes only system calls. It takes no lock and allocates no memory.
        unsafe { command.pre_exec(prepare) };
        // The intermediate process has ended when this returns, so its report has arrived.
        command.spawn()?.wait()?;
        let (mut bytes, mut descriptors) = ([0; 4], Vec::new());
        socket::receive(&own, &mut bytes, Some(&mut descriptors))?;
        let pid = Pid::from_raw(i32::from_ne_bytes(bytes));
        pid.zip(descriptors.pop()).ok_or_else(|| io::Error::other("its process cannot be watched"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command.arg0(&self.arg0).args(&self.args).env_clear();
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn limits(&self) -> Limits {
        Limits { umask: self.umask.map(Mode::from_raw_mode), open_files: self.open_files }
    }
}

/// Sends the process id of a child of this process, and a pidfd. Makes only system calls.
#[cfg(target_os = "linux")]
fn report(child: libc::pid_t, link: &UnixStream) -> io::Result<()> {
    let pid = Pid::from_raw(child).ok_or(io::ErrorKind::InvalidInput)?;
    // The child was not waited for, so the id is its own even if it has ended.
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    socket::send(link, &child.to_ne_bytes(), &[process.as_fd()])?;
    Ok(())
}

/// The settings that a child applies between fork and exec.
#[derive(Clone, Copy)]
struct Limits {
    umask: Option<Mode>,
    open_files: Option<(Option<u64>, Option<u64>)>,
}

impl Limits {
    fn set(self) {
        if let Some(umask) = self.umask {
            rustix::process::umask(umask);
        }
        if let Some((current, maximum)) = self.open_files {
            // A limit that the parent may not set stays unchanged.
            let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
        }
    }
}

/// Gives signals their default action, in a child between fork and exec.
fn reset_signals() {
    for signal in SIGNALS {
        // SAFETY: the child has only this thread, and the default action calls no code of ours.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// The number of descriptors that are checked on a system that cannot mark them in one call.
const MOST_DESCRIPTORS: libc::c_int = 65_536;

/// Makes every descriptor of a child except its three standard streams close at exec. Called between fork and exec.
fn keep_streams_alone() {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the call changes flags of descriptors that nothing between fork and exec closes.
        let marked = unsafe {
            libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
        };
        if marked == 0 {
            return;
        }
        // The kernel is older than 5.11.
    }
    // SAFETY: sysconf(3) has no preconditions.
    let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    let limit = libc::c_int::try_from(limit).unwrap_or(MOST_DESCRIPTORS).min(MOST_DESCRIPTORS);
    for descriptor in 3..limit {
        // SAFETY: the call changes a flag of a descriptor, or fails if it is not open.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
