//! The log, which is written to standard error. It contains warnings and errors, or what the filter in `UNTERM_LOG`
//! selects. A normal start prints nothing. winit logs only errors, because it warns about each feature that a desktop
//! lacks. rmcp logs nothing, because it reports each disconnected client as an error. If a line can't be written, for
//! example on a full disk, it is lost.
//!
//! A server without a window also logs to a file. The file has its own filter, unless `UNTERM_LOG` is set.

use std::{
    io::{self, IsTerminal},
    sync::Mutex,
};

use tracing_subscriber::{
    EnvFilter, Layer, Registry, layer::SubscriberExt as _, registry::LookupSpan,
    util::SubscriberInitExt as _,
};

const DEFAULT: &str = "warn,winit=error,rmcp=off";

/// Starts the log. Must be called once, before anything else.
pub fn start() {
    Registry::default().with(on_stderr()).init();
}

/// Starts the log, and also writes it to `file`. Each write to `file` is one whole record.
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
        // Turned off, because it would report a failed write to standard error on standard error, and then panic.
        .log_internal_errors(false)
        .with_filter(filter(DEFAULT))
}
