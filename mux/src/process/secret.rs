//! Whether a line is read without echo in a terminal of this machine, as for a password.

use std::os::fd::AsFd;

use rustix::termios::{LocalModes, tcgetattr};

/// Whether a line is read without echo in a terminal.
pub(super) fn reads_secret(terminal: impl AsFd) -> bool {
    tcgetattr(terminal).is_ok_and(|termios| {
        let modes = termios.local_modes;
        modes.contains(LocalModes::ICANON) && !modes.contains(LocalModes::ECHO)
    })
}
