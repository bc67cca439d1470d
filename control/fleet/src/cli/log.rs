//! The log on standard error. A program that serves logs what happens, and any other program logs warnings.
//! `UNTERM_LOG` sets another filter.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

/// Starts the log.
pub fn start(serves: bool) {
    // Messages of webauthn_rs are disabled, because the hub itself logs why it refused a passkey.
    let default = if serves {
        "info,rmcp=off,async_nats=warn,webauthn_rs=off"
    } else {
        "error,async_nats=off"
    };
    let filter = EnvFilter::try_from_env("UNTERM_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let is_terminal = io::stderr().is_terminal();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(is_terminal)
        .init();
}
