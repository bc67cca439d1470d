//! `unterm-cli transfer`: copies files over the terminal (OSC 5113), between the machine that this program runs on and the
//! machine of the terminal. Needs no instance: the terminal can be on another machine, behind ssh.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Subcommand;
use serde_json::json;
use unterm_control::escaped;
use unterm_mux::transfer::{Channel, TransferError, Transferred, fetch, put};

use crate::cli::report::Report;

/// File transfers over the terminal.
#[derive(Subcommand)]
pub enum TransferCommand {
    /// Copy files and folders from here to the terminal's machine.
    ///
    /// The terminal asks its user. Unterm puts the files into the user's folder for downloads, and never replaces files.
    Send {
        /// Files and folders.
        #[arg(required = true, value_hint = clap::ValueHint::AnyPath)]
        paths: Vec<PathBuf>,
        /// Folder on the terminal's machine, such as `reports`. Relative to the home folder there, or in Unterm to the folder
        /// for downloads.
        #[arg(long, value_name = "FOLDER", default_value = "~")]
        to: String,
    },
    /// Copy files and folders from the terminal's machine to here. Never replaces files.
    ///
    /// The terminal asks its user. Unterm reads only the user's folder for downloads, and at most six paths at once.
    Receive {
        /// Files and folders on the terminal's machine, such as `data.csv`. Relative to the home folder there, or in Unterm to
        /// the folder for downloads.
        #[arg(required = true)]
        paths: Vec<String>,
        /// Folder here. It is created if it is missing.
        #[arg(long, value_name = "FOLDER", default_value = ".", value_hint = clap::ValueHint::DirPath)]
        to: PathBuf,
    },
}

/// Copies the files.
///
/// # Errors
/// Fails if this does not run in a terminal, if the terminal or its user refuses, or if the user interrupts it.
pub fn run(command: &TransferCommand) -> Result<Report> {
    let mut channel = Channel::open(Path::new("/dev/tty")).map_err(|error| match error {
        TransferError::Terminal(error) => {
            anyhow::anyhow!("this does not run in a terminal: /dev/tty: {error}")
        }
        error => error.into(),
    })?;
    let name = channel.terminal_name()?;
    channel.show("Waiting for permission: the terminal asks its user. Ctrl+C cancels.")?;
    let done = match command {
        TransferCommand::Send { paths, to } => put(&mut channel, paths, to),
        TransferCommand::Receive { paths, to } => fetch(&mut channel, paths, to),
    };
    // Restore the terminal's mode before anything is printed.
    drop(channel);
    Ok(report(command, &done?, &name))
}

fn report(command: &TransferCommand, done: &Transferred, terminal: &str) -> Report {
    let Transferred { files, bytes, failures } = done;
    let failed: Vec<_> =
        failures.iter().map(|(path, why)| json!({ "path": path, "error": why })).collect();
    let json = json!({ "files": files, "bytes": bytes, "failures": failed, "terminal": terminal });
    let what = match files {
        1 => format!("1 file ({bytes} bytes)"),
        _ => format!("{files} files ({bytes} bytes)"),
    };
    let text = match command {
        TransferCommand::Send { .. } => format!("Sent {what}\n"),
        TransferCommand::Receive { to, .. } => format!("Received {what} in {}\n", to.display()),
    };
    if failures.is_empty() {
        return Report::new(text, json);
    }
    let line = |path: &str, why: &str| format!("{}: {}\n", escaped(path), escaped(why));
    let lines = failures.iter().map(|(path, why)| line(path, why));
    Report::failure(&(text + &lines.collect::<String>()), json)
}
