//! The ptywright protocol: JSON-RPC 2.0 over standard streams or a Unix socket. `assets/docs/ptywright.md` describes it
//! for users.
//!
//! A [`Server`] owns sessions, each of which is a pane, and serves any number of connections, which share the sessions.
//! It calls only methods of a [`Backend`](crate::backend::Backend), which is this process or a running instance.
//! Clients do not log in, because only the user who started the server can connect.
//!
//! | module | owns |
//! |---|---|
//! | `framing` | messages on a stream: one per line, or with a `Content-Length` |
//! | `request` | parses requests, and formats replies |
//! | `error` | the error codes |
//! | `connection` | one client: its requests in order, its notifications |
//! | `methods` | the methods by their names, and their parameters |
//! | `method_docs` | the documentation of each method, its parameters and its result, for users |
//! | `slots` | the limits on the numbers of connections and sessions |
//! | `sessions` | the sessions, their input, and the part of their output that is kept |
//! | `snapshot` | a screen with every cell |
//! | `matcher` | the conditions of a wait |
//! | `adapters` | programs that plugins drive |
//! | `plugins` | the plugins, and calls of their functions |
//! | `notifications` | reports of changes and output, for clients that subscribe |
//! | `redaction` | secrets in text that leaves the server |
//! | `output_redaction` | secrets in output that is sent in pieces |
//!
//! Requests of one connection are answered in their order, as the protocol requires: it sends notifications after each
//! request, and a client cancels a wait over another connection. A connection's notifications are sent between its
//! requests, so a direct response always comes first. Matchers and actions are plain data, of the types in
//! `unterm-plugin`.

mod adapters;
mod connection;
mod error;
mod framing;
mod matcher;
mod method_docs;
mod methods;
mod notifications;
mod output_redaction;
mod plugins;
mod redaction;
mod request;
mod server;
mod sessions;
mod slots;
mod snapshot;

pub use method_docs::{METHOD_DOCS, MethodDoc, ParamDoc, ParamValue, find as method_doc};
pub use plugins::Plugins;
pub use redaction::redacted;
pub use server::{FramingKind, Server};
