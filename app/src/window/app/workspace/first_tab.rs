//! The tab that a window opens if no layout is given, and the message after the program in a pane that stays open has
//! ended.

use std::{sync::Arc, time::Instant};

use unterm_mux::{ExitStatus, Mux, MuxError, OnExit, PaneId, PaneState, Spawn};

use crate::window::{
    app::App,
    system::notices::with_line,
    workspace::{first_layout, first_panes::FirstPanes},
};
use crate::{args::Args, config::Config};

/// The subject of messages about programs that outlive their window.
const ABOUT_SESSIONS: &str = "sessions";

/// Opens the first tab. If the configured shell can't be started, opens `$SHELL` or `/bin/sh` instead, because the
/// user needs a window to correct the configuration. In this case, returns the error to show. If the shell ends by
/// itself, the pane stays open for the same reason.
fn open(mux: &Mux, args: &Args, config: &Config) -> Result<Option<String>, MuxError> {
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
    /// Opens the layout or the tab that the window starts with, and then lets the calls continue that wait for panes.
    /// Does nothing if they are already open.
    pub(crate) fn open_first_panes(&mut self) {
        if self.workspace.first.is_none() {
            return;
        }
        // Arrange first: the mux computes the size of a new pane from the window's size. While `first` is set, the
        // window is arranged for the tabs that are about to open, which may need a tab bar.
        self.arrange();
        let Some(first) = self.workspace.first.take() else { return };
        let (mux, settings) = (Arc::clone(&self.mux), Arc::clone(&self.prefs.settings));
        let (args, last) = (self.prefs.args.clone(), self.workspace.last.clone());
        self.attach_programs(&first);
        // The layout of the last window would show the attached programs a second time.
        if mux.layout().tabs.is_empty() {
            self.offer_last();
        }
        if mux.layout().tabs.is_empty()
            && let Some(complaint) =
                first_layout::open_layout(&mux, &args, &settings, last.as_ref())
        {
            self.complain("layout", complaint);
        }
        if mux.layout().tabs.is_empty() {
            match open(&mux, &args, &settings.get()) {
                Ok(None) => {}
                Ok(Some(complaint)) => self.complain("shell", complaint),
                Err(error) => {
                    self.failure.get_or_insert(error.into());
                }
            }
        }
        self.arrange();
        first.ready.set();
        if let Some(fault) = first.sessions.take_fault() {
            self.complain(ABOUT_SESSIONS, fault);
        } else if let Some(message) = first.sessions.left_message() {
            self.keep_saying(ABOUT_SESSIONS, message);
        }
    }

    /// Shows the programs that continue without a window: the programs of the instance whose place this window takes,
    /// and the programs that the command line names.
    fn attach_programs(&mut self, first: &FirstPanes) {
        let mux = Arc::clone(&self.mux);
        let mut faults = Vec::new();
        if let Some(predecessor) = &first.predecessor {
            faults.extend(first.sessions.inherit(&mux, predecessor, OnExit::Close).faults);
        }
        if let Some(instance) = &self.prefs.args.attach {
            let attached = first.sessions.attach(&mux, instance);
            // There may be no others.
            if attached.panes > 0 || mux.layout().tabs.is_empty() {
                faults.extend(attached.faults);
            }
        }
        if !self.prefs.args.take.is_empty()
            && let Err(fault) = first.sessions.attach_numbers(&mux, &self.prefs.args.take)
        {
            faults.push(fault);
        }
        for fault in faults {
            self.complain(ABOUT_SESSIONS, fault);
        }
    }

    /// Opens the first panes if the window has reached its initial size. On Wayland, the system requests a redraw
    /// after each frame that it has shown.
    pub(crate) fn open_first_panes_if_settled(&mut self) {
        let Some(geometry) = self.surface.geometry else { return };
        let Some(first) = &mut self.workspace.first else { return };
        if first.is_settled((geometry.width, geometry.height, geometry.scale)) {
            self.open_first_panes();
        }
    }

    /// Opens the first panes if the window was not shown in time. Otherwise, returns the time at which to open them.
    pub(crate) fn open_first_panes_in_time(&mut self, now: Instant) -> Option<Instant> {
        let due = self.workspace.first.as_ref()?.due?;
        if now >= due {
            self.open_first_panes();
            return None;
        }
        Some(due)
    }

    /// Shows how the program of a pane ended, if the pane stays open.
    pub(crate) fn report_end(&mut self, id: PaneId) {
        let Some(pane) = self.mux.pane(id) else { return };
        let PaneState::Exited(status) = pane.state() else { return };
        let program = pane.process().program().rsplit('/').next().unwrap_or_default().to_owned();
        let how = match status {
            ExitStatus::Code(code) => format!("exit code {code}"),
            ExitStatus::Signal(signal) => format!("signal {signal}"),
            ExitStatus::Lost => "an unknown status".to_owned(),
        };
        let press = self.prefs.press("close_pane", "closes its pane");
        let text = with_line(format!("{program} has ended with {how}.{press}"), self.tab_named(id));
        self.notify_of(id, "end", text);
    }
}
