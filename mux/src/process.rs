//! A program behind a pane: the trait, what to run, and how programs end.
//!
//! Owns the boundary between panes and operating systems. A pane depends only on [`Process`]. Only implementations
//! depend on a local child on a pty, so that others (ptys held by a keeper process, remote programs) can follow.

mod carrier;
mod environment;
mod integration;
mod job;
#[cfg(unix)]
mod limits;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod other_unix;
#[cfg(unix)]
mod pty;
mod shells;
#[cfg(unix)]
mod spawner;
#[cfg(unix)]
mod start;
#[cfg(target_os = "linux")]
mod transit;
mod variables;
#[cfg(target_os = "linux")]
mod waiting;

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use unterm_term::Size;

pub use carrier::is_carrier;
pub use environment::program_error;
pub use integration::{SCRIPTS, ShellIntegration};
pub use job::Job;
#[cfg(unix)]
pub use limits::raise_descriptor_limit;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(all(unix, not(target_os = "linux")))]
use other_unix as system;
#[cfg(unix)]
pub use pty::PtyProcess;
#[cfg(unix)]
pub use spawner::{PtySpawner, Spawner};
pub(crate) use variables::{Variables, is_name};

/// How long a program may take to end after SIGHUP before it gets SIGKILL.
pub const KILL_GRACE: Duration = Duration::from_secs(2);

/// Returns freed memory to the system, if the system requires a request. Takes about a millisecond.
pub(crate) fn release_memory() {
    #[cfg(unix)]
    system::release_memory();
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The system refused, or the program does not exist.
    #[error("cannot start {program}: {error}")]
    Program {
        /// The program.
        program: String,
        /// The reason.
        error: String,
    },
    /// The working directory is not a directory.
    #[error("working directory {0:?} is not a directory")]
    BadCwd(PathBuf),
}

/// What to run in a new pane.
#[derive(Clone, Debug, Default)]
pub struct Spawn {
    /// The program. A name with a slash is relative to `cwd`; a name without a slash is looked up in `PATH`. `None`:
    /// the user's shell (`$SHELL`, else the password database, else `/bin/sh`), interactive, and a login shell only on
    /// macOS, as is each system's custom.
    pub program: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory; `None`: the user's home. If it is not a directory, starting fails.
    pub cwd: Option<PathBuf>,
    /// Variables added to the inherited environment, from which those of the surrounding terminal are removed.
    pub env: Vec<(String, String)>,
    /// Makes an interactive shell mark its prompts and commands; `None`: no shell integration.
    pub integration: Option<ShellIntegration>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this code.
    Code(i32),
    /// A signal with this number ended it.
    Signal(i32),
}

/// Signals a caller can send to the foreground process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
    /// SIGTSTP.
    Stop,
    /// SIGCONT.
    Continue,
    /// SIGUSR1.
    User1,
    /// SIGUSR2.
    User2,
    /// SIGWINCH. It reports a change of the window and harms no program.
    WindowChanged,
}

/// The foreground process group of a pty, described by its leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreground {
    /// Process id of the leader, or of another member if the leader has ended.
    pub pid: i32,
    /// Its executable's path if the system reports it, else its name.
    pub name: String,
    /// Whether the leader is the program that the pane was started with.
    pub is_root: bool,
}

/// A process that started another one, and the arguments that it was started with, with its name first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// The process.
    pub pid: i32,
    /// Its executable's path if the system reports it, else its name.
    pub name: String,
    /// Empty if the system does not report them.
    pub arguments: Vec<String>,
}

/// The program that a process executes. It differs after each `execve`, also of the same program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The process.
    pub pid: i32,
    /// A number that changes with the program.
    pub stamp: u64,
}

/// The result of a [`Process::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// This many bytes, at least one.
    Bytes(usize),
    /// The deadline passed and nothing was read.
    TimedOut,
    /// The program has ended and all its output was read, or [`Process::stop_reading`] was called.
    Ended,
    /// [`Process::detach`] was called.
    Detached,
}

/// A program that a pane shows. Any thread may call the methods; only those documented to block do so.
pub trait Process: Send + Sync {
    /// Reads one piece of output. Blocks until there is some, or until `deadline`; does not block if the deadline has
    /// passed.
    ///
    /// Returns `Ended` once the program has ended and its output was read, even if another process keeps the terminal
    /// open. After [`Process::kill`], this call sends the due SIGKILL, so the caller must keep reading to the end.
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome>;
    /// Makes blocked and later [`Process::read`]s return [`ReadOutcome::Ended`], and [`Process::write`]s fail.
    fn stop_reading(&self);
    /// Writes some of `bytes`; blocks while the program does not read. Fails with [`io::ErrorKind::BrokenPipe`] after
    /// [`Process::stop_reading`] or [`Process::kill`], even if it is already blocked.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Writes the part of `bytes` that the program's terminal accepts at once, and returns its length; never waits. An
    /// implementation that cannot do this writes nothing. [`Process::write`] handles the rest and any error.
    fn try_write(&self, _bytes: &[u8]) -> usize {
        0
    }
    /// Makes blocked and later [`Process::read`]s return [`ReadOutcome::Detached`] and [`Process::write`]s fail with
    /// [`io::ErrorKind::Interrupted`]: nothing is read or written until [`Process::attach`]. The program keeps running
    /// until its output fills the kernel's buffer. Only for [`crate::Mux::release`].
    fn detach(&self);
    /// Reverts [`Process::detach`]; has no effect on an attached process.
    fn attach(&self);
    /// Whether the program runs here as the same user, so that it may name local files such as images.
    fn is_local(&self) -> bool {
        false
    }
    /// Reports the window's new size to the program.
    fn resize(&self, size: Size) -> io::Result<()>;
    /// The columns and rows that the terminal device reports to programs, which programs can change; `None` if unknown.
    fn reported_size(&self) -> Option<(u16, u16)> {
        None
    }
    /// Signals the foreground process group.
    fn signal(&self, signal: Signal) -> io::Result<()>;
    /// Ends the program: sends SIGHUP to its process group and the foreground one, and SIGKILL to both if it still runs
    /// after [`KILL_GRACE`]. The shell handles background processes, so that `nohup` and `disown` work.
    fn kill(&self);
    /// The process group in the foreground.
    fn foreground(&self) -> Option<Foreground>;
    /// The name of a program that forwards the terminal ([`is_carrier`]), in the foreground process group or started by
    /// it. `None` if there is no such program or the system does not report it.
    fn carrier(&self) -> Option<String> {
        self.foreground().map(|process| process.name).filter(|name| is_carrier(name))
    }
    /// The foreground process group's number, without inspecting its processes; `None` if unknown.
    fn group_in_front(&self) -> Option<i32> {
        None
    }
    /// The program that the leader of the foreground process group executes; `None` if the system does not report it.
    fn execution(&self) -> Option<Execution> {
        None
    }
    /// Whether a process group still has a process.
    fn has_group(&self, _group: i32) -> bool {
        false
    }
    /// The process groups that started a process group, the nearest first; `None` if the system does not report them.
    fn groups_above(&self, _group: i32) -> Option<Vec<i32>> {
        None
    }
    /// The leaders of the process groups that started the foreground program, the nearest first, up to the pane's own
    /// program. Empty if the system does not report them.
    fn ancestors(&self) -> Vec<Ancestor> {
        Vec::new()
    }
    /// The terminal's background jobs, the oldest first; `None` if unknown.
    fn jobs(&self) -> Option<Vec<Job>> {
        None
    }
    /// The arguments of the foreground process, with its name first; `None` if unknown.
    fn foreground_arguments(&self) -> Option<Vec<String>> {
        None
    }
    /// How long ago the foreground process was started; `None` if unknown.
    fn front_age(&self) -> Option<Duration> {
        None
    }
    /// Working directory of the foreground process, as the system reports it.
    fn cwd(&self) -> Option<PathBuf>;
    /// Working directory of the foreground process, if it can be read. `None` if that process forwards the terminal
    /// ([`is_carrier`]), because it shows programs that run elsewhere.
    fn program_cwd(&self) -> Option<PathBuf> {
        None
    }
    /// Working directory of the shell in the foreground, else of the shell that started the foreground program. `None`
    /// if the foreground program forwards the terminal ([`is_carrier`]), if the shell's process never changes its
    /// directory (PowerShell, Nushell), or if the system does not report it.
    fn shell_cwd(&self) -> Option<PathBuf> {
        None
    }
    /// Whether the terminal echoes input (termios ECHO); `None` if unknown.
    fn echo(&self) -> Option<bool>;
    /// Whether the program reads a line without echo, such as a password (termios ICANON without ECHO).
    fn reads_secret(&self) -> bool;
    /// Whether a program of the foreground process group waits for input: one of its threads is reading the terminal or
    /// waiting until it is readable. If the system hides a program's threads (another user's program), it counts as
    /// waiting if it sleeps. `None` if the system does not report it.
    fn awaits_input(&self) -> Option<bool> {
        None
    }
    /// Whether the program has not read all input that was written to it, or its output was not all read and processed.
    /// A line that Enter has not ended, in a terminal that collects lines, counts as read. `false` if unknown.
    fn is_in_transit(&self) -> bool {
        false
    }
    /// As [`Process::awaits_input`], but only if the system shows it, and only if the program takes the input itself. A
    /// program that forwards its input always reads, so the program that receives the input must read.
    fn reads_input(&self) -> bool {
        false
    }
    /// A variable of the environment that the foreground process was started with; `None` if it is not set or the
    /// system does not report it.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    /// Name of the terminal device, such as `/dev/pts/3`.
    fn tty(&self) -> Option<PathBuf>;
    /// Path, or name, of the program.
    fn program(&self) -> &str;
    /// Process id of the program itself.
    fn pid(&self) -> Option<i32>;
    /// How the program ended; `None` while it runs. Never blocks.
    fn exit_status(&self) -> Option<ExitStatus>;
}
