//! A screen reader on its own session bus. It reads through pyatspi.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{ChildStdin, ChildStdout, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    Bus, Display,
    process::{OwnedProcess, bare},
    wait_for,
};

/// A screen reader. It is ended on drop.
pub struct ScreenReader<'a> {
    _bus: &'a Bus,
    _child: OwnedProcess,
    _home: TempDir,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl<'a> ScreenReader<'a> {
    /// Starts the screen reader.
    ///
    /// # Errors
    ///
    /// If Python or pyatspi is not installed, or the reader can't start.
    pub fn start(bus: &'a Bus, display: &Display) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("unterm-reader-").tempdir()?;
        // Debian's own Python finds Debian's packages, whatever other Python is in `PATH`.
        let mut child = bare("/usr/bin/python3", home.path())
            .env("DISPLAY", display.name())
            .args(["-c", include_str!("screen_reader.py")])
            .env("DBUS_SESSION_BUS_ADDRESS", bus.address())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting Python")?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut reader = Self {
            _bus: bus,
            _child: OwnedProcess(child),
            _home: home,
            stdin: stdin.context("the reader's stdin")?,
            stdout: BufReader::new(stdout.context("the reader's stdout")?),
        };
        let ready = reader.line()?;
        ensure!(ready["ready"] == true, "the reader said {ready}");
        Ok(reader)
    }

    fn line(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("the reader said {line:?}"))
    }

    /// The current state: `terminals` (each with `name`, `text`, `caret`, `selections`, `focused`), `tabs`, `others`
    /// (role and name), and the events since the start: `inserted`, `removed`, `announced`.
    ///
    /// # Errors
    ///
    /// If the reader has ended.
    pub fn look(&mut self) -> Result<Value> {
        self.stdin.write_all(b"?")?;
        self.line()
    }

    /// Polls until `is_there` accepts the state, and returns it.
    ///
    /// # Errors
    ///
    /// If no state is accepted in time. The message shows the last state.
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
