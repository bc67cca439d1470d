//! The instance that a relay connects to: a running instance, or one that the relay starts.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use unterm_control::{
    client::{self, BlockingStream, Client, ClientError, Endpoint},
    held::{self, Hold},
};

/// A connection to an instance, and the handles that keep the instance running.
pub(super) struct Link {
    pub(super) stream: BlockingStream,
    /// Keeps an instance running that would end with its last client.
    _hold: Option<Hold>,
    /// Keeps an instance running that this relay started.
    _own: Option<StartedInstance>,
}

impl Link {
    /// Connects to the instance with this name. Without a name, connects to the instance whose pane this process runs
    /// in, or else to the active instance, or else to a new instance.
    pub(super) fn open(home: &Path, instance: Option<&str>, toolset: &str) -> Result<Self> {
        if let Some(name) = instance {
            return Ok(Self::join(home, &client::find_by_name(home, name)?, toolset)?);
        }
        if let Some(link) = Self::to_running(home, toolset)? {
            return Ok(link);
        }
        // Wait for other relays that are starting an instance, so that relays that start at the same moment share one.
        let _turn = turn(home);
        if let Some(link) = Self::to_running(home, toolset)? {
            return Ok(link);
        }
        let own = StartedInstance::start()?;
        let endpoint = client::find_by_name(home, &own.id)?;
        let stream = Client::model_context(&endpoint, toolset)?;
        Ok(Self { stream, _hold: None, _own: Some(own) })
    }

    /// Connects to a running instance. Returns `None` if there is none.
    fn to_running(home: &Path, toolset: &str) -> Result<Option<Self>> {
        let around = std::env::var("UNTERM_INSTANCE").ok();
        let around = around.and_then(|name| client::find_by_name(home, &name).ok());
        let mut refusal = None;
        let endpoints: Vec<Endpoint> = around.into_iter().chain(client::find(home)).collect();
        for endpoint in endpoints {
            match Self::join(home, &endpoint, toolset) {
                Ok(link) => return Ok(Some(link)),
                Err(error @ ClientError::Call { .. }) => refusal = refusal.or(Some(error)),
                // Ignore the error, because the instance has ended or is ending.
                Err(_) => {}
            }
        }
        match refusal {
            Some(refusal) => Err(refusal.into()),
            None => Ok(None),
        }
    }

    /// Prevents an instance from ending, and then connects to it.
    fn join(home: &Path, endpoint: &Endpoint, toolset: &str) -> Result<Self, ClientError> {
        let hold = held::hold(home, endpoint.port).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::other("it is ending"),
            _ => error,
        })?;
        Ok(Self { stream: Client::model_context(endpoint, toolset)?, _hold: hold, _own: None })
    }
}

/// Locks out other relays that want to start an instance. Returns `None` if that fails, because starting an additional
/// instance is better than starting none.
fn turn(home: &Path) -> Option<File> {
    let folder = home.join("relays");
    let created = unterm_mux::private::create_folder(&folder);
    let locked = created.and_then(|()| unterm_control::lock(&folder));
    locked.inspect_err(|error| tracing::debug!(%error, "other relays may start one as well")).ok()
}

/// A headless instance that this relay started. If its standard input is closed, for example because the relay was
/// killed, it ends with its last client.
struct StartedInstance {
    process: Child,
    /// The output of the instance. It prints its id at its start. At its end, it prints another line only if other
    /// clients still use it.
    out: BufReader<ChildStdout>,
    id: String,
}

impl StartedInstance {
    /// Starts the instance, and waits until it accepts clients.
    fn start() -> Result<Self> {
        let program = crate::own_program::beside("unterm")?;
        let mut command = Command::new(&program);
        // Other clients may also use the instance, so Ctrl+C in this terminal must not end it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command
            .args(["--headless", "--with-stdin"])
            // Log only warnings, because MCP clients show output on standard error as errors.
            .env(
                "UNTERM_LOG",
                std::env::var_os("UNTERM_LOG").unwrap_or_else(|| "warn,rmcp=off".into()),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut id = String::new();
        let out = process.stdout.take().context("it has no output")?;
        let mut out = BufReader::new(out);
        out.read_line(&mut id)?;
        let id = id.trim_end().to_owned();
        if id.is_empty() {
            let how = process.wait()?;
            bail!("{} ended before it could be driven ({how})", program.display());
        }
        Ok(Self { process, out, id })
    }
}

impl Drop for StartedInstance {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let mut held = String::new();
        if self.out.read_line(&mut held).is_ok_and(|length| length > 0) {
            return;
        }
        let _ = self.process.wait();
    }
}
