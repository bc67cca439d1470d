//! `unterm-cli tmux-shim`: starts a program that finds Unterm's `tmux` first on its `PATH`.

use std::{
    ffi::OsString,
    io::Write as _,
    os::unix::{fs::OpenOptionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result};
use unterm_control::client::live;
use unterm_mux::{private, quote};

use crate::{cli::own_pane::OwnPane, own_program};

/// The folder in Unterm's home directory that contains the program `tmux`.
const FOLDER: &str = "tmux-shim";

/// Replaces this process with a program.
///
/// # Errors
/// Fails if the program can't be started, or the folder with `tmux` can't be written.
pub fn run(home: &Path, instance: Option<&str>, command: &[String]) -> Result<ExitCode> {
    let folder = install(home).with_context(|| home.join(FOLDER).display().to_string())?;
    let (program, args) = command.split_first().context("name a program to start")?;
    let mut started = Command::new(program);
    started.args(args).env("PATH", path(&folder)?);
    for name in ["TMUX", "TMUX_PANE"] {
        started.env_remove(name);
    }
    match (OwnPane::of_environment(), instance) {
        (Some(own), None) => {
            started.env("TMUX", server(home, &own.instance));
            started.env("TMUX_PANE", format!("%{}", own.session));
        }
        (_, Some(instance)) => {
            // Remove this variable, because the program runs in no pane of that instance.
            started.env("UNTERM_INSTANCE", instance).env_remove("UNTERM_PANE");
        }
        (None, None) => {}
    }
    let error = started.exec();
    Err(error).with_context(|| format!("cannot start {program}"))
}

/// The value of `TMUX`: the socket, the process id, and the number of the session.
fn server(home: &Path, instance: &str) -> String {
    let record = live(home).into_iter().find(|record| record.id == instance);
    let socket = record.as_ref().and_then(|record| record.socket.clone());
    let socket = socket.unwrap_or_else(|| home.join(instance).display().to_string());
    format!("{socket},{},0", record.map_or(0, |record| record.pid))
}

/// A `PATH` that begins with a folder.
fn path(folder: &Path) -> Result<OsString> {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let rest = std::env::split_paths(&rest).filter(|other| other != folder);
    Ok(std::env::join_paths(std::iter::once(folder.to_owned()).chain(rest))?)
}

/// Writes the program `tmux`, and returns its folder.
fn install(home: &Path) -> Result<PathBuf> {
    let folder = home.join(FOLDER);
    private::create_folder(&folder)?;
    let file = folder.join("tmux");
    let program = own_program::beside("unterm-cli")?;
    let program = quote::posix(&program.to_string_lossy());
    let script = format!("#!/bin/sh\nexec {program} tmux \"$@\"\n");
    if private::read_text_of_anyone(&file, 4096).is_ok_and(|old| old == script) {
        return Ok(folder);
    }
    // A program may be starting the old file, so the new one replaces it at once.
    let new = folder.join(format!("tmux.{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    let mut out = options.write(true).create(true).truncate(true).mode(0o700).open(&new)?;
    out.write_all(script.as_bytes())?;
    drop(out);
    std::fs::rename(&new, &file)?;
    Ok(folder)
}
