//! What carries out the server's calls: a mux of this process, or a running instance.

use std::{path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use tokio::runtime::{Builder, Handle, Runtime};
use unterm_control::{
    Approval, Headless, LoginLimits, Server, ServerOptions,
    backend::Backend,
    client::{self, Remote},
};
use unterm_mux::Mux;

/// The backend, and what it needs.
pub enum Host {
    /// Programs of this process.
    Own {
        /// Their panes.
        mux: Arc<Mux>,
        /// Has neither a port nor an entry in the registry.
        server: Server,
    },
    /// A running instance.
    Instance {
        /// Where the calls are made.
        runtime: Runtime,
        /// The instance.
        remote: Arc<Remote>,
    },
}

impl Host {
    /// Starts a mux, or connects to the instance of this name.
    ///
    /// # Errors
    /// There is no such instance, or the system gives no threads.
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

    /// Carries out calls.
    pub fn backend(&self) -> Arc<dyn Backend> {
        match self {
            Self::Own { server, .. } => server.backend(),
            Self::Instance { remote, .. } => Arc::<Remote>::clone(remote),
        }
    }

    /// Where the calls are made.
    pub fn runtime(&self) -> &Handle {
        match self {
            Self::Own { server, .. } => server.runtime(),
            Self::Instance { runtime, .. } => runtime.handle(),
        }
    }

    /// Ends all programs that this process started. An instance's programs keep running.
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
