//! Why a plugin was refused, and why a call failed.

use thiserror::Error;

use crate::{permission::Permission, text::quoted};

/// What is wrong with a manifest. The message names the key or value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct ManifestError(pub(crate) String);

/// Why a plugin was not loaded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// The manifest or the entrypoint could not be read.
    #[error("{0}")]
    File(String),
    /// The manifest is wrong.
    #[error("the manifest {path} is wrong: {error}")]
    Manifest {
        /// The manifest's path.
        path: String,
        /// What is wrong.
        error: ManifestError,
    },
    /// A plugin of that name is there.
    #[error("a plugin named {} is already registered; unload it first", quoted(.0))]
    Loaded(String),
    /// The name belongs to a plugin of Unterm.
    #[error("{} is built in, and can't be replaced; choose another name", quoted(.0))]
    BuiltIn(String),
    /// Too many plugins are loaded.
    #[error("{0} plugins are loaded, and no more are allowed; unload one first")]
    TooMany(usize),
    /// The plugin's file failed.
    #[error("the plugin {} can't be loaded: {error}", quoted(.plugin))]
    Source {
        /// The plugin's name.
        plugin: String,
        /// Why.
        error: CallError,
    },
}

/// A limit that a call exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// [`crate::Limits::steps`].
    Steps,
    /// [`crate::Limits::time`].
    Time,
    /// [`crate::Limits::memory`].
    Memory,
}

/// Why a call of a plugin's function failed. The messages of plugins in it are bounded and have no control characters.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CallError {
    /// No plugin of that name is loaded.
    #[error("unknown plugin {}: no plugin of this name is loaded", quoted(.0))]
    NoPlugin(String),
    /// The plugin exports no such function, or the function is not of the kind that was asked for.
    #[error("{0}")]
    NoFunction(String),
    /// The plugin raised an error, or is no valid Luau.
    #[error("{function} failed: {message}")]
    Script {
        /// The function that was called; `the plugin's file` when the file itself ran.
        function: String,
        /// The plugin's message.
        message: String,
    },
    /// The call exceeded a limit.
    #[error("{function} was stopped: it exceeded {limit}")]
    Limit {
        /// The function that was called.
        function: String,
        /// Which limit.
        kind: LimitKind,
        /// The limit in words, such as "5000000 steps".
        limit: String,
    },
    /// What the function returned is not what the contract asks for. The message names the field.
    #[error("{function} returned a wrong value: {message}")]
    Result {
        /// The function that was called.
        function: String,
        /// The field and its problem.
        message: String,
    },
    /// The plugin used something for which its manifest declares no permission.
    #[error("{what} needs the permission {}, which the manifest does not declare", permission.name())]
    Permission {
        /// What the plugin used.
        what: String,
        /// The permission that is missing.
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
