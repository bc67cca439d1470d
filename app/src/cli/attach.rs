//! `unterm-cli attach`: starts an instance that shows the programs that continue without one.
//!
//! Never takes over a program itself: the new instance does.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Error, Result};

use crate::{own_program, sessions};

/// Starts an instance, and returns at once. `instance` is the name of the instance that left the programs behind.
///
/// # Errors
/// If there is nothing to show, or the program cannot be started.
pub(super) fn run(instance: Option<&str>, is_headless: bool) -> Result<ExitCode> {
    // The instance has no terminal to report this to.
    sessions::check_attach(&unterm_control::home(), instance.unwrap_or_default())
        .map_err(Error::msg)?;
    let program = own_program::beside("unterm").context("cannot find the program unterm")?;
    let mut command = Command::new(&program);
    command.arg(match instance {
        Some(instance) => format!("--attach={instance}"),
        None => "--attach".to_owned(),
    });
    if is_headless {
        command.arg("--headless");
    }
    // The instance must not write to the terminal of its starter, and the starter's end must not end it.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    Ok(ExitCode::SUCCESS)
}
