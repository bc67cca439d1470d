//! The reasons that a plugin is refused, and that a call of a plugin fails.

use thiserror::Error;

use crate::{permission::Permission, text::quoted};

/// An error in a manifest. The message names the key or the value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ManifestError(pub(crate) String);

/// The reason that a plugin was not loaded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// The manifest or the entrypoint could not be read.
    #[error("{0}")]
    File(String),
    /// The manifest is wrong.
    #[error("the manifest {path} is wrong: {error}")]
    Manifest {
        /// The path of the manifest.
        path: String,
        /// The error in the manifest.
        error: ManifestError,
    },
    /// A plugin with this name is already loaded.
    #[error("a plugin named {} is already registered; unload it first", quoted(.0))]
    Loaded(String),
    /// A built-in plugin already has this name.
    #[error("{} is built in, and can't be replaced; choose another name", quoted(.0))]
    BuiltIn(String),
    /// Too many plugins are loaded.
    #[error("{0} plugins are loaded, and no more are allowed; unload one first")]
    TooMany(usize),
    /// The plugin's file could not be run.
    #[error("the plugin {} can't be loaded: {error}", quoted(.plugin))]
    Source {
        /// The name of the plugin.
        plugin: String,
        /// The error of the file.
        error: CallError,
    },
}

/// A limit that a call exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// The number of steps, [`crate::Limits::steps`].
    Steps,
    /// The time, [`crate::Limits::time`].
    Time,
    /// The memory, [`crate::Limits::memory`].
    Memory,
}

/// The reason that a call of a plugin's function failed. Messages from plugins have a limited length and contain no
/// control characters.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CallError {
    /// No plugin with this name is loaded.
    #[error("unknown plugin {}: no plugin of this name is loaded", quoted(.0))]
    NoPlugin(String),
    /// The plugin does not export this function, or the function is not of the requested kind.
    #[error("{0}")]
    NoFunction(String),
    /// The plugin raised an error, or is not valid Luau.
    #[error("{function} failed: {message}")]
    Script {
        /// The function that was called, or `the plugin's file` if the file itself was run.
        function: String,
        /// The message of the plugin.
        message: String,
    },
    /// The call exceeded a limit.
    #[error("{function} was stopped: it exceeded {limit}")]
    Limit {
        /// The function that was called.
        function: String,
        /// The limit that was exceeded.
        kind: LimitKind,
        /// The limit as text, such as "5000000 steps".
        limit: String,
    },
    /// The function returned a value that the protocol does not allow. The message names the field.
    #[error("{function} returned a wrong value: {message}")]
    Result {
        /// The function that was called.
        function: String,
        /// The field, and the error in it.
        message: String,
    },
    /// The plugin used something that requires a permission, and its manifest does not declare the permission.
    #[error("{what} needs the permission {}, which the manifest does not declare", permission.name())]
    Permission {
        /// The forbidden feature that the plugin used.
        what: String,
        /// The missing permission.
        permission: Permission,
    },
    /// No thread is free for the call.
    #[error("{0}")]
    Busy(String),
    /// The plugin's thread ended.
    #[error("the engine of the plugin ended during {function}; the next call starts it again")]
    Ended {
        /// The function that was called.
        function: String,
    },
}
