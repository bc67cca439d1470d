//! Builds and starts a server.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, UnixListener},
    runtime::{Builder, Runtime},
};
use unterm_mux::random;

use super::{Server, ServerError, ServerOptions, inheritance::Inheritance};
use crate::{
    dialect::{mcp, settings, tmux, unterm::JsonRpc},
    dispatch::{Dispatcher, Gate},
    methods::{self, Context},
    registry::{self, Record, Registration},
    services::{pane::proxy, records::recording},
    transport::{connection::Service, listen, peer::Instance, tcp},
};

/// Configures a server. By default, it listens on a port and a Unix socket, serves the settings page, and adds itself
/// to the registry. If all of these are turned off, clients can reach it only through [`Server::serve`].
pub struct ServerBuilder {
    options: ServerOptions,
    gates: Vec<Arc<dyn Gate>>,
    title: Option<String>,
    inherited: Option<Record>,
    waits_for_window: bool,
    has_port: bool,
    has_page: bool,
    is_registered: bool,
}

impl Server {
    /// Creates a builder of a server with these options.
    pub fn builder(options: ServerOptions) -> ServerBuilder {
        ServerBuilder::new(options)
    }

    /// Binds the port, registers the instance and starts to serve. If the server can't register, it still serves
    /// ([`Server::registry_fault`]).
    ///
    /// # Errors
    /// The errors of [`ServerBuilder::start`].
    pub fn start(options: ServerOptions) -> Result<Self, ServerError> {
        Self::builder(options).start()
    }

    /// Starts a server like [`Server::start`], with gates that every call must pass, in order.
    ///
    /// # Errors
    /// The errors of [`ServerBuilder::start`].
    pub fn start_gated(
        options: ServerOptions,
        gates: Vec<Arc<dyn Gate>>,
    ) -> Result<Self, ServerError> {
        Self::builder(options).gates(gates).start()
    }
}

impl ServerBuilder {
    pub(super) fn new(options: ServerOptions) -> Self {
        Self {
            options,
            gates: Vec::new(),
            title: None,
            inherited: None,
            waits_for_window: false,
            has_port: true,
            has_page: true,
            is_registered: true,
        }
    }

    /// Adds gates that every call must pass, in order.
    #[must_use]
    pub fn gates(mut self, gates: Vec<Arc<dyn Gate>>) -> Self {
        self.gates = gates;
        self
    }

    /// Sets the title of the instance in the registry, instead of the default title. A caller may set another title
    /// (`instance.set_title`) and remove it again.
    #[must_use]
    pub fn title(mut self, title: Option<String>) -> Self {
        self.title = title;
        self
    }

    /// Takes the place of an instance that has ended: its name, its ports and its token, as far as they are still free. The rule
    /// about unknown agents is the stricter of both.
    #[must_use]
    pub fn in_place_of(mut self, inherited: Option<&Inheritance>) -> Self {
        if let Some(rule) = inherited.and_then(|inherited| inherited.approval) {
            self.options.approval = self.options.approval.stricter(rule);
        }
        self.inherited = inherited.map(|inherited| inherited.record.clone());
        self
    }

    /// Lets the next window find this instance, and take its place.
    #[must_use]
    pub fn waiting_for_window(mut self, waits_for_window: bool) -> Self {
        self.waits_for_window = waits_for_window;
        self
    }

    /// Opens no TCP port. The entry in the registry, if there is one, contains port 0.
    #[must_use]
    pub fn without_port(mut self) -> Self {
        self.has_port = false;
        self
    }

    /// Serves no HTTP: neither the settings page nor MCP over HTTP.
    #[must_use]
    pub fn without_page(mut self) -> Self {
        self.has_page = false;
        self
    }

    /// Adds no entry to the registry. The server then has no Unix socket, and does not watch other instances. It still
    /// uses the settings, tokens and rules in its home.
    #[must_use]
    pub fn without_registry(mut self) -> Self {
        self.is_registered = false;
        self
    }

    /// Binds the port, registers the instance and starts to serve. If the server can't register, it still serves
    /// ([`Server::registry_fault`]).
    ///
    /// # Errors
    /// No port can be bound, or the system provides no threads or no random numbers.
    pub fn start(self) -> Result<Server, ServerError> {
        let ServerOptions { mux, host, home, approval, login } = self.options;
        let runtime = runtime().map_err(ServerError::System)?;
        // The limit is raised because each connection needs a file descriptor.
        if let Err(error) = unterm_mux::raise_descriptor_limit() {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
        let ports = self.inherited.as_ref().map(|record| (record.mcp_port, record.http_port));
        let (port, page_port) = ports.unzip();
        let own_token = random::uuid().map_err(ServerError::System)?;
        let token = match &self.inherited {
            Some(record) => record.auth_token.clone(),
            None => own_token.clone(),
        };
        let (listener, address) = match self.has_port {
            true => {
                let (listener, address) = listen(&runtime, port).map_err(ServerError::Bind)?;
                (Some(listener), address)
            }
            false => (None, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
        };
        let page = if self.has_page { settings::bind(&runtime, page_port) } else { None };
        let http_port = page.as_ref().map_or(0, |(_, port)| *port);
        let registration = Registration::unregistered(&home, address.port(), http_port, token);
        let registration = registration.with_default_title(self.title);
        let registration =
            registration.in_place_of(self.inherited, own_token, self.waits_for_window);
        let registry_fault = if self.is_registered { registration.enter().err() } else { None };
        // Another instance may have the inherited name and token.
        let token = registration.record().auth_token.clone();
        let registration = Arc::new(registration);

        let context = Context::new(
            mux.clone(),
            host,
            registration.clone(),
            approval,
            methods::names_by_group,
        );
        let recorder = context.records.recorder.clone();
        let dispatcher = Arc::new(Dispatcher::new(context, self.gates));
        let mcp = Arc::new(mcp::Server::new(dispatcher.clone()));
        if let Some((listener, port)) = page {
            dispatcher.context().people.login_codes.open_at(port);
            let token = token.clone();
            runtime.spawn(settings::serve(listener, dispatcher.clone(), token, mcp.clone(), login));
        }
        let instance = Arc::new(Instance::new(dispatcher.clone(), token));
        let tmux = Arc::new(tmux::Server::new(dispatcher.clone()));
        let service = || {
            let dialect = JsonRpc::new(mcp.clone(), tmux.clone());
            Arc::new(Service::new(dialect, instance.clone(), login))
        };
        if let Some(listener) = listener {
            runtime.spawn(listen::serve(listener, service()));
        }
        if let Some(listener) = registration.take_listener() {
            let _context = runtime.enter();
            match UnixListener::from_std(listener) {
                Ok(listener) => drop(runtime.spawn(listen::serve(listener, service()))),
                Err(error) => tracing::warn!(%error, "the instance's socket is not served"),
            }
        }
        if self.is_registered && registry_fault.is_none() {
            runtime.spawn(registry::follow_active(registration.clone()));
        }
        runtime.spawn_blocking({
            let home = home.clone();
            move || recording::recover(&home)
        });
        runtime.spawn(recorder.clone().follow(&mux, methods::hides_input));
        // The proxy is set before the first program starts, so that the program's environment contains it.
        if let Ok(proxy) = proxy::Proxy::read(&home)
            && proxy.enabled
        {
            proxy::set_variables(&mux, &proxy.resolve());
        }
        tracing::info!(%address, id = registration.record().id, "control server");
        Ok(Server {
            runtime: Some(runtime),
            address,
            registration,
            registry_fault,
            recorder,
            dispatcher,
            instance,
            login,
            sockets: Mutex::default(),
        })
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        // Blocking threads run searches of long histories, start programs and access files.
        .max_blocking_threads(8)
        .thread_name("unterm-control")
        .enable_all()
        .build()
}

/// Listens on a port of a former instance, if it is free, or else on another port.
fn listen(runtime: &Runtime, former: Option<u16>) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = tcp::bind(former, tcp::PREFERRED_PORT)?;
    let address = listener.local_addr()?;
    let _context = runtime.enter();
    Ok((TcpListener::from_std(listener)?, address))
}
