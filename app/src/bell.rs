//! The audible bell: the X server's bell, or a program that plays a sound.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Rings the bell; waits until the command has ended, or until the X server replies.
///
/// # Errors
/// If the command can't be started, or there is no X server.
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

/// Rings the X server's bell. On Wayland, that is Xwayland's, which the desktop may play.
#[cfg(all(unix, not(target_os = "macos")))]
fn ring_system() -> Result<()> {
    use x11rb::{connection::Connection, protocol::xproto::ConnectionExt};
    let (connection, _) = x11rb::connect(None).context(
        "There is no X server to ring it; set bell.command to a program that plays a sound",
    )?;
    // 0 percent: the user's own volume (X11 protocol, Bell).
    connection.bell(0)?;
    connection.flush()?;
    connection.get_input_focus()?.reply()?;
    Ok(())
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn ring_system() -> Result<()> {
    anyhow::bail!("Set bell.command to a program that plays a sound")
}
