//! Checks the connection from this machine to its hub, step by step.

use std::{path::Path, process::ExitCode, time::Duration};

use anyhow::{Context as _, Result, ensure};
use unterm_control::client;
use unterm_fleet::connector::{self, Connection};

/// The maximum time to wait for NATS.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs each check and prints its result. Stops at the first check that fails.
pub async fn examine(home: &Path) -> ExitCode {
    match steps(home).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed  {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn steps(home: &Path) -> Result<()> {
    let connection = Connection::read(home)?;
    let connection = connection
        .context("this machine is not paired: get a code in the hub's dashboard, and run `unterm-cli connect`")?;
    println!("ok      paired with {} as machine {}", connection.hub(), connection.machine()?);
    let servers = connection.credentials().servers.join(", ");
    let reached = tokio::time::timeout(PATIENCE, connector::check(&connection)).await;
    reached.with_context(|| format!("NATS does not answer at {servers}"))??;
    println!("ok      NATS at {servers} accepts this machine's key, and a hub answers");
    let running = client::running(home);
    ensure!(
        !running.is_empty(),
        "no Unterm runs; the connector starts one unless --no-headless forbids it"
    );
    println!("ok      live instances: {}", running.join(", "));
    let sessions = connector::sessions(home, connection).await;
    ensure!(
        !sessions.is_empty(),
        "no session can be read: was the token `fleet: …` revoked? `unterm-cli token list` shows tokens. Pair again to make one."
    );
    println!("ok      sessions that the hub sees: {}", sessions.len());
    Ok(())
}
