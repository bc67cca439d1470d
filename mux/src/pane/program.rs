//! A pane's program: the process in the foreground, its directory, and signals to it.
//!
//! Owns which of the reported and the system's directory holds. Never assumes that the program is a child of this process.

use std::{io, path::PathBuf, sync::atomic::Ordering};

use super::Pane;
use crate::{Foreground, Signal, uri};

/// Where a pane's program is.
enum Cwd {
    Here(PathBuf),
    /// On another host: the URI that was reported.
    Elsewhere(String),
}

impl Pane {
    /// The process group in the foreground.
    pub fn foreground(&self) -> Option<Foreground> {
        self.process.foreground()
    }

    /// The working directory as a URI: `file:///path` on this machine, `file://host/path` on another; empty if
    /// unknown.
    pub fn cwd_uri(&self) -> String {
        match self.cwd() {
            Some(Cwd::Here(path)) => uri::from_path(&path),
            Some(Cwd::Elsewhere(uri)) => uri,
            None => String::new(),
        }
    }

    /// The working directory as a local path, for a new pane beside this one; that of the process where it is on another
    /// host, `None` when it is gone.
    pub fn cwd_path(&self) -> Option<PathBuf> {
        let path = match self.cwd()? {
            Cwd::Here(path) => Some(path),
            Cwd::Elsewhere(_) => self.process.cwd(),
        };
        path.filter(|path| path.is_dir())
    }

    /// From OSC 7, else from the system. A program that came to the foreground since the last report may have gone
    /// elsewhere: the system tells where it is. A shell may have reported before its last command, or never: where the
    /// system shows the shell in another directory, that one counts.
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
            // The shell reports the name of a link, the system what is behind it.
            path.canonicalize().ok().as_ref() != Some(own)
        });
        Some(Cwd::Here(own.unwrap_or(path)))
    }

    /// Signals the foreground process group.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        self.process.signal(signal)
    }
}
