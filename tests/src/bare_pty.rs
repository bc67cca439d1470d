//! The lower bound of every end-to-end measurement: a program on a pty without a terminal.

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::Winsize,
};

/// A query for the cursor's position (DSR 6). The test answers it when it is the last output. So the answer proves to
/// the program that all its output was read.
const QUESTION: &[u8] = b"\x1b[6n";

/// Starts a program on a pty of this size, without a terminal. Returns the reader's end of the pty, and the process.
///
/// # Errors
///
/// If the program can't be started.
pub fn start_on_pty(cols: u16, rows: u16, words: &[impl AsRef<OsStr>]) -> Result<(File, Child)> {
    let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&pty)?;
    unlockpt(&pty)?;
    let name = ptsname(&pty, Vec::new())?.into_string()?;
    let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&pty, size)?;
    let terminal = File::options().read(true).write(true).open(name)?;
    // `setsid --ctty` makes the pty the program's /dev/tty.
    let child = Command::new("setsid")
        .arg("--ctty")
        .args(words)
        .stdin(Stdio::from(terminal.try_clone()?))
        .stdout(Stdio::from(terminal.try_clone()?))
        .stderr(Stdio::from(terminal))
        .spawn()
        .context("starting setsid")?;
    Ok((File::from(pty), child))
}

/// Runs a program on a pty of this size until it ends, and discards its output.
///
/// # Errors
///
/// If the program can't be started, or fails.
pub fn run_and_throw_away(cols: u16, rows: u16, words: &[impl AsRef<OsStr>]) -> Result<()> {
    let (mut pty, mut child) = start_on_pty(cols, rows, words)?;
    let mut buffer = vec![0; 64 << 10];
    // On Linux, the end of the pty is an error (EIO).
    while let Ok(count) = pty.read(&mut buffer) {
        if count == 0 {
            break;
        }
        if buffer[..count].ends_with(QUESTION) {
            pty.write_all(b"\x1b[1;1R")?;
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "the program on the floor ended with {status}");
    Ok(())
}
