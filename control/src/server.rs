//! Starting and stopping the control server, and what the app asks of it.

mod builder;

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
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

pub use self::builder::ServerBuilder;

use crate::{
    Host,
    backend::Backend,
    dialect::{contract::Dialect, peer::Instance},
    dispatch::Dispatcher,
    methods::{AddedMethod, Description, Entry, TableError},
    registry::{Registration, RegistryFault},
    services::{
        approvals::Approval, changes::Topic, drivers::Driver, questions::Question,
        recording::Recorder,
    },
    transport::{
        connection::{self, Service},
        limits::LoginLimits,
        listen, stdio,
        unix::{self, SocketFile},
    },
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

/// A running server: a runtime of two workers, its listeners and its entry in the registry. Dropping it, or
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
    /// Those of [`Server::listen`].
    sockets: Mutex<Vec<SocketFile>>,
}

/// How long the end of a process may wait for its recordings.
const CLOSING: Duration = Duration::from_secs(2);

impl Server {
    /// Serves one connection, until it ends, in a dialect: what the client sends, what it is sent. The client logs in as the
    /// dialect says, within the usual bounds.
    pub fn serve<D: Dialect>(
        &self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        dialect: D,
    ) -> JoinHandle<()> {
        let service = Service::new(dialect, self.instance.clone(), self.login);
        self.runtime().spawn(connection::serve(input, output, Arc::new(service)))
    }

    /// The same over two streams that block, such as the standard streams of this process.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn serve_blocking<D: Dialect>(
        &self,
        input: impl io::Read + Send + 'static,
        output: impl io::Write + Send + 'static,
        dialect: D,
    ) -> io::Result<JoinHandle<()>> {
        let (input, output) = stdio::carry(self.runtime(), input, output)?;
        Ok(self.serve(input, output, dialect))
    }

    /// Serves a dialect on a Unix socket at `path`, to programs of this user, until the server ends. The path's folder is to
    /// be for this user only.
    ///
    /// # Errors
    /// When the socket can't be made there.
    pub fn listen<D: Dialect>(&self, path: &Path, dialect: D) -> io::Result<()> {
        let (listener, file) = unix::bind(path)?;
        let _context = self.runtime().enter();
        let listener = UnixListener::from_std(listener)?;
        let service = Service::new(dialect, self.instance.clone(), self.login);
        self.runtime().spawn(listen::serve(listener, Arc::new(service)));
        self.sockets.lock().push(file);
        Ok(())
    }

    /// Adds a method, which callers of every wire find from now on. Who may call it follows from what it reveals and changes.
    ///
    /// # Errors
    /// Another method has the name, or there are too many.
    pub fn add_method(
        &self,
        description: Description,
        method: Box<dyn AddedMethod>,
    ) -> Result<(), TableError> {
        self.dispatcher.table().add(Entry::added(description, method))
    }

    /// Takes a method back that was added; false: there is none of that name. Calls under way go on.
    pub fn remove_method(&self, name: &str) -> bool {
        self.dispatcher.table().remove(name)
    }

    /// What carries out calls in this process.
    pub fn backend(&self) -> Arc<dyn Backend> {
        self.dispatcher.clone()
    }

    /// The instance's own token, which gives full rights. Programs of this user find it in the registry, if the server is
    /// entered there.
    pub fn token(&self) -> String {
        self.registration.record().auth_token.clone()
    }

    /// Where it listens; port 0: on no port.
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
        self.dispatcher.context().login_codes.link().map(|link| link.url)
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
        self.sockets.lock().clear();
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
