//! The Model Context Protocol, both eras of it (`initialize`, up to 2025-11-25, and the requests of 2026-07-28 that stand for
//! themselves): over lines on the TCP wire, which `unterm-cli mcp` relays to a client's stdio, and over HTTP, also as
//! clients of 2024 speak it.
//!
//! Owns the toolsets, their names, schemas and replies, and what calls take over several requests ([`jobs`]). A tool does
//! nothing by itself: it calls methods of the one table through the dispatcher, as every wire does, with its client's
//! scopes, policy and audit. The protocol itself is rmcp's.

mod approve;
mod arguments;
pub mod http;
mod iterm;
mod jobs;
mod long_messages;
mod pending_replies;
mod prompts;
mod resources;
mod rows;
mod schema;
mod server;
mod session;
mod sse;
mod stateless_clients;
mod tester;
mod tool;
mod tool_result;
mod unterm;
mod words;

pub use self::{
    pending_replies::PendingReplies,
    server::Server,
    session::serve,
    tool::{Hints, Toolset},
};
use crate::untrusted;

/// The toolsets, the usual one first.
pub static TOOLSETS: [&Toolset; 3] = [&unterm::TOOLSET, &iterm::TOOLSET, &tester::TOOLSET];

/// The toolset of that name, or the usual one.
///
/// # Errors
/// There is none of that name; for people.
pub fn toolset(name: Option<&str>) -> Result<&'static Toolset, String> {
    let Some(name) = name else { return Ok(TOOLSETS[0]) };
    TOOLSETS.into_iter().find(|toolset| toolset.name == name).ok_or_else(|| {
        let known: Vec<_> = TOOLSETS.iter().map(|toolset| toolset.name).collect();
        format!("There is no toolset {name:?}; there are: {}", known.join(", "))
    })
}
