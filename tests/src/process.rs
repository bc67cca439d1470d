//! Processes that tests start beside Unterm: with nothing of the test's environment, and gone with what holds them.

use std::{
    path::Path,
    process::{Child, Command},
};

/// A process; ended when dropped, by SIGTERM, so that it removes its sockets and lock files.
pub(crate) struct Ended(pub Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

/// A program with nothing of the test's environment but the path.
pub(crate) fn bare(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("LANG", "C.UTF-8");
    command
}
