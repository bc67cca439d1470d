//! The log: warnings and errors to standard error, or what `UNTERM_LOG` says, so that a usual start prints nothing. Of winit
//! only errors are shown, since it warns of every desktop that lacks something, and of rmcp nothing: it calls each client
//! that went an error. A line that standard error does not take, as when the log stands on a full disk, is lost.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

const DEFAULT: &str = "warn,winit=error,rmcp=off";

/// Starts the log. Call once, before anything else.
pub fn start() {
    let filter = EnvFilter::try_from_env("UNTERM_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // It would tell of a line that stderr did not take on stderr, and panic there.
        .log_internal_errors(false)
        .init();
}
