//! The running control server, and the operations that the app uses.

mod builder;
mod inheritance;

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::UnixListener,
    runtime::{Handle, Runtime},
    task::JoinHandle,
};
use unterm_mux::{Mux, Pane, PaneId};
use unterm_term::Term;

pub use self::{
    builder::ServerBuilder,
    inheritance::{Inheritance, NotInherited},
};

use crate::{
    Host,
    backend::Backend,
    dispatch::Dispatcher,
    methods::{adapter::ProgramState, moving::Mover},
    registry::{Record, Registration, RegistryFault},
    services::{
        pane::{
            drivers::Driver,
            program_state::{
                self,
                claim::{Claim, State},
            },
        },
        people::{approvals::Approval, changes::Topic, questions::Question},
        records::recording::Recorder,
    },
    transport::{
        connection::{self, Service},
        contract::Dialect,
        limits::LoginLimits,
        listen,
        peer::Instance,
        stdio,
        unix::{self, SocketFile},
    },
};

/// The options of a server.
pub struct ServerOptions {
    /// The mux that the server controls.
    pub mux: Arc<Mux>,
    /// The app that embeds the server.
    pub host: Arc<dyn Host>,
    /// The directory of instances and settings: `$UNTERM_HOME`, else `~/.unterm` ([`crate::home`]).
    pub home: PathBuf,
    /// The rule for clients that the user has not decided about. [`Server::set_approval`] changes it.
    pub approval: Approval,
    /// The limits on connections that have not logged in.
    pub login: LoginLimits,
}

/// The reason why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// No port could be bound.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Bind(io::Error),
    /// The system provided no threads or no random numbers.
    #[error("cannot start the control server: {0}")]
    System(io::Error),
}

/// A running server: a runtime with two worker threads, its listeners and its entry in the registry. Dropping it, or
/// [`Server::stop`], closes connections and removes the entry and its sockets.
pub struct Server {
    runtime: Option<Runtime>,
    address: SocketAddr,
    registration: Arc<Registration>,
    registry_fault: Option<RegistryFault>,
    recorder: Arc<Recorder>,
    dispatcher: Arc<Dispatcher>,
    instance: Arc<Instance>,
    login: LoginLimits,
    /// The sockets that [`Server::listen`] created.
    sockets: Mutex<Vec<SocketFile>>,
}

/// The maximum time that dropping a server waits until recordings are rendered.
const CLOSING: Duration = Duration::from_secs(2);

impl Server {
    /// Serves one connection in a dialect until it ends. The server reads requests from `input` and writes replies to
    /// `output`. The client logs in as the dialect requires, within the usual limits.
    pub fn serve<D: Dialect>(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        dialect: D,
    ) -> JoinHandle<()> {
        let service = Service::new(dialect, self.instance.clone(), self.login);
        self.runtime().spawn(connection::serve(input, output, Arc::new(service), None))
    }

    /// Serves one connection like [`Self::serve`], over two blocking streams, such as the standard streams of this
    /// process.
    ///
    /// # Errors
    /// The system can't start a thread.
    pub fn serve_blocking<D: Dialect>(
        &self,
        input: impl io::Read + Send + 'static,
        output: impl io::Write + Send + 'static,
        dialect: D,
    ) -> io::Result<JoinHandle<()>> {
        let carried = stdio::carry(self.runtime(), input, output)?;
        Ok(self.serve(carried.reader, carried.writer, dialect))
    }

    /// Serves a dialect on a Unix socket at `path`, to programs of this user, until the server ends. The folder of
    /// `path` must be private to this user.
    ///
    /// # Errors
    /// The socket can't be created at `path`.
    pub fn listen<D: Dialect>(&self, path: &Path, dialect: D) -> io::Result<()> {
        let (listener, file) = unix::bind(path)?;
        let _context = self.runtime().enter();
        let listener = UnixListener::from_std(listener)?;
        let service = Service::new(dialect, self.instance.clone(), self.login);
        self.runtime().spawn(listen::serve(listener, Arc::new(service)));
        self.sockets.lock().push(file);
        Ok(())
    }

    /// A backend that executes calls in this process.
    pub fn backend(&self) -> Arc<dyn Backend> {
        self.dispatcher.clone()
    }

    /// The instance's own token, which gives full rights. If the server is in the registry, programs of this user can
    /// read the token there.
    pub fn token(&self) -> String {
        self.registration.record().auth_token.clone()
    }

    /// The TCP address of the server. Port 0 if the server has no port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The problem with the instance's entry in the registry, if there is one.
    pub fn registry_fault(&self) -> Option<&RegistryFault> {
        self.registry_fault.as_ref()
    }

    /// The server's runtime, for other tasks of the app. They end with the server.
    ///
    /// # Panics
    /// Never: the runtime exists until the server is dropped.
    pub fn runtime(&self) -> &Handle {
        self.runtime.as_ref().expect("a server has a runtime until it is dropped").handle()
    }

    /// The states of the programs that plugins watch, as the programs' screens show them. A program chooses what its
    /// screen shows, so a state may be wrong.
    pub fn program_states(&self) -> Vec<ProgramState> {
        let all = self.dispatcher.context().panes.adapters.all();
        all.iter().filter_map(|adapter| ProgramState::of(adapter)).collect()
    }

    /// The state that a pane's programs and agents report, for its tab: by OSC 7501, a question to the user, a plugin or
    /// OSC 9;4, in this order. Reads no processes. `None` if they report nothing.
    pub fn reported_state(&self, pane: &Pane) -> Option<ReportedState> {
        self.dispatcher.context().panes.programs.reported(pane).as_ref().map(ReportedState::of)
    }

    /// Records that the user looks at a pane. Results of its programs that the user has seen no longer count.
    pub fn looked_at(&self, pane: PaneId) {
        self.dispatcher.context().panes.hub.looked_at(pane);
    }

    /// Starts and stops recordings on behalf of the user.
    pub fn recordings(&self) -> Recordings {
        Recordings { runtime: self.runtime().clone(), recorder: self.recorder.clone() }
    }

    /// The driver of a pane: the caller that leased the pane, or a caller that typed there in the last few seconds.
    pub fn driver(&self, pane: &Pane) -> Option<Driver> {
        let context = self.dispatcher.context();
        context.panes.leases.of(pane).or_else(|| context.panes.drivers.of(pane))
    }

    /// Whether agents are paused, so that their calls that change something wait.
    pub fn is_paused(&self) -> bool {
        self.dispatcher.context().people.clients.is_paused()
    }

    /// Pauses agents, so that their calls that change something wait, or resumes them.
    pub fn pause(&self, paused: bool) {
        let context = self.dispatcher.context();
        context.pause(paused);
        context.people.changes.notify(Topic::Policy);
    }

    /// The open questions: approvals first, then questions of agents, each oldest first.
    pub fn questions(&self) -> Vec<Question> {
        self.dispatcher.context().people.questions.list()
    }

    /// Answers the open questions on behalf of the user.
    pub fn answers(&self) -> Answers {
        Answers { runtime: self.runtime().clone(), dispatcher: self.dispatcher.clone() }
    }

    /// Sets the rule for clients that the user has not decided about.
    pub fn set_approval(&self, rule: Approval) {
        let context = self.dispatcher.context();
        if context.people.approvals.set_rule(rule) {
            context.people.questions.withdraw_approvals(None);
            context.questions_changed();
        }
    }

    /// The instance's id, such as `alpha`, or `unregistered` if the instance is not in the registry.
    pub fn instance_id(&self) -> String {
        self.registration.record().id.clone()
    }

    /// The instance's id and start time. The text is unique among all starts of all instances.
    pub fn instance_start(&self) -> String {
        self.registration.start()
    }

    /// Moves sessions to other windows.
    pub fn mover(&self) -> Mover {
        Mover::of(self.dispatcher.context())
    }

    /// Reports the state that this instance leaves to the process that takes its place.
    pub fn legacy(&self) -> Legacy {
        let dispatcher = Arc::downgrade(&self.dispatcher);
        Legacy { registration: self.registration.clone(), dispatcher }
    }

    /// Sets the project that the window shows, so that the title in the registry contains it, too. The registry is
    /// written on another thread.
    pub fn set_project(&self, project: Option<&str>) {
        let registration = Arc::clone(&self.registration);
        registration.name_project(project);
        self.runtime().spawn_blocking(move || {
            if let Err(error) = registration.retitle() {
                tracing::warn!("the registry's title can't be written: {error}");
            }
        });
    }

    /// Creates links to the settings page, from any thread that may block.
    pub fn settings_links(&self) -> SettingsLinks {
        SettingsLinks { runtime: self.runtime().clone(), dispatcher: self.dispatcher.clone() }
    }

    /// Removes the registry's entry, closes connections and stops the runtime.
    pub fn stop(self) {
        drop(self);
    }

    /// Removes the instance from the registry even if a library exits the process, as Xlib does when the X server ends.
    /// Works only for the process's first server.
    pub fn leave_registry_at_exit(&self) {
        static REGISTRATION: OnceLock<Arc<Registration>> = OnceLock::new();
        let remove = || REGISTRATION.get().map_or((), |registration| registration.remove());
        if REGISTRATION.set(Arc::clone(&self.registration)).is_ok() && !unterm_mux::at_exit(remove)
        {
            tracing::warn!("the registry may name this instance after a crash of its display");
        }
    }
}

/// The state that an instance leaves to the process that takes its place.
#[derive(Clone)]
pub struct Legacy {
    registration: Arc<Registration>,
    dispatcher: Weak<Dispatcher>,
}

impl Legacy {
    /// Whether agents are paused. `None` if the server has ended.
    pub fn is_paused(&self) -> Option<bool> {
        Some(self.dispatcher.upgrade()?.context().people.clients.is_paused())
    }

    /// The inheritance at this moment. `None` if the server has ended.
    pub fn inheritance(&self) -> Option<Inheritance> {
        let dispatcher = self.dispatcher.upgrade()?;
        let context = dispatcher.context();
        Some(Inheritance {
            record: Record::clone(&self.registration.record()),
            next_session: context.mux.next_pane(),
            focused: inheritance::focused(&context.mux),
            sessions: inheritance::sessions(&context.mux),
            is_paused: context.people.clients.is_paused(),
            approval: Some(context.people.approvals.rule()),
        })
    }
}

/// Answers approvals and questions of agents on behalf of the user.
#[derive(Clone)]
pub struct Answers {
    runtime: Handle,
    dispatcher: Arc<Dispatcher>,
}

impl Answers {
    /// Answers a question. See [`Question::choices`]. May write a file, so the calling thread must be allowed to block.
    ///
    /// # Errors
    /// The question is closed, the answer is not one of its choices, or the answer could not be saved. A message for
    /// users.
    pub fn give(&self, number: u64, answer: &str) -> Result<(), String> {
        self.runtime.block_on(self.dispatcher.context().answer(number, answer))
    }

    /// Closes a question without an answer, and notifies the client that asked it.
    pub fn refuse(&self, number: u64) {
        self.dispatcher.context().leave_unanswered(number);
    }
}

/// Creates links to the settings page.
#[derive(Clone)]
pub struct SettingsLinks {
    runtime: Handle,
    dispatcher: Arc<Dispatcher>,
}

impl SettingsLinks {
    /// A file that redirects a browser to the settings page. It works once, within a minute. Only the file's owner can
    /// read it.
    ///
    /// # Errors
    /// This instance serves no page, or the file can't be written. A message for users.
    pub fn redirect(&self) -> Result<PathBuf, String> {
        let link = self.runtime.block_on(self.dispatcher.context().redirect());
        link.map_err(|error| error.to_string())?.file.ok_or_else(|| "No file was made".to_owned())
    }

    /// An address that opens the settings page once, within a minute. It contains a login code, so never pass it to a
    /// process as an argument: other users can read the arguments of processes.
    ///
    /// # Errors
    /// This instance serves no page. A message for users.
    pub fn address(&self) -> Result<String, String> {
        self.dispatcher.context().people.login_codes.link().map(|link| link.url)
    }
}

/// The state that a pane's tab shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedState {
    /// The state.
    pub state: State,
    /// The completed part in percent, if the program reports it.
    pub progress: Option<u8>,
    /// A line for the user. The program chooses it, so it is untrusted. If the program reports no line, what it needs.
    pub message: Option<String>,
}

impl ReportedState {
    fn of(claim: &Claim) -> Self {
        let need = || Some(claim.need?.name().to_owned());
        let message = claim.message.clone().or_else(need);
        Self { state: claim.state, progress: claim.progress, message }
    }

    /// The state that the programs in a terminal report, for an app without a server. See [`Server::reported_state`].
    pub fn of_term(term: &Term) -> Option<Self> {
        program_state::of_term(term).as_ref().map(Self::of)
    }
}

/// Starts and stops recordings.
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

    /// Starts to record a pane and returns `None`, or stops its recording and returns the path of the rendered page.
    /// Writes files, so the calling thread must be allowed to block.
    ///
    /// # Errors
    /// The recording can't be started or stopped. A message for users.
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
        // The registration is removed first, so that no client finds a server that is closing.
        self.registration.remove();
        self.sockets.lock().clear();
        let Some(runtime) = self.runtime.take() else { return };
        if Handle::try_current().is_ok() {
            // A thread of a runtime must not block.
            runtime.shutdown_background();
        } else {
            // Closes and renders the recordings. If that takes too long, the next start of an instance renders the
            // rest.
            let closing = async { tokio::time::timeout(CLOSING, self.recorder.stop_all()).await };
            let _ = runtime.block_on(closing);
            runtime.shutdown_timeout(Duration::from_millis(500));
        }
    }
}
