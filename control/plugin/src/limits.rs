//! How much a plugin may use.

use std::time::Duration;

/// The limits of plugins. The defaults are those of the protocol where it has one.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The steps of one call: loop iterations, calls, returns, and attempts of a pattern to match.
    pub steps: u64,
    /// The time of one call.
    pub time: Duration,
    /// The time after which a call that did not end at [`Limits::time`] is abandoned, together with its thread.
    pub grace: Duration,
    /// The memory of one instance, in bytes.
    pub memory: usize,
    /// The instances that exist at one time.
    pub instances: usize,
    /// The abandoned threads above which no instance starts a thread.
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

/// The size of a manifest, in bytes.
pub(crate) const MANIFEST_BYTES: u64 = 64 << 10;

/// The size of a plugin's source, in bytes.
pub(crate) const SOURCE_BYTES: u64 = 256 << 10;

/// The depth of a value that a plugin returns.
pub(crate) const RESULT_DEPTH: usize = 32;

/// The tables, strings, numbers and booleans in a value that a plugin returns.
pub(crate) const RESULT_VALUES: usize = 10_000;

/// The text in a value that a plugin returns, in bytes.
pub(crate) const RESULT_TEXT: usize = 1 << 20;

/// The text that one call may write to the log, in bytes.
pub(crate) const PRINTED_TEXT: usize = 4 << 10;

/// The length of an error message of a plugin, in bytes.
pub(crate) const MESSAGE_TEXT: usize = 1 << 10;
