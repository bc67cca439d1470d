//! A background job of a pane. Plain data, filled in by the platform files.

use std::time::Duration;

/// A process group of a pane's terminal that is not in the foreground: running in the background, or stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its process group.
    pub group: i32,
    /// The command lines of its processes.
    pub command: String,
    /// Whether it is stopped, for example by Ctrl+Z.
    pub is_stopped: bool,
    /// How long ago its first process was started.
    pub age: Duration,
}
