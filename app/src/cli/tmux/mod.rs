//! `unterm-cli tmux` and `unterm-cli tmux-shim`: the program `tmux` for other programs.
//!
//! `tmux` passes its arguments to an instance, and does what the instance asks for: it prints, reads and writes files,
//! and runs shell commands. `tmux-shim` starts a program that finds this `tmux` first on its `PATH`.

mod client;
mod shim;

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use unterm_control::{
    client::{self as instances, BlockingStream, Client, ClientError, Endpoint},
    tmux::{asks_version, program_version},
};

use crate::cli::{complain, report::write_out};

pub use shim::run as run_shim;

/// Runs `tmux` with these arguments.
///
/// # Errors
/// Fails if standard output can't be written.
pub fn run(home: &Path, instance: Option<&str>, args: &[String]) -> Result<ExitCode> {
    if asks_version(args) {
        write_out(&(program_version() + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let around = std::env::var("UNTERM_INSTANCE").ok().filter(|id| !id.is_empty());
    // The pane belongs to the instance that started this program, not to another one that `--instance` names.
    let is_around = instance.is_none() || instance == around.as_deref();
    match connect(home, instance, around.as_deref()) {
        Ok(stream) => client::talk(stream, client::hello(args, is_around)),
        Err(error) => {
            complain(&format!("error connecting to Unterm: {error}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Connects to the instance with this name. Without a name, connects to the instance whose pane this program runs in, or
/// else to the active one.
fn connect(
    home: &Path,
    instance: Option<&str>,
    around: Option<&str>,
) -> Result<BlockingStream, ClientError> {
    if let Some(name) = instance {
        return Client::tmux(&instances::find_by_name(home, name)?);
    }
    let around = around.and_then(|name| instances::find_by_name(home, name).ok());
    let mut refusal = None;
    for endpoint in around.into_iter().chain(instances::find(home)).collect::<Vec<Endpoint>>() {
        match Client::tmux(&endpoint) {
            Err(error @ ClientError::Call { .. }) => refusal = refusal.or(Some(error)),
            // The instance has ended or is ending.
            Err(_) => {}
            connected => return connected,
        }
    }
    Err(refusal.unwrap_or_else(|| ClientError::NotRunning { home: home.to_owned() }))
}
