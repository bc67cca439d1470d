//! The log: to standard error, `info` from Unterm's own crates and `warn` from the rest, or as `UNTERM_LOG` says. What rmcp
//! has to say of clients that went is left out: it calls every one of them an error. A line that standard error does not take,
//! as when the log stands on a full disk, is lost.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

const DEFAULT: &str = "warn,rmcp=off,unterm=info,unterm_control=info,unterm_mux=info,unterm_renderer=info,unterm_term=info";

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
