//! Processes that tests start besides Unterm. They inherit nothing from the test's environment except `PATH`, and end
//! when their owner is dropped.

use std::{
    path::Path,
    process::{Child, Command},
};

/// A process. On drop, it is ended with SIGTERM, so that it removes its sockets and lock files.
pub(crate) struct OwnedProcess(pub Child);

impl OwnedProcess {
    /// Ends the program at once, with SIGKILL.
    pub(crate) fn kill(mut self) -> std::io::Result<()> {
        self.0.kill()
    }
}

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

/// A program that inherits only `PATH` from the test's environment.
pub(crate) fn bare(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("LANG", "C.UTF-8");
    command
}
