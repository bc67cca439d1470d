//! Opens ptys.
//!
//! portable-pty opens descriptors first and marks them close-on-exec later: a program that another thread starts in
//! between would inherit a pane's terminal. On Linux, each descriptor here is close-on-exec from its creation. macOS
//! can mark a master only after opening it.

use std::{ffi::CString, io, os::fd::OwnedFd};

use rustix::{
    fs::Mode,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{InputModes, OptionalActions, Winsize},
};

/// A new pty, whose terminal no program uses yet.
#[derive(Debug)]
pub struct Pty {
    /// The side of the terminal emulator. It is non-blocking.
    pub master: OwnedFd,
    /// The side of the program.
    pub terminal: OwnedFd,
    /// The name of the terminal device, such as `/dev/pts/3`. `None` if the system does not report it.
    pub name: Option<CString>,
}

impl Pty {
    /// Opens a pty with a terminal of this size.
    ///
    /// # Errors
    /// If the system refuses, for example because all ptys are in use.
    pub fn open(size: Winsize) -> io::Result<Self> {
        let (master, terminal) = open()?;
        rustix::termios::tcsetwinsize(&terminal, size)?;
        rustix::io::ioctl_fionbio(&master, true)?;
        if let Ok(mut termios) = rustix::termios::tcgetattr(&master) {
            // Make the line discipline erase whole characters.
            termios.input_modes |= InputModes::IUTF8;
            rustix::termios::tcsetattr(&master, OptionalActions::Now, &termios)?;
        }
        let name = rustix::termios::ttyname(&terminal, Vec::new()).ok();
        Ok(Self { master, terminal, name })
    }
}

#[cfg(target_os = "linux")]
fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let terminal = match rustix::pty::ioctl_tiocgptpeer(&master, flags) {
        Ok(terminal) => terminal,
        // The kernel is older than 4.13, or a sandbox rejects the call.
        Err(_) => {
            rustix::fs::open(ptsname(&master, Vec::new())?.as_c_str(), flags.into(), Mode::empty())?
        }
    };
    Ok((master, terminal))
}

#[cfg(not(target_os = "linux"))]
fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::{
        fs::OFlags,
        io::{FdFlags, fcntl_setfd},
    };
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&master, FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal =
        rustix::fs::open(ptsname(&master, Vec::new())?.as_c_str(), flags, Mode::empty())?;
    Ok((master, terminal))
}
