//! A pane's program: the foreground process, its working directory, and signals to it.
//!
//! Chooses between the directory that the program reports and the directory that the system reports. Never assumes that
//! the program is a child of this process.

use std::{io, path::PathBuf, sync::atomic::Ordering};

use super::Pane;
use crate::{Foreground, Signal, uri};

/// The working directory of a pane's program.
enum Cwd {
    Here(PathBuf),
    /// The directory is on another host. Contains the reported URI.
    Elsewhere(String),
}

impl Pane {
    /// The process group in the foreground.
    pub fn foreground(&self) -> Option<Foreground> {
        self.process.foreground()
    }

    /// The name of the foreground program without its folder, or of the pane's own program if the foreground is unknown.
    pub fn program_name(&self) -> String {
        self.name_of_program(self.foreground().as_ref())
    }

    /// Like [`Pane::program_name`], for a caller that has already looked at the foreground.
    pub fn name_of_program(&self, foreground: Option<&Foreground>) -> String {
        let name = foreground.map(|process| process.name.clone());
        let name = name.or_else(|| self.process.front_name());
        let name = name.as_deref().unwrap_or(self.process.program());
        name.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// The working directory as a URI: `file:///path` on this machine, `file://host/path` on another machine. Empty if
    /// unknown.
    pub fn cwd_uri(&self) -> String {
        match self.cwd() {
            Some(Cwd::Here(path)) => uri::from_path(&path),
            Some(Cwd::Elsewhere(uri)) => uri,
            None => String::new(),
        }
    }

    /// The working directory as a local path, for a new pane beside this one. If the program reports another host, this
    /// is the directory of the local process. `None` if the directory no longer exists.
    pub fn cwd_path(&self) -> Option<PathBuf> {
        let path = match self.cwd()? {
            Cwd::Here(path) => Some(path),
            Cwd::Elsewhere(_) => self.process.cwd(),
        };
        path.filter(|path| path.is_dir())
    }

    /// The working directory from OSC 7, or else from the system. The system's directory is used if a program entered
    /// the foreground since the last report, because that program may have changed it. It is also used if the system's
    /// directory of the shell differs from the reported directory: the shell may have sent its report before its last
    /// command.
    fn cwd(&self) -> Option<Cwd> {
        let reported = self.term.lock().cwd().map(str::to_owned);
        let Some(reported) = reported else { return self.process.cwd().map(Cwd::Here) };
        let front = self.process.group_in_front();
        let is_newer =
            front.is_some_and(|front| front != self.cwd_reporter.load(Ordering::Acquire));
        let newer = if is_newer { self.process.program_cwd() } else { None };
        let Some(path) = uri::to_local_path(&reported) else {
            return Some(newer.map_or(Cwd::Elsewhere(reported), Cwd::Here));
        };
        let own = newer.or_else(|| self.process.shell_cwd()).filter(|own| {
            // The shell reports the path of a symlink, the system the path of its target. Compare the resolved paths.
            path.canonicalize().ok().as_ref() != Some(own)
        });
        Some(Cwd::Here(own.unwrap_or(path)))
    }

    /// Sends a signal to the foreground process group.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        self.process.signal(signal)
    }
}
