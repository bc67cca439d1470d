//! The hub's own host: files in one folder, and commands. Both are off unless the user who starts the hub enables them.
//! If they are enabled, tokens with the right `read` can find files and lines there, unless these tokens are limited to
//! some machines, and tokens with the right `admin` can do everything.
//!
//! The kernel resolves a path relative to the folder (`openat2` with `RESOLVE_BENEATH`), so neither `..` nor a link
//! leads out of the folder. A command starts in the folder, but can leave it, because it is an arbitrary program with
//! the hub's rights.

mod files;
mod pattern;

use std::{path::Path, process::Stdio, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Command,
};

use self::files::Root;

/// The maximum time-out of a command, in seconds.
const LONGEST_TIMEOUT: u64 = 600;
/// The maximum number of bytes that are returned of a command's output, and of its error output.
const MOST_OUTPUT: usize = 50_000;
/// The time to wait for the end of a command's output after the command has ended.
const LINGERING: Duration = Duration::from_millis(200);

/// A command to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bash {
    /// The command line.
    pub command: String,
    /// The time after which the command is ended, in seconds.
    pub timeout: u64,
}

/// A file to write.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostWrite {
    /// The path of the file, in the folder.
    pub path: String,
    /// The whole content of the file.
    pub content: String,
}

/// The hub's own host, as agents can use it.
#[derive(Clone, Default)]
pub struct Host {
    root: Option<Arc<Root>>,
    has_shell: bool,
}

impl Host {
    /// Creates the host with the files in `root`, and with commands if `has_shell`.
    ///
    /// # Errors
    /// The folder can't be opened.
    pub fn new(root: Option<&Path>, has_shell: bool) -> Result<Self> {
        if let Some(root) = root {
            keep_out_of_home(root, &unterm_control::home())?;
        }
        let root = root
            .map(|root| Root::open(root).with_context(|| format!("the folder {}", root.display())));
        Ok(Self { root: root.transpose()?.map(Arc::new), has_shell })
    }

    /// The reason that the tool with this name can't be used, or `None` if it can be used.
    pub fn refusal(&self, tool: &str) -> Option<&'static str> {
        if self.root.is_none() {
            return Some("the hub's host is closed to agents: it was started without --admin-root");
        }
        (tool == "remote_bash" && !self.has_shell)
            .then_some("commands on the hub's host are off: it was started without --admin-shell")
    }

    fn root(&self) -> Result<Arc<Root>, String> {
        let closed = || self.refusal("").unwrap_or_default().to_owned();
        self.root.clone().ok_or_else(closed)
    }

    /// Runs a command.
    ///
    /// # Errors
    /// Commands are off, or this command can't be started. A message for the agent.
    pub async fn bash(&self, bash: &Bash) -> Result<String, String> {
        let root = self.root()?;
        if let Some(why) = self.refusal("remote_bash") {
            return Err(why.to_owned());
        }
        let timeout = Duration::from_secs(bash.timeout.clamp(1, LONGEST_TIMEOUT));
        run(&bash.command, root.path(), timeout).await.map_err(|error| format!("{error:#}"))
    }

    /// Reads at most `limit` lines of a file, after the first `offset` lines.
    ///
    /// # Errors
    /// The file can't be read. A message for the agent.
    pub async fn read(&self, path: String, offset: usize, limit: usize) -> Result<String, String> {
        self.blocking(move |root| root.read(&path, offset, limit)).await
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The file can't be written. A message for the agent.
    pub async fn write(&self, write: &HostWrite) -> Result<String, String> {
        let HostWrite { path, content } = write.clone();
        self.blocking(move |root| root.write(&path, &content)).await
    }

    /// The files in a folder and its subfolders whose paths match a pattern.
    ///
    /// # Errors
    /// The folder can't be read, or the pattern is wrong. A message for the agent.
    pub async fn glob(&self, pattern: String, path: String) -> Result<String, String> {
        self.blocking(move |root| root.glob(&pattern, &path)).await
    }

    /// The lines that match a regular expression, of the files in a folder and its subfolders. If there is a filter,
    /// only files whose names match it are searched.
    ///
    /// # Errors
    /// The folder can't be read, or the pattern is wrong. A message for the agent.
    pub async fn grep(
        &self,
        pattern: String,
        path: String,
        filter: String,
    ) -> Result<String, String> {
        self.blocking(move |root| root.grep(&pattern, &path, &filter)).await
    }

    async fn blocking(
        &self,
        work: impl FnOnce(&Root) -> Result<String> + Send + 'static,
    ) -> Result<String, String> {
        let root = self.root()?;
        let done = tokio::task::spawn_blocking(move || work(&root)).await;
        done.map_err(|error| error.to_string())?.map_err(|error| format!("{error:#}"))
    }
}

/// Runs a command in a folder. After `timeout`, ends the command with all processes that it started.
async fn run(command: &str, folder: &Path, timeout: Duration) -> Result<String> {
    let mut process = Command::new("/bin/bash");
    process.arg("-c").arg(command).current_dir(folder).env_clear();
    for name in ["PATH", "HOME", "USER", "LANG"] {
        if let Some(value) = std::env::var_os(name) {
            process.env(name, value);
        }
    }
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = process.process_group(0).kill_on_drop(true).spawn().context("/bin/bash")?;
    let group = child.id().and_then(|id| Pid::from_raw(id as i32));
    let _end = EndGroup(group);
    let (out, err) = (child.stdout.take().context("no output")?, child.stderr.take());
    let err = err.context("no output")?;
    let (out, err) = (tokio::spawn(bounded(out)), tokio::spawn(bounded(err)));
    let status = tokio::time::timeout(timeout, child.wait()).await;
    let is_over = status.is_err();
    let code = status.ok().transpose()?.and_then(|status| status.code());
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let text = async |reading: tokio::task::JoinHandle<(Vec<u8>, usize)>| {
        // A process that left the process group can keep the output open.
        let abort = reading.abort_handle();
        match tokio::time::timeout(LINGERING, reading).await {
            Ok(Ok((bytes, missing))) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if missing > 0 {
                    format!("{text}\n[… {missing} bytes left out …]")
                } else {
                    text
                }
            }
            _ => {
                abort.abort();
                "[the output is held open by a process in the background]".to_owned()
            }
        }
    };
    let (out, err) = (text(out).await, text(err).await);
    Ok(json!({"exit_code": code, "stdout": out, "stderr": err, "timed_out": is_over}).to_string())
}

/// Ends a process group when it is dropped, which happens when the call ends or is dropped.
struct EndGroup(Option<Pid>);

impl Drop for EndGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The first bytes of an output, and the number of bytes after them.
async fn bounded(mut output: impl AsyncRead + Unpin) -> (Vec<u8>, usize) {
    let (mut kept, mut missing) = (Vec::new(), 0);
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        let room = (MOST_OUTPUT - kept.len()).min(count);
        kept.extend_from_slice(&buffer[..room]);
        missing += count - room;
    }
    (kept, missing)
}

/// Returns an error for a folder that shares files with Unterm's home, which contains the keys of the fleet.
fn keep_out_of_home(root: &Path, home: &Path) -> Result<()> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (root, home) = (whole(root), whole(home));
    ensure!(
        !home.starts_with(&root) && !root.starts_with(&home),
        "--admin-root {} shares files with {}, where the keys of the fleet are; choose another folder",
        root.display(),
        home.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    async fn bash(command: &str, timeout: u64) -> Value {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::new(Some(folder.path()), true).unwrap();
        let bash = Bash { command: command.to_owned(), timeout };
        serde_json::from_str(&host.bash(&bash).await.unwrap()).unwrap()
    }

    #[test]
    fn agents_cannot_open_the_fleets_keys() {
        let folder = tempfile::tempdir().unwrap();
        let (root, home) = (folder.path().join("root"), folder.path().join("home/.unterm"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir_all(home.join("fleet")).unwrap();
        std::os::unix::fs::symlink(&home, root.join("link")).unwrap();
        assert!(keep_out_of_home(&root, &home).is_ok(), "links are not followed later");
        for shared in [folder.path(), &home, &home.join("fleet"), &root.join("link")] {
            assert!(keep_out_of_home(shared, &home).is_err(), "{}", shared.display());
        }
    }

    #[tokio::test]
    async fn a_command_returns_its_output_and_status() {
        let ran = bash("echo out; echo err >&2; exit 3", 10).await;
        let expected =
            json!({"exit_code": 3, "stdout": "out\n", "stderr": "err\n", "timed_out": false});
        assert_eq!(ran, expected);
    }

    #[tokio::test]
    async fn output_and_time_are_bounded() {
        let ran = bash("yes | head -c 1000000", 10).await;
        assert!(ran["stdout"].as_str().unwrap().ends_with("[… 950000 bytes left out …]"));
        let ran = bash("sleep 1000 & echo started; wait", 1).await;
        assert_eq!((&ran["timed_out"], &ran["stdout"]), (&json!(true), &json!("started\n")));
        assert_eq!(ran["exit_code"], Value::Null);
    }

    #[tokio::test]
    async fn host_tools_are_refused_unless_enabled() {
        let closed = Host::default();
        let bash = Bash { command: "id".to_owned(), timeout: 1 };
        assert!(closed.bash(&bash).await.unwrap_err().contains("--admin-root"));
        assert!(closed.read("x".to_owned(), 0, 1).await.unwrap_err().contains("--admin-root"));
        let folder = tempfile::tempdir().unwrap();
        let files = Host::new(Some(folder.path()), false).unwrap();
        assert!(files.bash(&bash).await.unwrap_err().contains("--admin-shell"));
        assert_eq!(files.refusal("remote_read"), None);
    }
}
