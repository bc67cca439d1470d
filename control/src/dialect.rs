//! The dialects. A dialect is a protocol: it defines its names, message formats, login and error codes, and calls
//! methods through the dispatcher.

pub mod http;
pub mod mcp;
pub mod ptywright;
pub mod settings;
pub mod tmux;
pub mod unterm;
