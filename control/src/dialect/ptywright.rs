//! The ptywright protocol: JSON-RPC 2.0 over standard streams or a Unix socket. `assets/docs/ptywright.md` describes it for users.
//!
//! A [`Server`] owns sessions, each of which is a pane, and serves any number of connections, which share the sessions.
//! It calls methods of a [`Backend`](crate::backend::Backend) only: those of this process, or those of a running
//! instance. Clients do not log in, because only the user who started the server can connect.
//!
//! | module | owns |
//! |---|---|
//! | `framing` | messages on a stream: one a line, or with a `Content-Length` |
//! | `request` | what a message asks for, and the form of replies |
//! | `error` | the error codes |
//! | `connection` | one client: its requests in order, its notifications |
//! | `methods` | the methods by their names, and their parameters |
//! | `method_docs` | what each method does, takes and returns, for people |
//! | `places` | how many connections and sessions there are at most |
//! | `sessions` | the sessions, what is kept of their output, and their input |
//! | `snapshot` | a screen with every cell |
//! | `matcher` | the conditions of a wait |
//! | `adapters` | programs that plugins drive |
//! | `plugins` | the plugins, and calls of their functions |
//! | `notifications` | reports of changes and output, for clients that subscribe |
//! | `redaction` | secrets in text that leaves the server |
//! | `output_redaction` | secrets in output that is sent in pieces |
//!
//! Requests of one connection are answered in their order: the protocol sends notifications after each request, and has
//! another connection cancel a wait. A connection's notifications are sent between its requests, so a direct response always
//! comes first. Matchers and actions are plain data, of the
//! types in `unterm-plugin`.

mod adapters;
mod connection;
mod error;
mod framing;
mod matcher;
mod method_docs;
mod methods;
mod notifications;
mod output_redaction;
mod places;
mod plugins;
mod redaction;
mod request;
mod server;
mod sessions;
mod snapshot;

pub use method_docs::{METHOD_DOCS, MethodDoc, ParamDoc, ParamValue, find as method_doc};
pub use plugins::Plugins;
pub use redaction::redacted;
pub use server::{FramingKind, Server};
