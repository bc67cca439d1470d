//! Starts an instance without a window if none is running, so that a hub always finds a session.

use std::{
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::process::Command;
use unterm_control::client;

/// The minimum time between two starts.
const PAUSE: Duration = Duration::from_secs(60);

/// Starts instances in a home directory.
pub struct Headless {
    home: PathBuf,
    started: Option<Instant>,
}

impl Headless {
    /// Creates a starter of instances in this home directory.
    pub fn new(home: PathBuf) -> Self {
        Self { home, started: None }
    }

    /// Starts `unterm --headless` if no instance is running. The instance keeps running after the connector has ended.
    pub async fn start_if_none_runs(&mut self) {
        let is_recent = self.started.is_some_and(|at| at.elapsed() < PAUSE);
        if is_recent || !client::live(&self.home).is_empty() {
            return;
        }
        self.started = Some(Instant::now());
        let program = program();
        let spawned = Command::new(&program)
            .arg("--headless")
            .env("UNTERM_HOME", &self.home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // The instance gets its own process group, so that Ctrl+C in the connector's terminal does not end it.
            .process_group(0)
            .spawn();
        match spawned {
            Ok(mut child) => {
                tracing::info!(program = %program.display(), "started an instance, since none runs");
                tokio::spawn(async move { child.wait().await });
            }
            Err(error) => {
                tracing::warn!(%error, program = %program.display(), "no instance could be started");
            }
        }
    }
}

/// The path of `unterm`: in the folder of this program, or else on the PATH.
fn program() -> PathBuf {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| Some(own.parent()?.join("unterm")));
    beside.filter(|path| path.exists()).unwrap_or_else(|| "unterm".into())
}
