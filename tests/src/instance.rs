//! A running Unterm with its own home, and a connection to its control port.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    os::unix::{
        fs::{DirBuilderExt as _, OpenOptionsExt as _},
        process::ExitStatusExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Compositor, Display, PATIENCE, Pane, Resources, Window, binary, full_disk, wait_for};

/// The prompt of every shell that a test starts. It is short, always the same, and appears in no other line.
pub const PROMPT: &str = "ready$ ";

/// Options for starting an instance.
#[derive(Default)]
pub struct Start<'a> {
    display: Option<&'a Display>,
    args: Vec<String>,
    registry: Option<PathBuf>,
    env: Vec<(String, String)>,
    on_full_disk: bool,
    log: Option<PathBuf>,
}

/// An address without a session bus, so that tests don't touch the desktop of the user who runs them.
const NO_BUS: &str = "unix:path=/nonexistent/bus";

impl<'a> Start<'a> {
    /// `unterm --headless`.
    pub fn headless() -> Self {
        Self::default().arg("--headless")
    }

    /// `unterm` with a window on `display`.
    pub fn windowed(display: &'a Display) -> Self {
        Self { display: Some(display), ..Self::default() }
    }

    /// `unterm` with a window on a Wayland compositor.
    pub fn on_wayland(compositor: &Compositor) -> Self {
        let start = Self::default();
        compositor.env().iter().fold(start, |start, (name, value)| start.env(name, value))
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Uses this directory as `$UNTERM_HOME`. By default, each instance has its own.
    pub fn registry(mut self, directory: &Path) -> Self {
        self.registry = Some(directory.into());
        self
    }

    /// Writes the log to this file. By default, each instance has its own.
    pub fn log_to(mut self, file: &Path) -> Self {
        self.log = Some(file.into());
        self
    }

    /// Leaves no room on the disk of `$UNTERM_HOME`. Start such an instance with [`Start::alone`].
    pub fn on_full_disk(mut self) -> Self {
        self.on_full_disk = true;
        self
    }

    /// Starts an instance with a focused window, and waits until the shell in its first pane is at its prompt.
    ///
    /// # Errors
    ///
    /// If the instance has no display for a window, or no window opens.
    pub fn at_prompt(self) -> Result<(Instance, Window<'a>, Pane)> {
        let display = self.display.context("no display")?;
        let mut unterm = self.now()?;
        let window = display.window_of(&unterm)?;
        let pane = unterm.first_pane()?;
        pane.wait_for_prompt(&mut unterm)?;
        Ok((unterm, window, pane))
    }

    /// Starts an instance and waits until a test can drive it.
    ///
    /// The instance and its programs use a new directory as their home, with a plain prompt for each shell. They
    /// inherit only `PATH` from the test's environment.
    ///
    /// # Errors
    ///
    /// If the instance ends before a test can drive it. The error contains its log.
    pub fn now(self) -> Result<Instance> {
        let mut instance = self.alone()?;
        instance.entry = instance.wait_for_entry()?;
        instance.wire = Some(Wire::login(&instance.entry)?);
        Ok(instance)
    }

    /// Starts an instance without waiting for anything. If it can't register, a test can't drive it.
    ///
    /// # Errors
    ///
    /// If `unterm` can't be started.
    pub fn alone(self) -> Result<Instance> {
        let home = tempfile::Builder::new().prefix("unterm-test-").tempdir()?;
        write_shell_settings(home.path())?;
        let log = self.log.unwrap_or_else(|| home.path().join("unterm.log"));
        let registry = self.registry.unwrap_or_else(|| home.path().join(".unterm"));
        let has_window = !self.args.iter().any(|arg| arg == "--headless");
        if has_window && !self.on_full_disk {
            // Record that the tour was shown. Otherwise the tour of a first window would receive the keys.
            DirBuilder::new().recursive(true).mode(0o700).create(&registry)?;
            let mut shown = OpenOptions::new();
            shown.create(true).append(true).mode(0o600).open(registry.join("tour_shown"))?;
        }
        let mut command = match self.on_full_disk {
            true => full_disk::command(&binary("unterm"), &registry)?,
            false => Command::new(binary("unterm")),
        };
        // The programs of a test end with it, unless the test is about programs that continue. An option on the command line
        // needs a home whose themes can be read.
        let has_home = !registry.is_file() && !registry.starts_with("/proc");
        if has_home && !self.args.iter().any(|arg| arg.starts_with("sessions.keep=")) {
            command.args(["-o", "sessions.keep=false"]);
        }
        command
            .args(&self.args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("UNTERM_HOME", &registry)
            .env("SHELL", "/bin/bash")
            .env("LANG", "C.UTF-8")
            .env("USER", "tester")
            .env("DBUS_SESSION_BUS_ADDRESS", NO_BUS)
            .current_dir(home.path())
            .stdin(std::process::Stdio::null())
            .stdout(File::create(home.path().join("stdout"))?)
            .stderr(File::create(&log)?);
        if let Some(display) = self.display {
            command.env("DISPLAY", display.name());
        }
        command.envs(self.env);
        let child = command.spawn().context("starting unterm")?;
        Ok(Instance { child: Some(child), home, registry, log, wire: None, entry: Value::Null })
    }
}

/// A running Unterm. On drop, it is ended. If the test fails, its log is printed.
pub struct Instance {
    child: Option<Child>,
    home: TempDir,
    registry: PathBuf,
    log: PathBuf,
    wire: Option<Wire>,
    entry: Value,
}

impl Instance {
    /// The instance's process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// The directory that is the instance's `$HOME`.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The instance's record in the registry, as it was at the start.
    pub fn entry(&self) -> &Value {
        &self.entry
    }

    /// The directory that is the instance's `$UNTERM_HOME`.
    pub fn registry(&self) -> &Path {
        &self.registry
    }

    /// Writes `config.toml` like an editor: by replacing it with a new file.
    ///
    /// # Errors
    ///
    /// If the file can't be written.
    pub fn write_config(&self, text: &str) -> Result<()> {
        let new = self.registry().join("config.new");
        std::fs::write(&new, text)?;
        Ok(std::fs::rename(new, self.registry().join("config.toml"))?)
    }

    /// The file with the instance's record in the registry.
    pub fn entry_path(&self) -> PathBuf {
        let id = self.entry["id"].as_str().unwrap_or_default();
        self.registry.join(format!("instances/{id}.json"))
    }

    /// The log so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until the log contains a text.
    ///
    /// # Errors
    ///
    /// If the text does not appear, or the instance ends.
    pub fn wait_for_log(&mut self, text: &str) -> Result<()> {
        let child = self.child.as_mut().context("not started")?;
        let log = || fs::read_to_string(&self.log).unwrap_or_default();
        wait_for(
            &format!("{text:?} in the log"),
            || {
                if log().contains(text) {
                    return Ok(Some(()));
                }
                match child.try_wait()? {
                    Some(status) => bail!("unterm ended with {status}: {}", log()),
                    None => Ok(None),
                }
            },
            log,
        )
    }

    /// The instance's stdout so far.
    pub fn stdout(&self) -> String {
        fs::read_to_string(self.home().join("stdout")).unwrap_or_default()
    }

    /// The resources of the machine that the instance uses now.
    ///
    /// # Errors
    ///
    /// If the instance has ended.
    pub fn resources(&self) -> Result<Resources> {
        Resources::of(self.pid())
    }

    /// Calls a control method.
    ///
    /// # Errors
    ///
    /// The server's error with its code and message, or a broken connection.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.wire.as_mut().context("no connection")?.call(method, params)
    }

    /// Opens another connection and logs in.
    ///
    /// # Errors
    ///
    /// If the connection is refused.
    pub fn connect(&self) -> Result<Wire> {
        Wire::login(&self.entry)
    }

    /// The first pane.
    ///
    /// # Errors
    ///
    /// If there is no pane.
    pub fn first_pane(&mut self) -> Result<Pane> {
        let first = self.sessions()?.into_iter().next().context("no session")?;
        Ok(Pane { id: first["id"].as_u64().context("session.list gave no id")? })
    }

    /// The sessions, as session.list returns them.
    ///
    /// # Errors
    ///
    /// The server's error.
    pub fn sessions(&mut self) -> Result<Vec<Value>> {
        let list = self.call("session.list", json!({}))?;
        Ok(list["sessions"].as_array().context("session.list gave no sessions")?.clone())
    }

    /// Opens a pane by calling session.create with these parameters.
    ///
    /// # Errors
    ///
    /// The server's error.
    pub fn open(&mut self, params: Value) -> Result<Pane> {
        let created = self.call("session.create", params)?;
        Ok(Pane { id: created["id"].as_u64().context("session.create gave no id")? })
    }

    /// Opens a pane of 80×24 cells that runs a program.
    ///
    /// # Errors
    ///
    /// The server's error.
    pub fn run(&mut self, program: &str, args: &[&str]) -> Result<Pane> {
        self.open(json!({"program": program, "args": args, "cols": 80, "rows": 24}))
    }

    /// Runs `unterm-cli` against this instance.
    ///
    /// # Errors
    ///
    /// If `unterm-cli` can't be started.
    pub fn cli(&self, args: &[&str]) -> Result<Output> {
        Command::new(binary("unterm-cli"))
            .args(args)
            .env_clear()
            .env("HOME", self.home())
            .env("UNTERM_HOME", &self.registry)
            .env("LANG", "C.UTF-8")
            .output()
            .context("starting unterm-cli")
    }

    /// The output of an `unterm-cli` command that must succeed.
    ///
    /// # Errors
    ///
    /// If the command fails, with its error message.
    pub fn prints(&self, args: &[&str]) -> Result<String> {
        let output = self.cli(args)?;
        ensure!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The error message of an `unterm-cli` command that must fail with code 1.
    ///
    /// # Errors
    ///
    /// If the command ends with another code.
    pub fn complains(&self, args: &[&str]) -> Result<String> {
        let output = self.cli(args)?;
        ensure!(output.status.code() == Some(1), "{args:?}: {}", describe(output.status));
        Ok(String::from_utf8(output.stderr)?)
    }

    /// Performs a window action with `unterm-cli action`. The second word is the action's argument, if it needs one.
    ///
    /// # Errors
    ///
    /// If the action fails, with its error message.
    pub fn act(&self, words: &[&str]) -> Result<()> {
        self.prints(&[&["action"], words].concat()).map(drop)
    }

    /// Sends SIGTERM to the instance.
    ///
    /// # Errors
    ///
    /// If the instance has already ended.
    pub fn terminate(&self) -> Result<()> {
        let pid = rustix::process::Pid::from_raw(self.pid() as i32).context("no process")?;
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).context("SIGTERM")
    }

    /// Waits until the instance has ended by itself.
    ///
    /// # Errors
    ///
    /// If the instance keeps running.
    pub fn wait_for_exit(&mut self) -> Result<ExitStatus> {
        let child = self.child.as_mut().context("ended before")?;
        let log = &self.log;
        let status = wait_for(
            "the end of unterm",
            || Ok(child.try_wait()?),
            || fs::read_to_string(log).unwrap_or_default(),
        )?;
        self.child = None;
        Ok(status)
    }

    fn wait_for_entry(&mut self) -> Result<Value> {
        let pid = self.pid();
        let instances = self.registry.join("instances");
        let child = self.child.as_mut().context("not started")?;
        let log = &self.log;
        let read_log = || fs::read_to_string(log).unwrap_or_default();
        wait_for(
            "its registry entry",
            || {
                if let Some(status) = child.try_wait()? {
                    bail!("unterm ended with {status}: {}", read_log());
                }
                let Ok(entries) = fs::read_dir(&instances) else { return Ok(None) };
                for entry in entries {
                    let Ok(text) = fs::read_to_string(entry?.path()) else { continue };
                    // The instance creates the file first and writes it later, so an empty file is not complete yet.
                    let Ok(record) = serde_json::from_str::<Value>(&text) else { continue };
                    if record["pid"] == pid {
                        return Ok(Some(record));
                    }
                }
                Ok(None)
            },
            read_log,
        )
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let pid = rustix::process::Pid::from_child(&child);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            let ended = wait_for("its end", || Ok(child.try_wait()?), String::new);
            if ended.is_err() {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
        if std::thread::panicking() {
            eprintln!("--- the log of unterm\n{}---", self.log());
        }
    }
}

/// Describes how a process ended, for a test's message.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".into(),
    }
}

/// A connection to the control port. It implements the protocol without using the server's code, so that a mistake
/// can't be in both.
pub struct Wire {
    stream: BufReader<TcpStream>,
    next_id: u64,
}

impl Wire {
    /// Connects to the instance of a registry record, and logs in.
    ///
    /// # Errors
    ///
    /// If the record or the connection is unusable, or the token is refused.
    pub fn login(entry: &Value) -> Result<Self> {
        let port = entry["mcp_port"].as_u64().context("no mcp_port")?;
        let stream = TcpStream::connect(("127.0.0.1", port as u16))?;
        stream.set_nodelay(true)?;
        // Wait longer than any timeout of the server.
        stream.set_read_timeout(Some(PATIENCE + Duration::from_secs(30)))?;
        let mut wire = Self { stream: BufReader::new(stream), next_id: 1 };
        wire.call("auth.login", json!({"token": entry["auth_token"]}))?;
        Ok(wire)
    }

    /// Calls a method and waits for the reply.
    ///
    /// # Errors
    ///
    /// The server's error with its code and message, or a broken connection.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line).with_context(|| format!("waiting for {method}"))?;
        let mut reply: Value = serde_json::from_str(&line)
            .with_context(|| format!("{method} was answered with {line:?}"))?;
        if reply["id"] != id {
            bail!("{method} was answered out of turn: {line}");
        }
        if let Some(error) = reply.get("error") {
            bail!(
                "{method} failed [{}]: {}",
                error["code"],
                error["message"].as_str().unwrap_or_default()
            );
        }
        Ok(reply["result"].take())
    }
}

/// Writes settings for every shell: the same prompt, and no questions at the first start.
fn write_shell_settings(home: &Path) -> Result<()> {
    let write = |name: &str, text: String| -> Result<()> {
        let path = home.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(path, text)?)
    };
    let bash = format!("PS1='{PROMPT}'\nPROMPT_COMMAND=\nHISTFILE=\n");
    write(".bashrc", bash.clone())?;
    write(".bash_profile", bash)?;
    write(".zshrc", format!("PROMPT='{PROMPT}'\nunsetopt PROMPT_SP\n"))?;
    write(
        ".config/fish/config.fish",
        format!(
            "set -g fish_greeting\nfunction fish_prompt; echo -n '{PROMPT}'; end\nfunction fish_right_prompt; end\n"
        ),
    )?;
    // Without this folder, fish reads all manual pages in the background, for minutes.
    fs::create_dir_all(home.join(".local/share/fish/generated_completions"))?;
    write(".gitconfig", "[user]\nname = Tester\nemail = tester@example.invalid\n".into())?;
    Ok(())
}
