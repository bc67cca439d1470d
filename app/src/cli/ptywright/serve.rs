//! `ptywright serve`: serves the ptywright protocol, for programs that it starts itself or for panes of a running
//! instance.

use std::{
    io,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context as _, Result};
use clap::Args;
use tokio::sync::oneshot;
use unterm_control::{
    Caller,
    ptywright::{Plugins, Server},
};

use super::{backend::Host, framing::Framing, log_file};
use crate::cli::unread::until_unread;

/// The name by which this server identifies itself to an instance.
const NAME: &str = "ptywright";

/// The options of `serve`.
#[derive(Args)]
#[command(group(clap::ArgGroup::new("where").required(true).args(["stdio", "socket"])))]
pub struct Serve {
    /// Serve one client on stdin and stdout. Diagnostics go to stderr.
    #[arg(long)]
    stdio: bool,
    /// Serve clients of this user on a Unix socket. Replaces a stale socket.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// How messages are framed: one per line, or by Content-Length headers.
    #[arg(long, value_enum, default_value_t = Framing::Ndjson)]
    framing: Framing,
    /// Load a plugin before clients connect. May be given several times.
    #[arg(long, value_name = "FILE")]
    plugin: Vec<PathBuf>,
    /// Let clients load and unload plugins.
    #[arg(long)]
    allow_plugin_load: bool,
}

/// Serves until the client disconnects or a signal arrives.
///
/// # Errors
/// Fails if the server can't be started.
pub fn run(options: &Serve, home: &Path, instance: Option<&str>) -> Result<()> {
    let Serve { socket, framing, plugin, allow_plugin_load, .. } = options;
    log_file::start(home);
    let plugins = Plugins::load(plugin, *allow_plugin_load)?;
    let host = Host::start(home, instance)?;
    let backend = host.backend();
    let runtime = host.runtime().clone();
    let (stop, stopped) = oneshot::channel();
    crate::signals::on_stop(move |_| {
        let _ = stop.send(());
    })?;
    let caller = Caller::of_user(Some(NAME));
    let result = runtime.block_on(async {
        let server = Server::new(backend, caller, (*framing).into(), plugins);
        let served = async {
            match socket {
                Some(path) => {
                    let listening = server
                        .listen(path)
                        .with_context(|| format!("cannot listen on {}", path.display()));
                    let listening = listening?;
                    tracing::info!(path = %path.display(), "the server listens");
                    listening.await;
                }
                None => {
                    let unread = unread()?;
                    tokio::select! {
                        served = server.serve_blocking(io::stdin(), io::stdout()) => served?,
                        Ok(()) = unread => {}
                    }
                }
            }
            Ok(())
        };
        let result = tokio::select! {
            result = served => result,
            _ = stopped => Ok(()),
        };
        server.close().await;
        result
    });
    host.stop();
    tracing::info!("the server has ended");
    result
}

/// Completes when the client has closed its side of standard output.
fn unread() -> io::Result<oneshot::Receiver<()>> {
    let (closed, unread) = oneshot::channel();
    thread::Builder::new().name("unterm-unread".to_owned()).spawn(move || {
        // If `poll` fails, only the end of the input reveals that the client has disconnected.
        if until_unread().is_ok() {
            let _ = closed.send(());
        }
    })?;
    Ok(unread)
}
