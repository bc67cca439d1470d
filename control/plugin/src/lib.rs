//! Plugins for terminal programs: what a program's screen means, and what to type into the program.
//!
//! A plugin is a folder with a manifest in TOML and one file of Luau. The file returns a table of functions:
//!
//! - `classify(context)` returns the state that a screen shows ([`Classification`]);
//! - an intent returns actions, such as text to type ([`IntentOutcome`]);
//! - a function whose name ends in `_matcher` returns a condition to wait for ([`Matcher`]);
//! - a predicate decides whether such a condition holds ([`PredicateOutcome`]);
//! - `describe()` lists all these ([`Registry::describe`]).
//!
//! [`Registry`] holds the plugins by name. [`Registry::adapter`] makes an [`Instance`], which calls a plugin's functions.
//! The guide for authors of plugins is `assets/docs/plugins.md`.
//!
//! This crate takes and returns plain data. It contains no pseudoterminal, no socket and no JSON-RPC. The host performs actions,
//! evaluates matchers, and maps errors to the codes of its protocol. Calls block, so an async host makes them on a thread for
//! blocking work.
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
//! Plugins are hostile input. [`Limits`] bounds a call in steps, time and memory, and what the call returns is bounded in size.
//!
//! Luau calls an interrupt function at each loop iteration, call and return, and at each attempt of a pattern to match. The
//! interrupt counts steps and ends the call at the limit. It fails again at each later step, so `pcall` does not help a plugin to
//! continue.
//!
//! The interrupt does not reach the inside of Luau's library functions. Those that could run long are replaced
//! (`sandbox/library.luau`): patterns and separators are short, and `table.sort` and `table.move` are bounded. What remains, such
//! as a long function without loops that copies large strings, can exceed its time. Each instance therefore has a thread of its
//! own. If a call does not return in time, the caller gets an error and abandons that thread. The thread ends when Luau next
//! reaches the interrupt. While [`Limits::abandoned`] such threads are left, no new thread starts.
//!
//! After a call that exceeded a limit, the instance loads the plugin again before its next call. The plugin's variables are lost
//! then.

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
pub use manifest::{Kind, Manifest, Runtime, Target};
pub use matcher::{CellPosition, LuaPredicate, Matcher, StableFor};
pub use outcome::{Classification, Explanation, IntentOutcome, PredicateOutcome};
pub use permission::Permission;
pub use registry::{Registry, UnloadError};
