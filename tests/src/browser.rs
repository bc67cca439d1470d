//! A real Chromium with one page, driven through Playwright (`tests/browser/drive.mjs`). Tests send clicks to the page,
//! and query what it shows. `packaging/setup.sh` installs the required programs.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{PATIENCE, process::bare};

/// A browser with one page. It is ended on drop.
pub struct Browser {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// The browser's profile.
    _home: tempfile::TempDir,
}

/// The folder with the packages of `assets/settings`: `UNTERM_NODE_MODULES`, or else the folder beside them.
///
/// # Errors
///
/// If the packages are not installed. The message gives the command that installs them.
pub fn node_modules() -> Result<PathBuf> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/settings/node_modules");
    let folder = std::env::var_os("UNTERM_NODE_MODULES").map_or_else(own, PathBuf::from);
    ensure!(
        folder.join("playwright-core").is_dir(),
        "{} has no Playwright: run packaging/test, or `npm ci` in assets/settings",
        folder.display()
    );
    Ok(folder.canonicalize()?)
}

impl Browser {
    /// Starts a browser with an empty profile.
    ///
    /// # Errors
    ///
    /// If node, its packages or Chromium are missing.
    pub fn start() -> Result<Self> {
        Self::with_flags(&[])
    }

    /// Starts a browser with additional Chromium flags.
    ///
    /// # Errors
    ///
    /// The errors of [`Browser::start`].
    pub fn with_flags(flags: &[&str]) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("unterm-browser-").tempdir()?;
        let mut child = bare("node", home.path())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/drive.mjs"))
            .arg(PATIENCE.as_millis().to_string())
            .args(flags)
            .env("UNTERM_NODE_MODULES", node_modules()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting node")?;
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("node's output")?);
        Ok(Self { child, commands, answers, _home: home })
    }

    /// Sends a command and returns its answer.
    ///
    /// # Errors
    ///
    /// If the command can't be done within [`PATIENCE`], with the browser's message.
    pub fn ask(&mut self, command: &str, mut given: Value) -> Result<Value> {
        given["command"] = command.into();
        let input = self.commands.as_mut().context("the browser has ended")?;
        writeln!(input, "{given}").context("the browser has ended")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let mut answer: Value =
            serde_json::from_str(&line).with_context(|| format!("{command}: no answer"))?;
        match answer["error"].as_str() {
            Some(error) => bail!("{command} {given}: {error}"),
            None => Ok(answer["ok"].take()),
        }
    }

    /// Sends a command for one element.
    ///
    /// # Errors
    ///
    /// The errors of [`Browser::ask`].
    pub fn to(&mut self, command: &str, at: &str) -> Result<Value> {
        self.ask(command, json!({ "at": at }))
    }

    /// Sends a command for one element, with a text.
    ///
    /// # Errors
    ///
    /// The errors of [`Browser::ask`].
    pub fn with(&mut self, command: &str, at: &str, text: &str) -> Result<Value> {
        self.ask(command, json!({ "at": at, "text": text }))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends when its input ends.
        drop(self.commands.take());
        let _ = self.child.wait();
    }
}
