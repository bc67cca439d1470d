//! The wires: each owns its framing, login, names and error codes, and calls methods through the dispatcher.

pub mod http;
pub mod logins;
pub mod mcp;
pub mod tcp;
