//! `unterm-cli tmux` and `unterm-cli tmux-shim`: the program `tmux` for other programs.
//!
//! `tmux` passes its arguments to an instance, and carries out the instance's requests: it prints, reads and writes
//! files, and runs shell commands. `tmux-shim` starts a program that finds this `tmux` first on its `PATH`. `tmux-pipe`
//! serves a pipe of `pipe-pane`.

mod answers;
mod client;
mod control_mode;
mod messages;
mod pipe;
mod shim;

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use unterm_control::{
    client::{self as instances, BlockingStream, Client, ClientError, Endpoint},
    tmux::{Control, asks_version, control, program_version},
};

use crate::cli::report::{complain, write_out};

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
    let raw_mode = match control(args) {
        Control::Terminal => match control_mode::RawMode::begin() {
            Ok(mode) => Some(mode),
            Err(error) => {
                complain(&format!("tcgetattr failed: {}", answers::words(&error)));
                return Ok(ExitCode::FAILURE);
            }
        },
        Control::Off | Control::Lines => None,
    };
    match connect(home, instance, around.as_deref()) {
        Ok(stream) => {
            let done = client::talk(stream, messages::hello(args, is_around), instance);
            drop(raw_mode);
            done
        }
        Err(error) => {
            complain(&format!("error connecting to Unterm: {error}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Serves the pipe with this ticket.
///
/// # Errors
/// Fails if no instance is running, or the pipe's command can't be started.
pub fn run_pipe(home: &Path, instance: Option<&str>, ticket: &str) -> Result<ExitCode> {
    let around = std::env::var("UNTERM_INSTANCE").ok().filter(|id| !id.is_empty());
    pipe::serve(endpoints(home, instance, around.as_deref())?, ticket, instance)
}

/// The instance with this name. Without a name, the instance whose pane this program runs in, and then all others.
fn endpoints(
    home: &Path,
    instance: Option<&str>,
    around: Option<&str>,
) -> Result<Vec<Endpoint>, ClientError> {
    if let Some(name) = instance {
        return Ok(vec![instances::find_by_name(home, name)?]);
    }
    let around = around.and_then(|name| instances::find_by_name(home, name).ok());
    let others = instances::find(home).into_iter();
    let all = instances::live(home).into_iter().map(Endpoint::from);
    Ok(around.into_iter().chain(others).chain(all).collect())
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
    let mut refusal = None;
    for endpoint in endpoints(home, None, around)? {
        match Client::tmux(&endpoint) {
            Err(error @ ClientError::Call { .. }) => refusal = refusal.or(Some(error)),
            // The instance has ended or is ending.
            Err(_) => {}
            connected => return connected,
        }
    }
    Err(refusal.unwrap_or_else(|| ClientError::NotRunning { home: home.to_owned() }))
}
