//! Sets the colors of new tabs and panes in the way a program would: writes OSC 6;1;bg (iTerm2's "Proprietary Escape
//! Codes") to the terminal's device.

use std::{fs::OpenOptions, io::Write, os::unix::fs::OpenOptionsExt};

use rustix::fs::OFlags;

/// A color: red, green and blue.
pub type Color = (u8, u8, u8);
/// The color of a new tab.
pub const PURPLE: Color = (124, 58, 237);
/// The color of a split pane.
pub const BLUE: Color = (59, 130, 246);

/// Sets a tab's color. If the terminal accepts no input now, the color stays unchanged, because a color justifies
/// neither a wait nor an error.
pub async fn tab(tty: &str, (red, green, blue): Color) {
    if !tty.starts_with("/dev/") {
        return;
    }
    let channels = [("red", red), ("green", green), ("blue", blue)];
    let painted: String =
        channels.map(|(name, value)| format!("\x1b]6;1;bg;{name};brightness;{value}\x07")).concat();
    let path = tty.to_owned();
    let paint = tokio::task::spawn_blocking(move || {
        // The device must not become this process's controlling terminal, and a stopped terminal must not block the
        // write.
        let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits() as i32;
        OpenOptions::new().write(true).custom_flags(flags).open(path)?.write_all(painted.as_bytes())
    });
    if let Ok(Err(error)) = paint.await {
        tracing::debug!(tty, %error, "a tab has no color");
    }
}
