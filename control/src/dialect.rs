//! The dialects. A dialect is a protocol: it defines its names, message formats, login and error codes, and calls
//! methods through the dispatcher.

pub mod contract;
pub mod http;
pub mod mcp;
pub mod peer;
pub mod ptywright;
pub mod settings;
pub mod unterm;
