//! A program behind a pane: the trait, what to run, and how programs end.
//!
//! Owns the border between panes and operating systems. A pane knows only [`Process`]; that its program is a local child
//! on a pty is known to the implementations alone, since others (ptys held by a keeper process, remote ones) may follow.

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

/// Gives memory that was freed back to the system, where that has to be asked for. Takes about a millisecond.
pub(crate) fn release_memory() {
    #[cfg(unix)]
    system::release_memory();
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The system refused, or there is no such program.
    #[error("cannot start {program}: {error}")]
    Program {
        /// The program.
        program: String,
        /// Why.
        error: String,
    },
    /// The working directory is none.
    #[error("working directory {0:?} is not a directory")]
    BadCwd(PathBuf),
}

/// What to run in a new pane.
#[derive(Clone, Debug, Default)]
pub struct Spawn {
    /// The program; `None`: the user's shell (`$SHELL`, else the password database, else `/bin/sh`), interactive; a login
    /// shell on macOS only, as is each system's custom. A name with a slash is relative to `cwd`, one without is looked
    /// up in `PATH`.
    pub program: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory; `None`: the user's home. One that is not a directory is an error.
    pub cwd: Option<PathBuf>,
    /// Variables over the inherited environment, from which the surrounding terminal's own are taken out.
    pub env: Vec<(String, String)>,
    /// What makes an interactive shell mark its prompts and commands; `None`: nothing does.
    pub integration: Option<ShellIntegration>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// By itself, with this code.
    Code(i32),
    /// By a signal of this number.
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
    /// SIGWINCH, which says that something about the window changed, and harms no program.
    WindowChanged,
}

/// The process group in the foreground of a pty, by its leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreground {
    /// Process id of the leader (of another member where the leader has ended).
    pub pid: i32,
    /// Its executable's path where the system tells, else its name.
    pub name: String,
    /// The leader is the program the pane was started with.
    pub is_root: bool,
}

/// What a [`Process::read`] came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// This many bytes, at least one.
    Bytes(usize),
    /// The deadline passed and there was nothing to read.
    TimedOut,
    /// The program has ended and its output was read, or [`Process::stop_reading`] was called.
    Ended,
    /// [`Process::detach`] was called.
    Detached,
}

/// A program that a pane shows. Methods may be called from any thread; none blocks except where said.
pub trait Process: Send + Sync {
    /// Reads output as it comes, a piece at a time; blocks until there is some, or until `deadline` (one that has passed:
    /// not at all).
    ///
    /// The program's end ends reading once what it wrote has been read, also when another process keeps the terminal
    /// open. After [`Process::kill`] this call is what carries out the SIGKILL: whoever kills keeps reading to the end.
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome>;
    /// Makes blocked and later [`Process::read`]s say [`ReadOutcome::Ended`], and [`Process::write`]s fail.
    fn stop_reading(&self);
    /// Writes some of `bytes`; blocks while the program does not read. Fails with [`io::ErrorKind::BrokenPipe`] after
    /// [`Process::stop_reading`] or [`Process::kill`], also when it is blocked at that moment.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Writes what of `bytes` the program's terminal takes at once, and says how much that is; never waits. What can't
    /// tell writes nothing, and leaves the bytes and any error to [`Process::write`].
    fn try_write(&self, _bytes: &[u8]) -> usize {
        0
    }
    /// Makes blocked and later [`Process::read`]s return [`ReadOutcome::Detached`] and [`Process::write`]s fail with
    /// [`io::ErrorKind::Interrupted`]: nothing is read from the program or written to it until [`Process::attach`]. The program
    /// runs on, and waits once the system holds no more of its output. For [`crate::Mux::release`] alone.
    fn detach(&self);
    /// Ends what [`Process::detach`] began; does nothing to an attached process.
    fn attach(&self);
    /// Whether the program may name files of this machine, such as images, since it runs here as the same user.
    fn is_local(&self) -> bool {
        false
    }
    /// Tells the program its window's new size.
    fn resize(&self, size: Size) -> io::Result<()>;
    /// Signals the foreground process group.
    fn signal(&self, signal: Signal) -> io::Result<()>;
    /// Ends the program: SIGHUP to its process group and to the one in the foreground, SIGKILL to both if it stays for
    /// longer than [`KILL_GRACE`]. What runs in the background is left to the shell, so that `nohup` and `disown` work.
    fn kill(&self);
    /// The process group in the foreground.
    fn foreground(&self) -> Option<Foreground>;
    /// The name of a program that carries the terminal on ([`is_carrier`]): one of the process group in the foreground,
    /// or one that these started. `None`: there is none, or the system does not tell.
    fn carrier(&self) -> Option<String> {
        self.foreground().map(|process| process.name).filter(|name| is_carrier(name))
    }
    /// The number of the process group in the foreground, without a look at what it runs; `None` where it can't be told.
    fn group_in_front(&self) -> Option<i32> {
        None
    }
    /// Whether there is a process left in a process group.
    fn has_group(&self, _group: i32) -> bool {
        false
    }
    /// The process groups that a process group was started from, the nearest first; `None` where the system does not tell.
    fn groups_above(&self, _group: i32) -> Option<Vec<i32>> {
        None
    }
    /// What its terminal has in the background, the oldest first; `None` where nobody can tell.
    fn jobs(&self) -> Option<Vec<Job>> {
        None
    }
    /// How long the process in the foreground has been there; `None` where nobody can tell.
    fn front_age(&self) -> Option<Duration> {
        None
    }
    /// Working directory of the foreground process, as the system tells it.
    fn cwd(&self) -> Option<PathBuf>;
    /// Working directory of the foreground process, where it may be read. `None` where that process carries the terminal on
    /// ([`is_carrier`]): it shows programs that are elsewhere.
    fn program_cwd(&self) -> Option<PathBuf> {
        None
    }
    /// Working directory of the shell in the foreground, else of the one that started the foreground program. `None` where
    /// the foreground program carries the terminal on ([`is_carrier`]), where that shell's process stays where it began
    /// (PowerShell, Nushell), and where the system does not tell.
    fn shell_cwd(&self) -> Option<PathBuf> {
        None
    }
    /// Whether the terminal echoes input (termios ECHO); `None` where it can't be told.
    fn echo(&self) -> Option<bool>;
    /// Whether the program reads a line that is not echoed, as for a password (termios ICANON without ECHO).
    fn reads_secret(&self) -> bool;
    /// Whether a program of the process group in the foreground waits for input: one of its threads is in a read of the
    /// terminal, or in a wait for it to be readable. Of a program that the system keeps from us (another user's) only that it
    /// sleeps counts. `None`: the system does not tell.
    fn awaits_input(&self) -> Option<bool> {
        None
    }
    /// A variable of the environment that the foreground process was started with; `None`: it has none of that name, or
    /// the system does not tell.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    /// Name of the terminal device, such as `/dev/pts/3`.
    fn tty(&self) -> Option<PathBuf>;
    /// Path, or name, of the program that was started.
    fn program(&self) -> &str;
    /// Process id of the program itself.
    fn pid(&self) -> Option<i32>;
    /// How the program ended, `None` while it runs. Never blocks.
    fn exit_status(&self) -> Option<ExitStatus>;
}
