//! Starting and stopping the control server.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use tokio::runtime::{Builder, Handle, Runtime};
use unterm_mux::{Mux, Pane, PaneId, random};

use crate::{
    Host,
    dispatch::{Dispatcher, Gate},
    methods::{self, Context},
    registry::{self, Registration, RegistryFault},
    services::{
        approvals::Approval,
        changes::Topic,
        drivers::Driver,
        proxy,
        questions::Question,
        recording::{self, Recorder},
    },
    wire::{http, logins::LoginLimits, mcp, tcp},
};

/// What a server is started with.
pub struct ServerOptions {
    /// The mux to drive.
    pub mux: Arc<Mux>,
    /// The app.
    pub host: Arc<dyn Host>,
    /// The directory of instances and settings: `$UNTERM_HOME`, else `~/.unterm` ([`crate::home`]).
    pub home: PathBuf,
    /// What holds for agents that the person was never asked about; [`Server::set_approval`] changes it.
    pub approval: Approval,
    /// The bounds on connections that have not logged in.
    pub login: LoginLimits,
}

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// No port could be bound.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Bind(io::Error),
    /// The system gave no threads or no random numbers.
    #[error("cannot start the control server: {0}")]
    System(io::Error),
}

/// A running server: a runtime of two workers, its listener and its entry in the registry. Dropping it, or
/// [`Server::stop`], closes connections and removes the entry.
pub struct Server {
    runtime: Option<Runtime>,
    address: SocketAddr,
    registration: Arc<Registration>,
    registry_fault: Option<RegistryFault>,
    recorder: Arc<Recorder>,
    dispatcher: Arc<Dispatcher>,
}

/// How long the end of a process may wait for its recordings.
const CLOSING: Duration = Duration::from_secs(2);

impl Server {
    /// Binds, registers and serves. A server that can't register serves all the same ([`Server::registry_fault`]).
    pub fn start(options: ServerOptions) -> Result<Self, ServerError> {
        Self::start_gated(options, Vec::new())
    }

    /// The same, with gates that every call must pass, in order.
    pub fn start_gated(
        options: ServerOptions,
        gates: Vec<Arc<dyn Gate>>,
    ) -> Result<Self, ServerError> {
        let ServerOptions { mux, host, home, approval, login } = options;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            // For searches of long histories, new programs and files.
            .max_blocking_threads(8)
            .thread_name("unterm-control")
            .enable_all()
            .build()
            .map_err(ServerError::System)?;
        // For many connections, each of them a descriptor.
        if let Err(error) = unterm_mux::raise_descriptor_limit() {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
        let token = random::uuid().map_err(ServerError::System)?;
        let listener = tcp::bind().map_err(ServerError::Bind)?;
        listener.set_nonblocking(true).map_err(ServerError::Bind)?;
        let address = listener.local_addr().map_err(ServerError::Bind)?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(ServerError::Bind)?
        };
        let page = http::bind(&runtime);
        let http_port = page.as_ref().map_or(0, |(_, port)| *port);
        let (registration, registry_fault) =
            Registration::with_page(&home, address.port(), http_port, token.clone());
        let registration = Arc::new(registration);

        let context = Context::new(mux.clone(), host, registration.clone(), approval);
        let recorder = context.recorder.clone();
        let dispatcher = Arc::new(Dispatcher::new(context, gates));
        let mcp = Arc::new(mcp::Server::new(dispatcher.clone()));
        if let Some((listener, port)) = page {
            dispatcher.context().door.open_at(port);
            let token = token.clone();
            runtime.spawn(http::serve(listener, dispatcher.clone(), token, mcp.clone(), login));
        }
        let shared = tcp::Shared::new(dispatcher.clone(), token, mcp, login);
        runtime.spawn(tcp::serve(listener, Arc::new(shared)));
        if registry_fault.is_none() {
            runtime.spawn(registry::follow_active(registration.clone()));
        }
        runtime.spawn_blocking({
            let home = home.clone();
            move || recording::recover(&home)
        });
        runtime.spawn(recorder.clone().follow(&mux, methods::hides_input));
        // Before the first program is started, which is to know of it.
        if let Ok(proxy) = proxy::Proxy::read(&home)
            && proxy.enabled
        {
            proxy::tell(&mux, &proxy.resolve());
        }
        tracing::info!(%address, id = registration.record().id, "control server");
        Ok(Self {
            runtime: Some(runtime),
            address,
            registration,
            registry_fault,
            recorder,
            dispatcher,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What is missing of the instance's entry in the registry, if anything is.
    pub fn registry_fault(&self) -> Option<&RegistryFault> {
        self.registry_fault.as_ref()
    }

    /// Its runtime, for what else should run beside it: its end is the server's.
    ///
    /// # Panics
    /// Never: there is one until the server is dropped.
    pub fn runtime(&self) -> &Handle {
        self.runtime.as_ref().expect("a server has a runtime until it is dropped").handle()
    }

    /// What records panes, for the person's own wish to.
    pub fn recordings(&self) -> Recordings {
        Recordings { runtime: self.runtime().clone(), recorder: self.recorder.clone() }
    }

    /// Who drives a pane: the caller that keeps its input for itself, or that typed there a moment ago.
    pub fn driver(&self, pane: &Pane) -> Option<Driver> {
        let context = self.dispatcher.context();
        context.leases.of(pane).or_else(|| context.drivers.of(pane))
    }

    /// Whether calls that change something wait.
    pub fn is_paused(&self) -> bool {
        self.dispatcher.context().clients.is_paused()
    }

    /// Makes calls that change something wait, or go on.
    pub fn pause(&self, paused: bool) {
        let context = self.dispatcher.context();
        context.pause(paused);
        context.changes.tell(Topic::Policy);
    }

    /// What the person has not answered yet: whether clients may act before what they ask, each the oldest first.
    pub fn questions(&self) -> Vec<Question> {
        self.dispatcher.context().questions.list()
    }

    /// Through what the person answers them.
    pub fn answers(&self) -> Answers {
        Answers { runtime: self.runtime().clone(), dispatcher: self.dispatcher.clone() }
    }

    /// Says what holds for clients that the person was never asked about.
    pub fn set_approval(&self, rule: Approval) {
        let context = self.dispatcher.context();
        if context.approvals.set_rule(rule) {
            context.questions.withdraw_approvals(None);
            context.questions_changed();
        }
    }

    /// The instance's id, such as `alpha`; `unregistered` where it is not in the registry.
    pub fn instance_id(&self) -> String {
        self.registration.record().id.clone()
    }

    /// Makes links to the settings page, from any thread that may wait.
    pub fn settings_links(&self) -> SettingsLinks {
        SettingsLinks { runtime: self.runtime().clone(), dispatcher: self.dispatcher.clone() }
    }

    /// Removes the registry's entry, closes connections and stops the runtime.
    pub fn stop(self) {
        drop(self);
    }
}

/// Answers questions of agents for the person.
#[derive(Clone)]
pub struct Answers {
    runtime: Handle,
    dispatcher: Arc<Dispatcher>,
}

impl Answers {
    /// Answers one; see [`Question::choices`]. May write a file: not for a thread that may not wait.
    ///
    /// # Errors
    /// It was answered or taken back, that is no answer to it, or the answer could not be kept; for people.
    pub fn give(&self, number: u64, answer: &str) -> Result<(), String> {
        self.runtime.block_on(self.dispatcher.context().answer(number, answer))
    }

    /// Takes a question away without an answer: whoever asked hears that nobody will give one.
    pub fn refuse(&self, number: u64) {
        let context = self.dispatcher.context();
        if context.questions.withdraw(number) {
            context.questions_changed();
        }
    }
}

/// Makes links to the settings page.
#[derive(Clone)]
pub struct SettingsLinks {
    runtime: Handle,
    dispatcher: Arc<Dispatcher>,
}

impl SettingsLinks {
    /// A file that redirects a browser to the settings page, once, within a minute. Only its owner can read it.
    ///
    /// # Errors
    /// When no page is served, or the file can't be written; for people.
    pub fn redirect(&self) -> Result<PathBuf, String> {
        let link = self.runtime.block_on(self.dispatcher.context().redirect());
        link.map_err(|error| error.to_string())?.file.ok_or_else(|| "No file was made".to_owned())
    }

    /// An address that opens the settings page once, within a minute. It has the code: never an argument of a process.
    ///
    /// # Errors
    /// When no page is served; for people.
    pub fn address(&self) -> Result<String, String> {
        self.dispatcher.context().door.link().map(|link| link.url)
    }
}

/// Begins and ends recordings.
#[derive(Clone)]
pub struct Recordings {
    runtime: Handle,
    recorder: Arc<Recorder>,
}

impl Recordings {
    /// Whether a pane is recorded.
    pub fn has(&self, pane: PaneId) -> bool {
        self.recorder.has(pane)
    }

    /// Begins to record a pane (`None`), or ends that and gives the page it was rendered to. Writes files: not for a thread
    /// that may not wait.
    ///
    /// # Errors
    /// What went wrong, as a sentence.
    pub fn toggle(&self, pane: Arc<Pane>) -> Result<Option<PathBuf>, String> {
        let id = pane.id();
        self.runtime.block_on(async {
            if self.has(id) {
                return self.recorder.stop(id, "stopped").await.map(|record| Some(record.md_path));
            }
            self.recorder.start(pane, crate::methods::hides_input).await.map(|_| None)
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // First, so that nobody new finds a server that is closing.
        self.registration.remove();
        let Some(runtime) = self.runtime.take() else { return };
        if Handle::try_current().is_ok() {
            // Waiting is not allowed on a runtime's thread.
            runtime.shutdown_background();
        } else {
            // Recordings are closed and rendered; what takes longer is done by the next start.
            let closing = async { tokio::time::timeout(CLOSING, self.recorder.stop_all()).await };
            let _ = runtime.block_on(closing);
            runtime.shutdown_timeout(Duration::from_millis(500));
        }
    }
}
