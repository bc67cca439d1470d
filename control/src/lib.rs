//! The control server: how agents, scripts and the settings page drive the mux, and the client side of the same wires.
//!
//! Owns the wires (framing, login, error codes), the one table of methods, dispatch, the registry of instances under
//! `~/.unterm`, and the client that `unterm-cli` uses. Never draws and knows nothing of windows: what only the app can
//! do it asks of a [`Host`].

pub mod client;
mod host;
mod server;

pub use host::{Headless, Host};
pub use server::{Server, ServerError, ServerOptions};
