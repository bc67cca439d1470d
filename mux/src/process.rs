//! A program behind a pane: the trait, and its implementation on a local pty.

use std::{io, path::PathBuf};

use unterm_term::Size;

/// What to run in a new pane.
#[derive(Clone, Debug, Default)]
pub struct Spawn {
    /// The program; `None`: the user's login shell (`$SHELL`, else the password database, else `/bin/sh`).
    pub program: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory; `None`: the user's home. One that is not a directory is an error.
    pub cwd: Option<PathBuf>,
    /// Variables over the inherited environment.
    pub env: Vec<(String, String)>,
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
}

/// The process group in the foreground of a pty, by its leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreground {
    /// Process id of the leader.
    pub pid: i32,
    /// Its executable's path where the system tells, else its name.
    pub name: String,
    /// The leader is the program the pane was started with.
    pub is_root: bool,
}

/// A program that a pane shows. Methods may be called from any thread; none blocks except where said.
pub trait Process: Send + Sync {
    /// Reads output; blocks until there is some. `Ok(0)`: the program has ended and all its output was read, or
    /// [`Process::stop_reading`] was called.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Makes a blocked and every later [`Process::read`] return 0.
    fn stop_reading(&self);
    /// Writes input; blocks while the program does not read, until [`Process::stop_reading`].
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Tells the program its window's new size.
    fn resize(&self, size: Size) -> io::Result<()>;
    /// Signals the foreground process group.
    fn signal(&self, signal: Signal) -> io::Result<()>;
    /// Ends the program: SIGHUP to its session, SIGKILL after a grace time if it stays.
    fn kill(&self);
    /// The process group in the foreground.
    fn foreground(&self) -> Option<Foreground>;
    /// Working directory of the foreground process, as the system tells it.
    fn cwd(&self) -> Option<PathBuf>;
    /// Whether the terminal echoes input (termios ECHO); `None` where it can't be told.
    fn echo(&self) -> Option<bool>;
    /// Name of the terminal device, such as `/dev/pts/3`.
    fn tty(&self) -> Option<PathBuf>;
    /// Process id of the program itself.
    fn pid(&self) -> Option<i32>;
    /// How the program ended, `None` while it runs. Never blocks.
    fn exit_status(&self) -> Option<ExitStatus>;
}

/// A local program on a pty (portable-pty).
pub struct PtyProcess {}
