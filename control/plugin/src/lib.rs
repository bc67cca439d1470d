//! Plugins for terminal programs. A plugin determines the state of a program from its screen, and the input for the
//! program.
//!
//! A plugin is a folder with a manifest in TOML and one file of Luau. The file returns a table of functions:
//!
//! - `classify(context)` returns the state that a screen shows ([`Classification`]);
//! - an intent returns actions, such as text to type ([`IntentOutcome`]);
//! - a function whose name ends in `_matcher` returns a condition to wait for ([`Matcher`]);
//! - a predicate returns whether such a condition is met ([`PredicateOutcome`]);
//! - `describe()` lists all of these ([`Registry::describe`]).
//!
//! [`Registry`] contains the plugins by name. [`Registry::adapter`] creates an [`Instance`], which calls a plugin's
//! functions. The guide for authors of plugins is `assets/docs/plugins.md`.
//!
//! The parameters and results of this crate are plain data. It contains no pseudoterminal, no socket and no JSON-RPC.
//! The host performs actions, evaluates matchers, and maps errors to the codes of its protocol. Calls block, so an
//! async host makes them on a thread for blocking work.
//!
//! ```
//! use unterm_plugin::{ClassifyContext, Registry};
//!
//! let registry = Registry::default();
//! let adapter = registry.adapter("shell")?;
//! let state = adapter.classify(&ClassifyContext::of_screen("ann@host:~$ "))?;
//! assert_eq!(state.state, "ready");
//! # Ok::<(), unterm_plugin::CallError>(())
//! ```
//!
//! # Limits
//!
//! Plugins are hostile input. [`Limits`] limits the steps, the time and the memory of a call, and the size of what a
//! call returns is limited, too.
//!
//! Luau calls an interrupt function at each loop iteration, call and return, and at each attempt to match a pattern.
//! The interrupt counts steps and ends the call at the limit. It fails again at each later step, so a plugin can't
//! continue with `pcall`.
//!
//! The interrupt is not called within Luau's library functions. Those that could run for a long time are replaced
//! (`sandbox/library.luau`): patterns and separators are short, and the input of `table.sort` and `table.move` is
//! limited. The remaining code, such as a long function without loops that copies large strings, can still exceed its
//! time. Each instance therefore has a separate thread. If a call does not return in time, the caller gets an error and
//! abandons that thread. The thread ends when Luau next reaches the interrupt. While [`Limits::abandoned`] such threads
//! exist, no new thread starts.
//!
//! After a call that exceeded a limit, the instance loads the plugin again before its next call, which resets the
//! plugin's variables.

mod action;
mod builtin;
mod catalog;
mod context;
mod error;
mod folder;
mod instance;
mod limits;
mod manifest;
mod matcher;
mod outcome;
mod permission;
mod registry;
mod sandbox;
mod screen_manifest;
mod text;
mod value;
mod worker;

pub use action::{
    Action, Mark, NAMED_KEYS, Resize, Signal, StreamText, WaitFor, check_label, is_key, key_names,
};
pub use context::{ClassifyContext, PredicateInput, split_status};
pub use error::{CallError, LimitKind, LoadError, ManifestError};
pub use instance::Instance;
pub use limits::Limits;
pub use manifest::{Manifest, PluginKind, Runtime, Target};
pub use matcher::{CellPosition, LuaPredicate, Matcher, StableFor};
pub use outcome::{Classification, Explanation, IntentOutcome, PredicateOutcome};
pub use permission::Permission;
pub use registry::{Registry, UnloadError};
pub use screen_manifest::{ENGINE_VERSION, Gate, Region, ScreenManifest, ScreenRule, ScreenState};
