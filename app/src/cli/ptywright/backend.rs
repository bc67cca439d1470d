//! Carries out the server's calls, either with a mux in this process or with a running instance.

use std::{path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use tokio::runtime::{Builder, Handle, Runtime};
use unterm_control::{
    Approval, Headless, LoginLimits, Server, ServerOptions,
    backend::Backend,
    client::{self, Remote},
};
use unterm_mux::Mux;

/// The owner of the backend's programs, and everything that the backend needs.
pub enum Host {
    /// The programs run in this process.
    Own {
        /// The mux that owns the programs' panes.
        mux: Arc<Mux>,
        /// A server that has neither a port nor an entry in the registry.
        server: Server,
    },
    /// The programs run in a running instance.
    Instance {
        /// The runtime on which calls are made.
        runtime: Runtime,
        /// The connection to the instance.
        remote: Arc<Remote>,
    },
}

impl Host {
    /// Starts a mux. If a name is given, connects to the instance of that name instead.
    ///
    /// # Errors
    /// Fails if the instance does not exist, or if the operating system can't create threads.
    pub fn start(home: &Path, instance: Option<&str>) -> Result<Self> {
        let Some(name) = instance else {
            let mux = crate::plain_mux();
            let options = ServerOptions {
                mux: Arc::clone(&mux),
                host: Arc::new(Headless),
                home: home.to_owned(),
                approval: Approval::Allow,
                login: LoginLimits::default(),
            };
            let builder = Server::builder(options).without_port().without_page();
            let server = builder.without_registry().start().context("cannot start")?;
            return Ok(Self::Own { mux, server });
        };
        let endpoint = client::find_by_name(home, name)?;
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build()?;
        let remote = Arc::new(Remote::new(endpoint, Some("ptywright")));
        runtime.block_on(remote.connect())?;
        Ok(Self::Instance { runtime, remote })
    }

    /// Returns the backend that carries out calls.
    pub fn backend(&self) -> Arc<dyn Backend> {
        match self {
            Self::Own { server, .. } => server.backend(),
            Self::Instance { remote, .. } => Arc::<Remote>::clone(remote),
        }
    }

    /// The runtime on which calls are made.
    pub fn runtime(&self) -> &Handle {
        match self {
            Self::Own { server, .. } => server.runtime(),
            Self::Instance { runtime, .. } => runtime.handle(),
        }
    }

    /// Ends all programs that this process started. Programs of an instance keep running.
    pub fn stop(self) {
        match self {
            Self::Own { mux, server } => {
                server.stop();
                mux.shutdown();
            }
            Self::Instance { runtime, .. } => runtime.shutdown_background(),
        }
    }
}
