//! `ptywright run`: a command on a pty between this process's streams.
//!
//! Bytes pass unchanged in both directions. The command gets this program's environment, because its output ends on the
//! same terminal.

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

/// The size without a terminal.
const ROWS: u16 = 24;
const COLS: u16 = 80;
/// The end of the input, as a person types it (Ctrl+D).
const END: u8 = 4;
/// Statuses of commands that did not start, as shells have them (POSIX, "Exit Status for Commands").
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
/// Added to a signal's number.
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

/// Runs the command, and returns its status.
///
/// # Errors
/// The system gives no pty or no thread, or the output can't be written. A command that can't be started has a status.
pub fn run(options: &Run) -> Result<ExitCode> {
    let Some((program, args)) = options.command.split_first() else {
        return Ok(ExitCode::FAILURE);
    };
    // Before the size is read, so that no change of the size is missed.
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
        // What a command gets that writes to a closed pipe itself.
        (false, _) => code(SIGNALLED + SIGPIPE),
        (true, Some(ExitStatus::Code(status))) => code(status),
        (true, Some(ExitStatus::Signal(signal))) => code(SIGNALLED + signal),
        (true, None) => ExitCode::FAILURE,
    })
}

fn code(status: i32) -> ExitCode {
    // The system passes on the lowest byte (POSIX, `_exit`).
    ExitCode::from(status as u8)
}

fn spawn_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned.map(drop).context("cannot start a thread")
}

/// The command to start, with this program's directory and environment.
fn spawn(program: &str, args: &[String]) -> Result<Spawn> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    // These two would hide later sizes.
    let mut env: Vec<_> = std::env::vars_os()
        .filter_map(text)
        .filter(|(name, _)| name != "LINES" && name != "COLUMNS")
        .collect();
    // A pane sets it to `truecolor`. Of this terminal, only its own value is known.
    if io::stdout().is_terminal() && std::env::var_os("COLORTERM").is_none() {
        env.push(("COLORTERM".to_owned(), String::new()));
    }
    Ok(Spawn {
        program: Some(program.to_owned()),
        args: args.to_vec(),
        cwd: Some(std::env::current_dir().context("cannot find the current directory")?),
        env,
        integration: None,
    })
}

/// The status of a command that can't be started.
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

/// Carries out what signals to this process ask.
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
                // The command has a terminal of its own, so the keys of this one do not reach it as signals.
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
                // SIGSTOP stops the process without a word.
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

    /// After a stop: the shell has set the modes it likes, and the size may be another.
    fn go_on(&self) {
        if let Some(modes) = &self.modes {
            let _ = modes.set_raw();
        }
        self.resize();
    }
}

/// Passes standard input on until it ends or the command has ended.
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
            // The terminal is gone, or nothing can be read from it.
            Err(_) => return,
        }
    }
    // A terminal whose input has ended is gone. After a pipe or a file, the command has to see the end as well. In the
    // middle of a line, the first one only hands the line over (termios(3), VEOF).
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

/// Passes the output on until the command has ended. Returns false if the output is not read any more.
///
/// # Errors
/// The output can't be written, as on a full disk. The command is ended first.
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
            // Read on, so that the command is ended for certain.
            ReadOutcome::Bytes(_) | ReadOutcome::TimedOut => {}
            ReadOutcome::Ended | ReadOutcome::Detached => break,
        }
    }
    match failed {
        Some(error) if error != Errno::PIPE => Err(error.into()),
        failed => Ok(failed.is_none()),
    }
}

/// Writes to standard output at once. `io::stdout()` would hold back what follows the last line end.
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

/// Waits for a stream that another program has made non-blocking.
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
    fn a_command_that_is_there_but_no_program_has_another_status() {
        assert_eq!(status_without_start("no-such-program"), 127);
        assert_eq!(status_without_start("/nowhere/program"), 127);
        assert_eq!(status_without_start("/etc/passwd"), 126);
    }
}
