//! Starting and stopping the control server.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use unterm_mux::Mux;

use crate::Host;

/// What a server is started with.
pub struct ServerOptions {
    /// The mux to drive.
    pub mux: Arc<Mux>,
    /// The app.
    pub host: Arc<dyn Host>,
    /// The directory of instances and settings: `$UNTERM_HOME`, else `~/.unterm`.
    pub home: PathBuf,
}

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// No port could be bound.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Bind(std::io::Error),
    /// The registry could not be written.
    #[error("cannot register in {path}: {error}")]
    Registry {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// A running server: a runtime of two workers, its listener and its entry in the registry. Dropping it, or
/// [`Server::stop`], closes connections and removes the entry.
pub struct Server {}

impl Server {
    /// Binds, registers and serves.
    pub fn start(options: ServerOptions) -> Result<Self, ServerError> {
        let _ = options;
        todo!()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        todo!()
    }

    /// The instance's id, such as `alpha`.
    pub fn instance_id(&self) -> String {
        todo!()
    }

    /// Closes connections, stops the runtime and removes the registry's entry.
    pub fn stop(self) {
        todo!()
    }
}
