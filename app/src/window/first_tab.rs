//! The tab that a window opens with, where no layout says more.

use unterm_mux::{Mux, MuxError, OnExit, Spawn};

use crate::args::Args;

/// Opens it. A shell of the configuration that can't be started is told, and gives way to the person's own, or to
/// `/bin/sh`: the window is what the configuration is mended with.
pub(super) fn open(mux: &Mux, args: &Args) -> Result<Option<String>, MuxError> {
    let wanted = args.first_spawn();
    let of_configuration = wanted.program.is_none();
    let error = match mux.open_tab(wanted, None, OnExit::Close) {
        Err(error) if of_configuration => error,
        opened => return opened.map(|_| None),
    };
    let instead = |program: String| {
        mux.open_tab(Spawn { program: Some(program), ..args.first_spawn() }, None, OnExit::Close)
    };
    instead(std::env::var("SHELL").unwrap_or_default())
        .or_else(|_| instead("/bin/sh".to_owned()))?;
    tracing::warn!("another shell than the configured one: {error}");
    Ok(Some(format!("The shell of the configuration can't be started.\n{error}")))
}
