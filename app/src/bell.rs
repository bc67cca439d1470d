//! The audible bell: the bell of the X server, or a program that plays a sound.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Rings the bell. Waits until the command has ended, or until the X server has replied.
///
/// # Errors
/// Fails if the command can't be started, or if there is no X server.
pub(crate) fn ring(audible: bool, command: &[String]) -> Result<()> {
    if let Some((program, args)) = command.split_first() {
        return run(program, args);
    }
    if audible { ring_system() } else { Ok(()) }
}

fn run(program: &str, args: &[String]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().with_context(|| program.to_owned())?;
    Ok(())
}

/// Rings the bell of the X server. On Wayland, this is the bell of Xwayland, and the desktop decides whether to play
/// it.
#[cfg(all(unix, not(target_os = "macos")))]
fn ring_system() -> Result<()> {
    use x11rb::{connection::Connection, protocol::xproto::ConnectionExt};
    let (connection, _) = x11rb::connect(None).context(
        "There is no X server to ring it; set bell.command to a program that plays a sound",
    )?;
    // A volume of 0 percent means the user's own volume (X11 protocol, Bell).
    connection.bell(0)?;
    connection.flush()?;
    connection.get_input_focus()?.reply()?;
    Ok(())
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn ring_system() -> Result<()> {
    anyhow::bail!("Set bell.command to a program that plays a sound")
}
