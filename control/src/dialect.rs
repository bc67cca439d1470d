//! The dialects: each owns its names, shapes, login and error codes, and calls methods through the dispatcher.

pub mod contract;
pub mod mcp;
pub mod peer;
pub mod settings;
pub mod unterm;
