//! Where files live, and what programs in panes find in their environment.

use std::path::PathBuf;

use anyhow::{Context, Result};
use unterm_control::Server;
use unterm_mux::{Mux, MuxOptions};
use unterm_term::{Options, Size};

/// The directory of instances and settings: `$UNTERM_HOME`, else `~/.unterm`.
pub(crate) fn home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("UNTERM_HOME").filter(|home| !home.is_empty()) {
        return Ok(PathBuf::from(home));
    }
    let home =
        std::env::home_dir().context("no home directory is known; set HOME or UNTERM_HOME")?;
    Ok(home.join(".unterm"))
}

/// The options of this process's mux.
pub(crate) fn mux_options(sized_by_window: bool) -> MuxOptions {
    let env = [
        ("TERM", "xterm-256color"),
        ("COLORTERM", "truecolor"),
        ("TERM_PROGRAM", "unterm"),
        ("TERM_PROGRAM_VERSION", env!("CARGO_PKG_VERSION")),
    ];
    MuxOptions {
        term: Options::default(),
        default_size: Size::cells(120, 30),
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        sized_by_window,
    }
}

/// Tells programs in panes which instance they run in and where it listens.
pub(crate) fn announce(mux: &Mux, server: &Server) {
    mux.set_env("UNTERM_INSTANCE", &server.instance_id());
    mux.set_env("UNTERM_PORT", &server.address().port().to_string());
    tracing::info!("instance {} listens on {}", server.instance_id(), server.address());
}
