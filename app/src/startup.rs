//! The startup that a window and a headless instance share: the preferences, the mux and the control server.

use std::{
    path::Path,
    sync::{Arc, Weak},
};

use anyhow::{Context, Result};
use unterm_control::{
    Approval, Changes, Host, Inheritance, LoginLimits, Server, ServerOptions, Topic,
};
use unterm_mux::Mux;
use unterm_term::Palette;

use crate::{
    args::Args,
    config::{Change, Complaint, Settings, wire::notify_page},
    environment,
    ready::Ready,
    sessions::Sessions,
};

/// A started process that watches its preferences, and whose mux has no panes yet.
pub(crate) struct Startup {
    pub(crate) settings: Arc<Settings>,
    /// The problems in the configuration file.
    pub(crate) complaints: Vec<Complaint>,
    pub(crate) mux: Arc<Mux>,
    /// How the mux starts programs.
    pub(crate) sessions: Arc<Sessions>,
    /// The colors of the configured theme.
    pub(crate) palette: Arc<Palette>,
    /// The reason why the configured shell can't be started.
    pub(crate) shell_complaint: Option<String>,
    /// Notifies the settings page of changes.
    pub(crate) changes: Arc<Changes>,
    approval: Approval,
    /// The title of the instance, if the command line sets it.
    title: Option<String>,
    ready: Arc<Ready>,
}

impl Startup {
    /// Reads the preferences and starts to watch them. Calls `apply` when the preferences change, and `beside` when
    /// another file in the home directory is written. Both are called on another thread. `succeeds`: whether the
    /// process takes the place of another process.
    pub(crate) fn new(
        args: &Args,
        has_window: bool,
        succeeds: bool,
        apply: impl Fn(&Weak<Mux>, Change) + Send + 'static,
        beside: impl Fn(&Weak<Mux>, &Path) + Send + 'static,
    ) -> Self {
        let (settings, complaints) =
            Settings::read_with(unterm_control::home(), args.profile.as_deref(), &args.option);
        let config = settings.get();
        // Programs of an instance that a client started end with its clients.
        let keeps = (config.sessions.keep && !args.with_stdin) || args.attaches() || succeeds;
        let sessions = Sessions::new(settings.home(), keeps);
        let options = environment::mux_options(has_window, args.allow());
        let mux = Mux::with_spawner(options, sessions.spawner());
        sessions.store_placements(&mux);
        let palette = environment::palette(&config, settings.home(), None);
        let shell_complaint = environment::apply(&mux, &config, settings.home(), &palette);
        let changes = Arc::new(Changes::default());
        let (page, weak) = (Arc::clone(&changes), Arc::downgrade(&mux));
        let (page_beside, weak_beside) = (Arc::clone(&page), weak.clone());
        let settings = settings.watch(
            move |change| {
                page.notify(Topic::Settings);
                apply(&weak, change);
            },
            move |path| {
                notify_page(&page_beside, path);
                beside(&weak_beside, path);
            },
        );
        let (approval, ready) = (args.approval(&config), Ready::new());
        let title = args.title();
        Self {
            settings,
            complaints,
            mux,
            sessions: Arc::new(sessions),
            palette,
            shell_complaint,
            changes,
            approval,
            title,
            ready,
        }
    }

    /// Starts the control server. Calls wait until [`Startup::open`]. `inherited`: the instance whose place it takes.
    ///
    /// # Errors
    /// Fails if no port is free, or if the server's threads can't be started.
    pub(crate) fn serve(
        &self,
        args: &Args,
        host: Arc<dyn Host>,
        inherited: Option<&Inheritance>,
    ) -> Result<Server> {
        let options = ServerOptions {
            mux: Arc::clone(&self.mux),
            host,
            home: self.settings.home().to_owned(),
            approval: self.approval,
            login: LoginLimits::default(),
        };
        let server = Server::builder(options)
            .gates(vec![self.ready.clone()])
            .title(self.title.clone())
            .in_place_of(inherited)
            .waiting_for_window(args.waits_for_window())
            .start()
            .context("cannot start the control server")?;
        environment::announce(&self.mux, &server);
        if let Some(inherited) = inherited {
            server.pause(inherited.is_paused);
        }
        self.sessions.set_owner(&server.instance_start());
        // An instance that a client started ends with its clients. An instance without an entry has no name.
        if !args.with_stdin && server.registry_fault().is_none() {
            self.sessions.prepare_crash(args, server.legacy(), inherited.is_some());
        }
        Ok(server)
    }

    /// Lets the waiting calls continue. Must be called after the first pane is open.
    pub(crate) fn open(&self) {
        self.ready.set();
    }

    /// The object that makes calls wait until the first pane is open.
    pub(crate) fn ready(&self) -> Arc<Ready> {
        Arc::clone(&self.ready)
    }
}
