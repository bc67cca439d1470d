//! The limits of plugins.

use std::time::Duration;

/// The limits of plugins. The default of a limit that the protocol defines is the protocol's value.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The maximum number of steps of one call: loop iterations, calls, returns, and attempts to match a pattern.
    pub steps: u64,
    /// The maximum time of one call.
    pub time: Duration,
    /// The additional time after [`Limits::time`]. If a call has not ended by then, its thread is abandoned.
    pub grace: Duration,
    /// The maximum memory of one instance, in bytes.
    pub memory: usize,
    /// The maximum number of instances at the same time.
    pub instances: usize,
    /// The number of abandoned threads at which no instance starts a new thread.
    pub abandoned: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 5_000_000,
            time: Duration::from_secs(5),
            grace: Duration::from_secs(1),
            memory: 32 << 20,
            instances: 64,
            abandoned: 4,
        }
    }
}

/// The maximum size of a manifest, in bytes.
pub(crate) const MANIFEST_BYTES: u64 = 64 << 10;

/// The maximum size of a plugin's source, in bytes.
pub(crate) const SOURCE_BYTES: u64 = 256 << 10;

/// The maximum depth of a value that a plugin returns.
pub(crate) const RESULT_DEPTH: usize = 32;

/// The maximum number of tables, strings, numbers and booleans in a value that a plugin returns.
pub(crate) const RESULT_VALUES: usize = 10_000;

/// The maximum size of the text in a value that a plugin returns, in bytes.
pub(crate) const RESULT_TEXT: usize = 1 << 20;

/// The maximum size of the text that one call may write to the log, in bytes.
pub(crate) const PRINTED_TEXT: usize = 4 << 10;

/// The maximum length of an error message of a plugin, in bytes.
pub(crate) const MESSAGE_TEXT: usize = 1 << 10;
