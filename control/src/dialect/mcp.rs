//! The Model Context Protocol: the revisions with `initialize` (up to 2025-11-25) and with stateless requests
//! (2026-07-28). Clients connect over TCP with one message per line, which `unterm-cli mcp` relays to a client's
//! standard streams. They may also use HTTP, including the HTTP transport of the revision of 2024.
//!
//! This module owns the toolsets with their names, schemas and replies, and the calls that continue after their request
//! ([`jobs`]). Like every dialect, tools call methods through the dispatcher, so scopes, rules and the audit log apply.
//! The crate rmcp implements the protocol.

mod approve;
mod arguments;
mod error_messages;
pub mod http;
mod iterm;
mod jobs;
mod last_seen;
mod lines;
mod long_messages;
mod pending_replies;
mod prompts;
mod resources;
mod rows;
mod schema;
mod server;
mod session;
pub mod sse;
mod stateless_clients;
mod tester;
mod tool;
mod tool_result;
mod unterm;

use self::session::described;
pub use self::{
    lines::serve_lines,
    pending_replies::PendingReplies,
    server::Server,
    session::serve,
    tool::{Hints, Toolset},
};
use crate::untrusted;

/// The instructions and the tools of the toolset `unterm`, for servers that call these tools on instances.
pub fn instance_tools() -> (&'static str, Vec<rmcp::model::Tool>) {
    let toolset = &unterm::TOOLSET;
    (toolset.instructions, toolset.tools.iter().map(described).collect())
}

/// The toolsets. The first one is the default.
pub static TOOLSETS: [&Toolset; 4] =
    [&unterm::TOOLSET, &unterm::SMALL, &iterm::TOOLSET, &tester::TOOLSET];

/// The name of the toolset with short descriptions.
pub const SMALL: &str = unterm::SMALL_NAME;

/// The toolset with this name, or the default one.
///
/// # Errors
/// No toolset has this name. A message for users.
pub fn toolset(name: Option<&str>) -> Result<&'static Toolset, String> {
    let Some(name) = name else { return Ok(TOOLSETS[0]) };
    TOOLSETS.into_iter().find(|toolset| toolset.name == name).ok_or_else(|| {
        let known: Vec<_> = TOOLSETS.iter().map(|toolset| toolset.name).collect();
        format!("There is no toolset {name:?}; there are: {}", known.join(", "))
    })
}
