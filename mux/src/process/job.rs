//! A background job of a pane. The platform files fill in the data.

use std::time::Duration;

/// A process group of a pane's terminal that is not in the foreground. It runs in the background or is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The number of the process group.
    pub group: i32,
    /// The command lines of the job's processes.
    pub command: String,
    /// Whether the job is stopped, for example by Ctrl+Z.
    pub is_stopped: bool,
    /// The time since the first process of the job was started.
    pub age: Duration,
}
