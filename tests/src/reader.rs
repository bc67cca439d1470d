//! A session bus of the test's own with a screen reader on it, which reads as pyatspi reads.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Display, wait_for};

/// A session bus; ended when dropped, with what it started.
pub struct SessionBus {
    daemon: Ended,
    address: String,
    home: TempDir,
    display: String,
}

impl SessionBus {
    /// Starts one for programs on a display.
    ///
    /// # Errors
    ///
    /// When dbus-daemon is not installed or does not start.
    pub fn start(display: &Display) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("unterm-bus-").tempdir()?;
        let mut daemon = command("dbus-daemon", &home, &display.name())
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("starting dbus-daemon")?;
        let stdout = daemon.stdout.take().context("dbus-daemon's stdout")?;
        let daemon = Ended(daemon);
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        let address = address.trim().to_owned();
        ensure!(!address.is_empty(), "dbus-daemon gave no address");
        Ok(Self { daemon, address, home, display: display.name() })
    }

    /// Its address, as in `$DBUS_SESSION_BUS_ADDRESS`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Starts a screen reader on it.
    ///
    /// # Errors
    ///
    /// When Python or pyatspi is not installed, or the reader can't start.
    pub fn reader(&self) -> Result<ScreenReader<'_>> {
        // Debian's own Python has Debian's packages, whatever else is on the path.
        let mut child = command("/usr/bin/python3", &self.home, &self.display)
            .args(["-c", include_str!("reader.py")])
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting Python")?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut reader = ScreenReader {
            _bus: &self.daemon,
            _child: Ended(child),
            stdin: stdin.context("the reader's stdin")?,
            stdout: BufReader::new(stdout.context("the reader's stdout")?),
        };
        let ready = reader.line()?;
        ensure!(ready["ready"] == true, "the reader said {ready}");
        Ok(reader)
    }
}

/// A program with nothing of the test's environment but the path.
fn command(program: &str, home: &TempDir, display: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("LANG", "C.UTF-8")
        .env("DISPLAY", display);
    command
}

/// A process; ended when dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

/// A screen reader; ended when dropped.
pub struct ScreenReader<'a> {
    _bus: &'a Ended,
    _child: Ended,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl ScreenReader<'_> {
    fn line(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("the reader said {line:?}"))
    }

    /// What is there now: `terminals` (each with `name`, `text`, `caret`, `selections`, `focused`), `tabs`, `others` (role
    /// and name), and what it was told of since it started: `inserted`, `removed`, `announced`.
    ///
    /// # Errors
    ///
    /// When the reader has ended.
    pub fn look(&mut self) -> Result<Value> {
        self.stdin.write_all(b"?")?;
        self.line()
    }

    /// Looks until what is there is as `is_there` wants it, and returns it.
    ///
    /// # Errors
    ///
    /// When it does not come; the message shows what was there last.
    pub fn wait(&mut self, what: &str, is_there: impl Fn(&Value) -> bool) -> Result<Value> {
        let last = std::cell::RefCell::new(Value::Null);
        wait_for(
            what,
            || {
                let now = self.look()?;
                let found = is_there(&now);
                *last.borrow_mut() = now.clone();
                Ok(found.then_some(now))
            },
            || format!("{:#}", last.borrow()),
        )
    }
}
