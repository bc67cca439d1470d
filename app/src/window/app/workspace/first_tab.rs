//! The tab that a window opens if no layout is given, and the message shown when a held pane's program ends.

use unterm_mux::{ExitStatus, Mux, MuxError, OnExit, PaneId, PaneState, Spawn};

use crate::window::app::App;
use crate::{args::Args, config::Config};

/// Opens the tab. If the configured shell can't be started, opens `$SHELL` or `/bin/sh` instead and returns the error
/// to show: the user needs a window to correct the configuration in. For the same reason, the pane of a shell that ends
/// by itself stays open.
pub(crate) fn open(mux: &Mux, args: &Args, config: &Config) -> Result<Option<String>, MuxError> {
    let wanted = args.first_spawn(config);
    let of_configuration = wanted.program.is_none();
    let on_exit = match args.hold {
        true => OnExit::Hold,
        false if of_configuration => OnExit::CloseAfterInput,
        false => OnExit::Close,
    };
    let error = match mux.open_tab(wanted, None, on_exit) {
        Err(error) if of_configuration => error,
        opened => return opened.map(|_| None),
    };
    let instead = |program: String| {
        mux.open_tab(
            Spawn { program: Some(program), ..args.first_spawn(config) },
            None,
            OnExit::Close,
        )
    };
    instead(std::env::var("SHELL").unwrap_or_default())
        .or_else(|_| instead("/bin/sh".to_owned()))?;
    tracing::warn!("another shell than the configured one: {error}");
    Ok(Some(format!("Can't start the configured shell.\n{error}")))
}

impl App {
    /// Shows how a pane's program ended, if the pane stays open.
    pub(crate) fn tell_end(&mut self, id: PaneId) {
        let Some(pane) = self.mux.pane(id) else { return };
        let PaneState::Exited(status) = pane.state() else { return };
        let program = pane.process().program().rsplit('/').next().unwrap_or_default().to_owned();
        let how = match status {
            ExitStatus::Code(code) => format!("exit code {code}"),
            ExitStatus::Signal(signal) => format!("signal {signal}"),
        };
        let press = self.prefs.press("close_pane", "closes its pane");
        self.notify("end", format!("{program} has ended with {how}.{press}"));
    }
}
