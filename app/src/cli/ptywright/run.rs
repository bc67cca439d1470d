//! `ptywright run`: runs a command on its own pty, which is connected to the standard streams of this process.
//!
//! Bytes are passed unchanged in both directions. The command receives the environment of this program, because its
//! output is shown on the same terminal.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write as _},
    os::fd::AsFd,
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use anyhow::{Context as _, Result};
use clap::{Args, value_parser};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use unterm_mux::{ExitStatus, Process as _, PtyProcess, ReadOutcome, Signal, Spawn};
use unterm_term::Size;

use super::terminal::{self, Modes, Raw};
use crate::cli::unread::until_unread;

/// The size of the command's terminal if this process runs without a terminal.
const ROWS: u16 = 24;
const COLS: u16 = 80;
/// The control character for the end of the input (Ctrl+D).
const END: u8 = 4;
/// The exit statuses for commands that could not be started. Shells use the same values (POSIX, "Exit Status for
/// Commands").
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
/// A process that a signal ended has an exit status of 128 plus the signal's number.
const SIGNALLED: i32 = 128;

/// The options of `run`.
#[derive(Args)]
pub struct Run {
    /// Rows of the command's terminal [default: those of this terminal, as it is resized, else 24].
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    rows: Option<u16>,
    /// Columns of the command's terminal [default: those of this terminal, as it is resized, else 80].
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    cols: Option<u16>,
    /// Command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Runs the command, and returns its exit status.
///
/// # Errors
/// Fails if the operating system provides no pty or no thread, or if the output can't be written. A command that can't
/// be started is not an error: it has an exit status.
pub fn run(options: &Run) -> Result<ExitCode> {
    let Some((program, args)) = options.command.split_first() else {
        return Ok(ExitCode::FAILURE);
    };
    // Subscribe to signals before reading the size, so that no change of the size is missed.
    let signals = Signals::new([SIGWINCH, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT])
        .context("cannot wait for signals")?;
    let modes = Modes::of_stdin();
    let size = size(options, terminal::size());
    let process = match PtyProcess::spawn(&spawn(program, args)?, size) {
        Ok(process) => Arc::new(process),
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            return Ok(ExitCode::from(status_without_start(program)));
        }
    };
    let raw =
        modes.as_ref().map(Raw::enter).transpose().context("cannot set the terminal's modes")?;
    let follower =
        Follower { process: process.clone(), modes, rows: options.rows, cols: options.cols };
    spawn_thread("unterm-signals", move || follower.follow(signals))?;
    let is_unread = Arc::new(AtomicBool::new(false));
    let fed = process.clone();
    spawn_thread("unterm-input", move || feed(&fed))?;
    if !io::stdout().is_terminal() {
        let unread = process.clone();
        let is_unread = is_unread.clone();
        spawn_thread("unterm-unread", move || {
            if until_unread().is_ok() {
                is_unread.store(true, Ordering::Release);
                unread.kill();
            }
        })?;
    }
    let carried = carry(&process);
    drop(raw);
    let is_read = carried.context("cannot write the output")? && !is_unread.load(Ordering::Acquire);
    Ok(match (is_read, process.exit_status()) {
        // This is also the status of a command that itself writes to a closed pipe.
        (false, _) => code(SIGNALLED + SIGPIPE),
        (true, Some(ExitStatus::Code(status))) => code(status),
        (true, Some(ExitStatus::Signal(signal))) => code(SIGNALLED + signal),
        (true, Some(ExitStatus::Lost) | None) => ExitCode::FAILURE,
    })
}

fn code(status: i32) -> ExitCode {
    // The operating system passes on only the lowest byte (POSIX, `_exit`).
    ExitCode::from(status as u8)
}

fn spawn_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned.map(drop).context("cannot start a thread")
}

/// The parameters for starting the command, with the directory and environment of this program.
fn spawn(program: &str, args: &[String]) -> Result<Spawn> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    // Remove these variables. Programs would use them instead of the terminal's size, which can change.
    let mut env: Vec<_> = std::env::vars_os()
        .filter_map(text)
        .filter(|(name, _)| name != "LINES" && name != "COLUMNS")
        .collect();
    // A pane would set this variable to `truecolor`. Leave it empty, because whether this terminal supports true color
    // is unknown.
    if io::stdout().is_terminal() && std::env::var_os("COLORTERM").is_none() {
        env.push(("COLORTERM".to_owned(), String::new()));
    }
    Ok(Spawn {
        program: Some(program.to_owned()),
        args: args.to_vec(),
        cwd: Some(std::env::current_dir().context("cannot find the current directory")?),
        env,
        ..Spawn::default()
    })
}

/// The exit status for a command that can't be started.
fn status_without_start(program: &str) -> u8 {
    let exists = if program.contains('/') {
        Path::new(program).exists()
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).exists())
    };
    if exists { NOT_EXECUTABLE } else { NOT_FOUND }
}

/// The size of the command's terminal.
fn size(options: &Run, own: Option<Size>) -> Size {
    sized(options.rows, options.cols, own)
}

fn sized(rows: Option<u16>, cols: Option<u16>, own: Option<Size>) -> Size {
    let own = own.unwrap_or(Size::cells(COLS, ROWS));
    Size { rows: rows.unwrap_or(own.rows), cols: cols.unwrap_or(own.cols), ..own }
}

/// Handles the signals to this process.
struct Follower {
    process: Arc<PtyProcess>,
    modes: Option<Modes>,
    rows: Option<u16>,
    cols: Option<u16>,
}

impl Follower {
    fn follow(&self, mut signals: Signals) {
        let mut is_asked_to_end = false;
        for signal in &mut signals {
            match signal {
                SIGWINCH => self.resize(),
                // The command has its own terminal, so the keys of this terminal don't send signals to the command.
                SIGINT => drop(self.process.signal(Signal::Interrupt)),
                SIGQUIT => drop(self.process.signal(Signal::Quit)),
                SIGTERM if !is_asked_to_end => {
                    is_asked_to_end = true;
                    let _ = self.process.signal(Signal::Terminate);
                }
                SIGTERM => {
                    self.restore();
                    let _ = emulate_default_handler(signal);
                }
                SIGTSTP => {
                    self.restore();
                    let _ = emulate_default_handler(signal);
                    self.go_on();
                }
                // A stop by SIGSTOP can't be handled in advance, so restore the state when the process continues.
                SIGCONT => self.go_on(),
                _ => self.process.kill(),
            }
        }
    }

    fn resize(&self) {
        let _ = self.process.resize(sized(self.rows, self.cols, terminal::size()));
    }

    fn restore(&self) {
        if let Some(modes) = &self.modes {
            modes.restore();
        }
    }

    /// Continues after a stop. Sets raw mode again, because the shell has changed the modes, and adopts the size,
    /// which may have changed.
    fn go_on(&self) {
        if let Some(modes) = &self.modes {
            let _ = modes.set_raw();
        }
        self.resize();
    }
}

/// Passes standard input to the command until the input or the command ends.
fn feed(process: &PtyProcess) {
    let stdin = io::stdin();
    let mut buffer = [0; 8192];
    let mut is_at_line_start = true;
    loop {
        match rustix::io::read(&stdin, &mut buffer[..]) {
            Ok(0) => break,
            Ok(count) => {
                is_at_line_start = buffer[count - 1] == b'\n';
                if !write_to(process, &buffer[..count]) {
                    return;
                }
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => await_ready(&stdin, PollFlags::IN),
            // The terminal is closed, or can't be read.
            Err(_) => return,
        }
    }
    // If the input is a terminal, its end means that the terminal is closed. If it is a pipe or a file, the command
    // must also receive the end of the input. In the middle of a line, the first Ctrl+D only submits the line, so a
    // second one is needed (termios(3), VEOF).
    if !stdin.is_terminal() {
        let ends: &[u8] = if is_at_line_start { &[END] } else { &[END, END] };
        write_to(process, ends);
    }
}

fn write_to(process: &PtyProcess, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match process.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(_) => return false,
        }
    }
    true
}

/// Passes the command's output on until the command ends. Returns false if standard output is closed.
///
/// # Errors
/// Fails if the output can't be written, for example on a full disk. The command is then ended first.
fn carry(process: &PtyProcess) -> io::Result<bool> {
    let mut buffer = vec![0; 64 << 10];
    let mut failed = None;
    loop {
        match process.read(&mut buffer, None)? {
            ReadOutcome::Bytes(count) if failed.is_none() => {
                if let Err(error) = print(&buffer[..count]) {
                    failed = Some(error);
                    process.kill();
                }
            }
            // Continue to read, so that the command can end.
            ReadOutcome::Bytes(_) | ReadOutcome::TimedOut => {}
            ReadOutcome::Ended | ReadOutcome::Detached => break,
        }
    }
    match failed {
        Some(error) if error != Errno::PIPE => Err(error.into()),
        failed => Ok(failed.is_none()),
    }
}

/// Writes bytes to standard output immediately. `io::stdout()` would buffer text after the last line end.
fn print(mut bytes: &[u8]) -> rustix::io::Result<()> {
    let stdout = io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(&stdout, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => await_ready(&stdout, PollFlags::OUT),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits for a stream that another program has set to non-blocking mode.
fn await_ready(stream: &impl AsFd, flags: PollFlags) {
    let _ = poll(&mut [PollFd::new(stream, flags)], None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_sizes_replace_those_of_the_terminal() {
        let own = Size { cell_width: 9, cell_height: 18, ..Size::cells(132, 43) };
        assert_eq!(sized(None, None, None), Size::cells(80, 24));
        assert_eq!(sized(None, None, Some(own)), own);
        assert_eq!(sized(Some(10), None, Some(own)), Size { rows: 10, ..own });
        assert_eq!(sized(Some(10), Some(20), None), Size::cells(20, 10));
    }

    #[test]
    fn a_file_that_is_no_program_has_exit_status_126() {
        assert_eq!(status_without_start("no-such-program"), 127);
        assert_eq!(status_without_start("/nowhere/program"), 127);
        assert_eq!(status_without_start("/etc/passwd"), 126);
    }
}
