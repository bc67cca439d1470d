//! `unterm-cli connect`: replaces itself with `unterm-connect`. That is a separate program, so that this program need
//! not include a client for NATS.

use std::{
    io,
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result};

/// The name of the program. It is in the folder of this program, or on the `PATH`.
const PROGRAM: &str = "unterm-connect";

/// Replaces this process with `unterm-connect`.
///
/// # Errors
/// Fails if `unterm-connect` is not installed.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let beside = crate::own_program::beside(PROGRAM)?;
    let program = if beside.exists() { beside } else { PROGRAM.into() };
    let error = Command::new(&program).args(args).exec();
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    Err(error).with_context(|| match is_missing {
        true => format!("{PROGRAM} is not installed; build it with `cargo build -p unterm-fleet`"),
        false => program.display().to_string(),
    })
}
