//! A keeper in a folder of its own, and programs to start.

use std::{
    ffi::OsString,
    os::fd::{AsFd, AsRawFd as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, Signal},
};
use unterm_keeper::{Client, Ending, Exit, Held, Launcher, Origin, Program, Start};

pub(crate) mod raw;

/// The longest time to wait for something that must happen.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A folder for one keeper. Dropping it ends the keeper.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    pub(crate) launcher: Launcher,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("keeper.sock");
        let program = env!("CARGO_BIN_EXE_unterm-keeper").into();
        Self { folder, launcher: Launcher { program, socket } }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.launcher.socket
    }

    pub(crate) fn connect(&self) -> Client {
        self.launcher.connect("test").unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path().join("keeper.log")).unwrap_or_default()
    }

    pub(crate) fn wait_log(&self, text: &str) {
        wait(text, || self.log().contains(text));
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Ok(client) = Client::connect(self.socket(), "end") {
            kill(client.keeper().pid, Signal::KILL);
        }
    }
}

pub(crate) fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits until a condition is true. Checks it repeatedly, because no event reports it.
pub(crate) fn wait(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < end, "{what} does not come");
        std::thread::yield_now();
    }
}

/// A start of `sh -c script`.
pub(crate) fn sh(script: &str) -> Start {
    let path = std::env::var_os("PATH").unwrap();
    Start {
        program: Program {
            file: "/bin/sh".into(),
            arg0: "sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("PATH".into(), path), ("TERM".into(), "inherited".into())],
            cwd: "/".into(),
            umask: Some(0o22),
            open_files: None,
        },
        variables: vec![("TERM".into(), "xterm-256color".into())],
        size: [80, 24, 0, 0],
        origin: Origin { pane: Some(3), command: vec!["sh".into()], nonce: "secret".into() },
        ..Start::default()
    }
}

/// Waits until a descriptor is ready to read.
pub(crate) fn wait_readable(fd: impl AsFd) {
    let limit = Timespec::try_from(LIMIT).unwrap();
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    assert_eq!(
        poll(&mut fds, Some(&limit)),
        Ok(1),
        "nothing comes from {}",
        fd.as_fd().as_raw_fd()
    );
}

/// Reads output of a program until it contains `text`.
pub(crate) fn read_until(held: &Held, text: &str) -> String {
    let (mut buffer, mut output) = ([0; 4096], String::new());
    while !output.contains(text) {
        wait_readable(&held.master);
        match rustix::io::read(&held.master, &mut buffer) {
            Ok(count) => output.push_str(&String::from_utf8_lossy(&buffer[..count])),
            Err(Errno::AGAIN) => {}
            Err(error) => panic!("{error} after {output:?}, without {text:?}"),
        }
    }
    output
}

pub(crate) fn write(held: &Held, text: &str) {
    assert_eq!(rustix::io::write(&held.master, text.as_bytes()), Ok(text.len()));
}

/// Waits for a program's end.
pub(crate) fn wait_end(held: &Held) -> Ending {
    wait_readable(&held.exit);
    match held.exit.read() {
        Exit::Ended(ending) => ending,
        exit => panic!("{exit:?}"),
    }
}

/// The process id of a pane's program.
pub(crate) fn pid(held: &Held) -> i32 {
    held.pid.as_raw_nonzero().get()
}

/// The state of a process as a letter. `None` if there is no such process.
pub(crate) fn state(pid: i32) -> Option<u8> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.bytes().next()
}

/// Whether a process exists and is not a zombie.
pub(crate) fn runs(pid: i32) -> bool {
    state(pid).is_some_and(|state| state != b'Z')
}

/// The targets of a process's descriptors.
pub(crate) fn descriptors(pid: u32) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    folder.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok()).collect()
}

/// A line of `/proc/PID/status`, without its name.
pub(crate) fn status_line(pid: u32, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {name}")).trim().to_owned()
}

pub(crate) fn os(text: &str) -> OsString {
    text.into()
}
