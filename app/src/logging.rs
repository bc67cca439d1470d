//! The log, on standard error: warnings and errors, or the filter in `UNTERM_LOG`; a normal start prints nothing. winit
//! logs only errors, because it warns of each feature that a desktop lacks; rmcp logs nothing, because it reports each
//! disconnected client as an error. If standard error rejects a line, as on a full disk, the line is lost.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

const DEFAULT: &str = "warn,winit=error,rmcp=off";

/// Starts the log. Call it once, before anything else.
pub fn start() {
    let filter = EnvFilter::try_from_env("UNTERM_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // It would report a failed write to stderr on stderr, and panic.
        .log_internal_errors(false)
        .init();
}
