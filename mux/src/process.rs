//! The program of a pane: the trait [`Process`], what to run, and how programs end.
//!
//! Owns the boundary between panes and operating systems. A pane depends only on [`Process`]. Only an implementation of
//! it depends on a local child on a pty, whose parent is this process or a keeper. So other implementations can follow,
//! such as remote programs.

mod carrier;
#[cfg(unix)]
mod child;
mod environment;
mod integration;
mod job;
mod journal;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(unix)]
mod launch;
#[cfg(unix)]
mod limits;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod other_unix;
#[cfg(target_os = "linux")]
mod ports;
#[cfg(unix)]
mod pty;
mod shells;
#[cfg(unix)]
mod spawner;
#[cfg(target_os = "linux")]
mod transit;
mod variables;
#[cfg(target_os = "linux")]
mod waiting;

use std::{
    collections::BTreeSet,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use unterm_term::Size;

use crate::PaneId;

pub use carrier::is_carrier;
pub(crate) use carrier::is_tmux;
pub use environment::program_error;
pub use integration::{SCRIPTS, ShellIntegration};
pub use job::Job;
pub(crate) use journal::{CLEAR_HISTORY, RESET, stores_time};
pub use journal::{CheckpointDue, JournalContents, OutputJournal, TermChange};
#[cfg(target_os = "linux")]
pub use kept::{KeptSpawner, LeftProgram, SuccessorProgram};
#[cfg(unix)]
pub use limits::{raise_descriptor_limit, restore_descriptor_limit};
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(all(unix, not(target_os = "linux")))]
use other_unix as system;
#[cfg(unix)]
pub use pty::PtyProcess;
#[cfg(unix)]
pub use spawner::{PtySpawner, Spawner};
pub(crate) use variables::{Variables, is_name};

/// How long a program may continue after SIGHUP before it receives SIGKILL.
pub const KILL_GRACE: Duration = Duration::from_secs(2);

/// Returns freed memory to the system, if the system requires a request for that. Takes about a millisecond.
pub(crate) fn release_memory() {
    #[cfg(unix)]
    system::release_memory();
}

/// A variable of the environment with which a process of this user was started. `None` if the variable is not set or the
/// system does not report it.
pub fn variable_of(pid: i32, name: &str) -> Option<String> {
    #[cfg(unix)]
    return system::variable(pid, name);
    #[cfg(not(unix))]
    None
}

/// The TCP ports on which the programs of terminals listen, in ascending order, for each of the terminals. A terminal is
/// given by the path of its device. Reads files of the system, which may take some milliseconds. Empty on systems other
/// than Linux.
pub fn listening_ports(terminals: &[Option<PathBuf>]) -> Vec<BTreeSet<u16>> {
    #[cfg(target_os = "linux")]
    {
        let device = |path: &PathBuf| {
            Some(std::os::unix::fs::MetadataExt::rdev(&std::fs::metadata(path).ok()?))
        };
        let devices: Vec<_> = terminals.iter().map(|path| device(path.as_ref()?)).collect();
        ports::listening_ports(&devices)
    }
    #[cfg(not(target_os = "linux"))]
    vec![BTreeSet::new(); terminals.len()]
}

/// Limits the freed memory that the C library keeps. A program calls this first, before it starts threads. Without the
/// limit, unfinished images of 20 panes, which may have 128 MiB, took up to 890 MiB, and 600 MiB of that stayed.
pub fn limit_kept_memory() {
    #[cfg(unix)]
    system::limit_kept_memory();
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
    /// The program. A name with a slash is relative to `cwd`. A name without a slash is searched in `PATH`. `None`: the
    /// user's shell (`$SHELL`, or else the shell in the password database, or else `/bin/sh`). The shell is
    /// interactive. It is a login shell only on macOS, according to each system's custom.
    pub program: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The program's working directory. `None`: the user's home directory. If it is not a directory, starting fails.
    pub cwd: Option<PathBuf>,
    /// Variables added to the inherited environment. Variables that describe a surrounding terminal are removed from
    /// that environment first.
    pub env: Vec<(String, String)>,
    /// Variables that contain the pane's number: each name, and the text before the number.
    pub numbered: Vec<(String, String)>,
    /// Makes an interactive shell mark its prompts and commands. `None`: no shell integration.
    pub integration: Option<ShellIntegration>,
    /// The data that a spawner stores about the pane. The mux sets it, and ignores the value of the caller.
    pub origin: Option<Box<SpawnOrigin>>,
}

/// The pane for which a program is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnOrigin {
    /// The pane's number. `None`: the program has no pane.
    pub pane: Option<PaneId>,
    /// The program and its arguments, as the caller of the mux requested them. `None`: the default shell.
    pub command: Option<(String, Vec<String>)>,
}

/// The position of a program's pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramPlacement {
    /// The pane's title.
    pub title: String,
    /// The number of the tab. `None` if the pane has no tab.
    pub tab: Option<u64>,
    /// The pane's path in the tree of the tab, for the mux.
    pub split: String,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// The program exited with this code.
    Code(i32),
    /// The signal with this number ended the program.
    Signal(i32),
    /// The program has ended, but its status was lost with its parent, such as a keeper that was killed. This is never
    /// a success.
    Lost,
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
    /// SIGWINCH. The signal reports a change of the window and harms no program.
    WindowChanged,
}

/// The foreground process group of a pty, described by its leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreground {
    /// Process id of the leader, or of another member if the leader has ended.
    pub pid: i32,
    /// The path of the process's executable if the system reports it, otherwise the process's name.
    pub name: String,
    /// Whether the leader is the program that the pane was started with.
    pub is_root: bool,
}

/// A process that started another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// The process.
    pub pid: i32,
    /// The path of the process's executable if the system reports it, otherwise the process's name.
    pub name: String,
    /// The arguments of the process, beginning with its name. Empty if the system does not report them.
    pub arguments: Vec<String>,
}

/// The program that a process currently executes. The value changes with each `execve`, even if the process executes
/// the same program again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The process.
    pub pid: i32,
    /// A number that changes with each `execve`.
    pub stamp: u64,
}

/// The result of a [`Process::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The number of bytes read, at least one.
    Bytes(usize),
    /// The deadline passed before output arrived.
    TimedOut,
    /// All output was read and the program has ended, or [`Process::stop_reading`] was called.
    Ended,
    /// [`Process::detach`] was called.
    Detached,
}

/// A program that a pane shows. Any thread may call the methods. A method blocks only if its documentation says so.
pub trait Process: Send + Sync {
    /// Reads one piece of output. Blocks until there is output, or until `deadline`. If the deadline has passed, never
    /// blocks.
    ///
    /// Returns `Ended` when the program has ended and its output was read, even if another process keeps the terminal
    /// open. After [`Process::kill`], this method sends SIGKILL when it is due, so the caller must continue to read
    /// until the end.
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome>;
    /// Makes blocked and later calls of [`Process::read`] return [`ReadOutcome::Ended`], and calls of
    /// [`Process::write`] fail.
    fn stop_reading(&self);
    /// Writes some of `bytes`. Blocks while the program does not read. Fails with [`io::ErrorKind::BrokenPipe`] after
    /// [`Process::stop_reading`] or [`Process::kill`], even if the call is already blocked.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Writes the part of `bytes` that the program's terminal accepts at once, and returns the length of that part.
    /// Never waits. An implementation without this ability writes nothing. [`Process::write`] writes the rest and
    /// reports errors.
    fn try_write(&self, _bytes: &[u8]) -> usize {
        0
    }
    /// Makes blocked and later calls of [`Process::read`] return [`ReadOutcome::Detached`], and calls of
    /// [`Process::write`] fail with [`io::ErrorKind::Interrupted`], until [`Process::attach`]. The program keeps
    /// running until its output fills the kernel's buffer. Only for [`crate::Mux::release`].
    fn detach(&self);
    /// Reverts [`Process::detach`]. Has no effect on an attached process.
    fn attach(&self);
    /// Stores the position of the program's pane, for another process that takes over the program. May wait for the
    /// keeper. Has no effect if no keeper is the program's parent.
    fn set_placement(&self, _placement: ProgramPlacement) {}
    /// Whether a keeper is the program's parent, so that [`Process::leave`] lets the program continue.
    fn is_kept(&self) -> bool {
        false
    }
    /// The keeper's number of the program. `None` if no keeper is its parent.
    fn keeper_number(&self) -> Option<u64> {
        None
    }
    /// Lets another process take over the program even after its end ([`Process::has_kept_end`]). Until then or until this
    /// value is dropped, the program stays a zombie. Has no effect if the end is known, or no keeper is the program's parent.
    fn keep_end(&self) {}
    /// Whether the program has ended after [`Process::keep_end`]. Then [`Process::leave`] leaves its status and its output.
    fn has_kept_end(&self) -> bool {
        false
    }
    /// Lets the program continue without an owner when this value is dropped, so that another process can take it over.
    /// Only for a program that no pane shows. Has no effect if no keeper is the program's parent: the program then ends.
    fn leave(&self) {}
    /// The journal into which [`Process::read`] writes the output. `None` if there is none.
    fn journal(&self) -> Option<&dyn OutputJournal> {
        None
    }
    /// Whether the program runs on this machine as the same user. Only then may it name local files such as images.
    fn is_local(&self) -> bool {
        false
    }
    /// Whether the program runs in another terminal that replies to its queries, such as tmux. This terminal then
    /// replies to nothing, and the other terminal sets the size.
    fn has_inner_terminal(&self) -> bool {
        false
    }
    /// Reports the window's new size to the program.
    fn resize(&self, size: Size) -> io::Result<()>;
    /// The columns and rows that the terminal device reports to programs. Programs can change them. `None` if unknown.
    fn reported_size(&self) -> Option<(u16, u16)> {
        None
    }
    /// Signals the foreground process group.
    fn signal(&self, signal: Signal) -> io::Result<()>;
    /// Ends the program: sends SIGHUP to its process group and to the foreground group, and sends SIGKILL to both if
    /// the program still runs after [`KILL_GRACE`]. Background processes get no signal, because the shell decides about
    /// them; `nohup` and `disown` rely on that.
    fn kill(&self);
    /// The process group in the foreground. `None` if unknown.
    fn foreground(&self) -> Option<Foreground> {
        None
    }
    /// The path or the name of the foreground program. Another terminal may report it although the program's process is
    /// unknown here. `None` if unknown.
    fn front_name(&self) -> Option<String> {
        self.foreground().map(|process| process.name)
    }
    /// The name of a program that forwards the terminal ([`is_carrier`]). It belongs to the foreground process group or
    /// was started by that group. `None` if there is no such program or the system does not report it.
    fn carrier(&self) -> Option<String> {
        self.foreground().map(|process| process.name).filter(|name| is_carrier(name))
    }
    /// The number of the foreground process group. Does not inspect the group's processes. `None` if unknown.
    fn group_in_front(&self) -> Option<i32> {
        None
    }
    /// The program that a process executes. `None` if the system does not report it.
    fn execution(&self, _pid: i32) -> Option<Execution> {
        None
    }
    /// Whether a process group still contains a process.
    fn has_group(&self, _group: i32) -> bool {
        false
    }
    /// The process groups that started a process group, the nearest first. `None` if the system does not report them.
    fn groups_above(&self, _group: i32) -> Option<Vec<i32>> {
        None
    }
    /// Whether a process belongs to the pane: its controlling terminal is the pane's, or the pane's program started it,
    /// directly or through other processes. `false` if the system does not report it.
    fn has_process(&self, _pid: i32) -> bool {
        false
    }
    /// The leaders of the process groups that started the foreground program, the nearest first, up to the pane's own
    /// program. Empty if the system does not report them.
    fn ancestors(&self) -> Vec<Ancestor> {
        Vec::new()
    }
    /// The background jobs of the terminal, the oldest first. `None` if unknown.
    fn jobs(&self) -> Option<Vec<Job>> {
        None
    }
    /// The arguments of the foreground process, beginning with its name. `None` if unknown.
    fn foreground_arguments(&self) -> Option<Vec<String>> {
        None
    }
    /// The time since the foreground process was started. `None` if unknown.
    fn front_age(&self) -> Option<Duration> {
        None
    }
    /// The working directory of the foreground process, as the system reports it. `None` if unknown.
    fn cwd(&self) -> Option<PathBuf> {
        None
    }
    /// The working directory of the foreground process, if it can be read. `None` if that process forwards the terminal
    /// ([`is_carrier`]), because its output comes from programs elsewhere.
    fn program_cwd(&self) -> Option<PathBuf> {
        None
    }
    /// The working directory of the shell in the foreground, or else of the shell that started the foreground program.
    /// `None` if the foreground program forwards the terminal ([`is_carrier`]), if the shell's process never changes
    /// its directory (PowerShell, Nushell), or if the system does not report it.
    fn shell_cwd(&self) -> Option<PathBuf> {
        None
    }
    /// Whether the terminal echoes input (termios ECHO). `None` if unknown.
    fn echo(&self) -> Option<bool> {
        None
    }
    /// Whether the program reads a line without echo, such as a password (termios ICANON without ECHO). `false` if
    /// unknown.
    fn reads_secret(&self) -> bool {
        false
    }
    /// Whether the terminal collects input until Enter before the program reads it (termios ICANON). `None` if unknown.
    fn collects_lines(&self) -> Option<bool> {
        None
    }
    /// Whether a program of the foreground process group waits for input: one of its threads is reading the terminal,
    /// or waits until it is readable. If the system hides the threads of a program (a program of another user), the
    /// program counts as waiting if it sleeps. `None` if the system does not report any of this.
    fn awaits_input(&self) -> Option<bool> {
        None
    }
    /// Whether bytes are on their way: input that the program has not read, or output that was not read and processed.
    /// A line without Enter counts as read if the terminal collects whole lines. `false` if unknown.
    fn is_in_transit(&self) -> bool {
        false
    }
    /// Like [`Process::awaits_input`], but true only if the system shows it for certain and the program uses the input
    /// itself. A program that forwards its input always reads, so the program that receives the forwarded input must
    /// read.
    fn reads_input(&self) -> bool {
        false
    }
    /// The name of a program that reads the terminal in place of the foreground process, which started it in its own
    /// process group. `None` if there is no such program, or if the system does not report it.
    fn reader_behind_leader(&self) -> Option<String> {
        None
    }
    /// Whether the foreground process sleeps or is stopped, so that it processes no input now, and no other process is in
    /// its group. `false` if unknown.
    fn is_blocked(&self) -> bool {
        false
    }
    /// A variable of the environment with which the foreground process was started. `None` if the variable is not set
    /// or the system does not report it.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    /// Name of the terminal device, such as `/dev/pts/3`. `None` if this machine has no device for the program.
    fn tty(&self) -> Option<PathBuf> {
        None
    }
    /// The program's path or name.
    fn program(&self) -> &str;
    /// Process id of the program itself. `None` if it is not a process of this machine.
    fn pid(&self) -> Option<i32> {
        None
    }
    /// How the program ended. `None` while it runs. Never blocks.
    fn exit_status(&self) -> Option<ExitStatus>;
}
