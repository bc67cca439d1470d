//! The control server: how agents, scripts and the settings page drive the mux, and the client side of the same wires.
//!
//! Owns the transports (what carries bytes, and how they become messages), the dialects (names, shapes, login, error codes),
//! the one table of methods, dispatch, the authority that decides who may do what (the folder `authority`: a list of gates, and
//! the matrix of their results), the registry of instances under `~/.unterm`, and the client that `unterm-cli` uses.
//! Never draws and knows nothing of windows: what only the app can do it asks of a [`Host`].
//!
//! Any program of the same user can read an instance's token from the registry and act with full rights, as that
//! user could anyway; other users and web pages can't.

mod authority;
pub mod backend;
mod caller;
pub mod client;
mod dialect;
mod dispatch;
mod error;
mod host;
#[allow(
    missing_docs,
    reason = "the reference of methods, which is made from them, says what they are"
)]
pub mod methods;
mod offload;
mod poll;
mod product;
mod reference;
mod registry;
mod server;
mod services;
mod transport;
mod untrusted;

pub use authority::{Decision, Demand, Reach, Subjects};
pub(crate) use product::{ENGINE, VERSION};

pub use caller::{Access, Caller, Capabilities, Scopes, TokenKind, Wire};
pub use dialect::{
    contract::{Dialect, Handover, Input, Outcome, Output, Refusal},
    peer::{Credentials, LoginError, Peer},
    ptywright,
    settings::languages,
};
pub use dispatch::Gate;
pub use error::{Denial, Error};
pub use host::{
    Acted, ActionInfo, ActionKeys, Binding, Bounds, Captures, Clip, Described, Headless, Host,
    HostRequest, OnDisplay, Preferences, ThemeInfo, Typing,
};
/// The Model Context Protocol over HTTP, for servers that are no instance: the hub of a fleet.
pub mod mcp_http {
    pub use crate::{
        dialect::{
            http::{Lines, READING, failure, holding, reply, whole},
            mcp::{PendingReplies, instance_tools, serve_lines, sse},
        },
        services::message_budget::{MessageBudget, OverBudget, Reservation},
        transport::limits::LONGEST_MESSAGE,
    };
    /// The protocol's own crate, so that servers use the same version.
    pub use rmcp;
}
/// The schemas of methods that are added.
pub use schemars;

pub use methods::{AddedMethod, Description, Entry, Group, METHODS, TableError};
pub use reference::{reference, tools};
pub use registry::{FileError, Record, RegistryFault, held, home, lock};
pub use server::{
    Answers, Recordings, Server, ServerBuilder, ServerError, ServerOptions, SettingsLinks,
};
pub use services::approvals::Approval;
pub use services::changes::{Changes, Topic};
pub use services::drivers::Driver;
pub use services::questions::{Kind, Question};
pub use services::workspace;
pub use transport::{
    framing::{ContentLength, Framing, Lines, Next},
    limits::LoginLimits,
};
pub use untrusted::{escaped, shortened};

/// A toolset's name, as it is known; without one the usual toolset's.
///
/// # Errors
/// There is none of that name; for people.
pub fn toolset(name: Option<&str>) -> Result<&'static str, String> {
    dialect::mcp::toolset(name).map(|toolset| toolset.name)
}

/// Tells programs that a mux starts from now on of the proxy that the home's `proxy.json` says. May take a second or two.
pub fn apply_proxy(mux: &unterm_mux::Mux, home: &std::path::Path) {
    services::proxy::apply(mux, home);
}
