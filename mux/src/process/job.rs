//! A background job of a pane. Plain data: the platform files fill it in.

use std::time::Duration;

/// A process group of a pane's terminal that is not in its foreground: a background job, or one that is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its process group.
    pub group: i32,
    /// The command lines of its processes.
    pub command: String,
    /// It is stopped, as by Ctrl+Z.
    pub is_stopped: bool,
    /// How long it has been there.
    pub age: Duration,
}
