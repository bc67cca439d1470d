//! `unterm-cli connect`: becomes `unterm-connect`, a program of its own, so that this one does not link NATS's client.

use std::{
    io,
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result};

/// The program, beside this one or on the PATH.
const PROGRAM: &str = "unterm-connect";

/// Replaces this process.
///
/// # Errors
/// The program is not installed.
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
