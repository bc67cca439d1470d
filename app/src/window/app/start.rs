//! The startup of the window before its first event, and the shutdown after its last event.

use std::sync::{Arc, atomic::AtomicBool};

use anyhow::{Context, Result, anyhow};
use winit::event_loop::{DeviceEvents, EventLoop};

use crate::window::{
    app::App,
    inbox::{Inbox, Wake},
    overlays::tour,
    prefs,
    surface::drop_down,
    system::{watched, window_host::WindowHost},
    workspace::first_panes::FirstPanes,
};
use crate::{
    args::Args,
    last_session::LastSession,
    signals,
    startup::Startup,
    succession::{Restart, Succession},
};

/// Runs the app until the last tab is closed or the process receives a stop signal. Returns the program that replaces this
/// one, if the user has asked for it.
pub(crate) fn run(args: &Args) -> Result<Option<Restart>> {
    if args.quake && drop_down::toggle_running(&unterm_control::home()) {
        return Ok(None);
    }
    let event_loop = EventLoop::<Wake>::with_user_event().build().map_err(|error| {
        let error = error.to_string();
        anyhow!(
            "cannot open a window: {}. Start with --headless where there is no display; else DISPLAY or WAYLAND_DISPLAY \
             has to name the one that runs",
            without_place(&error).trim_end_matches('.')
        )
    })?;
    // Device events are not needed. They would wake the window for input to other windows.
    event_loop.listen_device_events(DeviceEvents::Never);
    let proxy = event_loop.create_proxy();
    let inbox = Inbox::new(move || {
        // An error means that the event loop has ended. Then nothing needs to be woken.
        let _ = proxy.send_event(Wake);
    });
    let stop = Arc::clone(&inbox);
    signals::on_stop(move |_| {
        stop.post(|news| (news.stop, news.ends_programs) = (true, true));
    })?;

    let Succession { predecessor, faults, lock } = Succession::find(args, &unterm_control::home())?;
    let (for_settings, beside) = (Arc::clone(&inbox), Arc::clone(&inbox));
    let startup = Startup::new(
        args,
        true,
        predecessor.is_some(),
        move |_, change| for_settings.post(|news| news.control.settings = Some(change)),
        move |_, path| {
            let home = unterm_control::home();
            watched::proxy(&home, path, &beside);
            watched::instances(&home, path, &beside);
        },
    );
    startup.mux.observe(Arc::clone(&inbox) as Arc<dyn unterm_mux::Observer>);
    let changes = Arc::clone(&startup.changes);
    let (mux, settings) = (Arc::clone(&startup.mux), Arc::clone(&startup.settings));
    let is_light = Arc::new(AtomicBool::new(false));
    let host = Arc::new(WindowHost {
        inbox: Arc::clone(&inbox),
        changes,
        settings: Arc::clone(&settings),
        is_light: Arc::clone(&is_light),
        sessions: Arc::clone(&startup.sessions),
        args: args.clone(),
    });
    let server = startup.serve(args, host, predecessor.as_ref());
    drop(lock);
    let last = LastSession::read(settings.home());
    let shell = startup.shell_complaint.clone();
    let mut problems: Vec<_> =
        shell.map(|complaint| (prefs::SHELL, complaint)).into_iter().collect();
    faults.iter().for_each(|fault| tracing::warn!("{fault}"));
    problems.extend(faults.into_iter().map(|fault| ("sessions", fault)));
    // Without the control server, the window is still usable, so continue.
    match &server {
        Err(error) => {
            tracing::error!("agents can't reach this window: {error:#}");
            problems.push((
                "server",
                format!("Agents and scripts can't connect to this window.\n{error:#}"),
            ));
        }
        Ok(server) => {
            server.leave_registry_at_exit();
            if let Some(fault) = server.registry_fault() {
                tracing::error!("{fault}");
                problems.push(("server", fault.to_string()));
            }
        }
    }
    let (ready, sessions) = (startup.ready(), Arc::clone(&startup.sessions));
    let mut app = App::new(args, mux, server.ok(), inbox, settings, startup.palette);
    app.system.appearance.is_theme_light = is_light;
    app.workspace.last = last;
    app.workspace.kept.sessions = Arc::clone(&sessions);
    app.workspace.first = Some(FirstPanes::new(ready, sessions, predecessor));
    app.chrome.instances = unterm_control::client::running(app.prefs.settings.home()).len();
    for (about, complaint) in problems {
        app.complain(about, complaint);
    }
    app.with_parts(|parts, cx| tour::welcome(parts.overlays, cx));
    if !startup.complaints.is_empty() {
        app.complain_of_settings(&startup.complaints, "using the default of each invalid setting");
    }
    app.warn_of_missing_fonts();
    app.echo.allow(&app.inbox);
    let ran = event_loop.run_app(&mut app).context("the window's event loop failed");
    app.finish(ran.is_ok());
    let restart = app.workspace.kept.restart.take();
    ran.and(app.failure.take().map_or(Ok(restart), Err))
}

impl App {
    /// Runs after the event loop: removes the instance from the registry, and ends the programs that do not continue.
    /// `has_closed` is set if the window was closed; otherwise, its desktop has ended.
    fn finish(&mut self, has_closed: bool) {
        self.take_back();
        match has_closed {
            true => self.keep_session(),
            false => self.keep_layout(),
        }
        // Close the window first, because the rest may take a moment.
        self.surface.screen = None;
        let kept = &mut self.workspace.kept;
        if let Some(server) = self.server.take() {
            server.mover().finish();
            kept.restart = kept.restart.take().map(|next| next.refreshed(&kept.sessions));
            server.stop();
        }
        match kept.ends_programs && has_closed {
            true => kept.sessions.end_deliberately(),
            false => drop(self.mux.leave_to_successor()),
        }
        self.mux.shutdown();
    }
}

/// The message of a winit error. A position in winit's source code at the start of the message is removed.
fn without_place(error: &str) -> &str {
    let behind = error.split_once(".rs:").and_then(|(_, behind)| behind.split_once(": "));
    behind.map_or(error, |(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_winit_is_shown_without_its_source_location() {
        let error = "os error at /src/winit-0.30.13/src/linux/mod.rs:788: Failed to open connection to X server";
        assert_eq!(without_place(error), "Failed to open connection to X server");
        assert_eq!(without_place("not supported"), "not supported");
    }
}
