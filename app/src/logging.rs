//! The log, on standard error: warnings and errors, or the filter in `UNTERM_LOG`; a normal start prints nothing. winit
//! logs only errors, because it warns of each feature that a desktop lacks; rmcp logs nothing, because it reports each
//! disconnected client as an error. If standard error rejects a line, as on a full disk, the line is lost.
//!
//! A server without a window logs to a file as well, with a filter of its own unless `UNTERM_LOG` is set.

use std::{
    io::{self, IsTerminal},
    sync::Mutex,
};

use tracing_subscriber::{
    EnvFilter, Layer, Registry, layer::SubscriberExt as _, registry::LookupSpan,
    util::SubscriberInitExt as _,
};

const DEFAULT: &str = "warn,winit=error,rmcp=off";

/// Starts the log. Call it once, before anything else.
pub fn start() {
    Registry::default().with(on_stderr()).init();
}

/// Starts the log, and writes a second one. Each write to `file` is one whole record.
pub fn start_with(filter: &str, file: impl io::Write + Send + 'static) {
    let second = tracing_subscriber::fmt::layer()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .log_internal_errors(false)
        .with_filter(self::filter(filter));
    Registry::default().with(on_stderr()).with(second).init();
}

fn filter(default: &str) -> EnvFilter {
    EnvFilter::try_from_env("UNTERM_LOG").unwrap_or_else(|_| EnvFilter::new(default))
}

fn on_stderr<S>() -> impl Layer<S>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span>,
{
    tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        // It would report a failed write to stderr on stderr, and panic.
        .log_internal_errors(false)
        .with_filter(filter(DEFAULT))
}
