//! `unterm-cli ptywright`: serves the ptywright protocol, with programs of its own or in a running instance.

mod backend;

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context as _, Result};
use clap::{Subcommand, ValueEnum};
use tokio::sync::oneshot;
use unterm_control::{
    Caller,
    ptywright::{FramingKind, Plugins, Server},
};

use self::backend::Host;
use crate::unread::until_unread;

/// The name of the command, and of a link to this program that stands for it.
const NAME: &str = "ptywright";
/// The name of this program.
const PROGRAM: &str = "unterm-cli";

/// Commands of the ptywright protocol.
#[derive(Subcommand)]
pub enum PtywrightCommand {
    /// Serve JSON-RPC on standard streams or on a Unix socket.
    ///
    /// Runs by itself, without a window, a port or an entry in the registry. With --instance, sessions are tabs of that
    /// running instance instead.
    #[command(group(clap::ArgGroup::new("where").required(true).args(["stdio", "socket"])))]
    Serve {
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
    },
}

/// How messages are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Framing {
    /// One JSON object a line.
    Ndjson,
    /// Content-Length headers, as in the Language Server Protocol.
    Lsp,
}

impl From<Framing> for FramingKind {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Ndjson => Self::Ndjson,
            Framing::Lsp => Self::Lsp,
        }
    }
}

/// The words of a command line. A link named `ptywright` stands for the program and the command.
pub fn words(line: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = line.collect();
    let called = words.first().map(Path::new).and_then(Path::file_stem);
    if called == Some(OsStr::new(NAME)) {
        words.splice(..1, [PROGRAM, NAME].map(OsString::from));
    }
    words
}

/// Runs a command.
///
/// # Errors
/// The server can't be started.
pub fn run(command: &PtywrightCommand, home: &Path, instance: Option<&str>) -> Result<()> {
    let PtywrightCommand::Serve { socket, framing, plugin, allow_plugin_load, .. } = command;
    unterm::logging::start();
    let plugins = Plugins::load(plugin, *allow_plugin_load)?;
    let host = Host::start(home, instance)?;
    let backend = host.backend();
    let runtime = host.runtime().clone();
    let (stop, stopped) = oneshot::channel();
    unterm::signals::on_stop(move |_| {
        let _ = stop.send(());
    })?;
    let caller = Caller::of_user(Some(NAME));
    let result = runtime.block_on(async {
        let server = Server::new(backend, caller, (*framing).into(), plugins);
        let served = async {
            match socket {
                Some(path) => {
                    let listening = server.listen(path);
                    let listening =
                        listening.with_context(|| format!("cannot listen on {}", path.display()));
                    listening?.await;
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
    result
}

/// Completes when the client no longer reads standard output.
fn unread() -> io::Result<oneshot::Receiver<()>> {
    let (closed, unread) = oneshot::channel();
    thread::Builder::new().name("unterm-unread".to_owned()).spawn(move || {
        // If `poll` fails, only the end of the input shows that the client has disconnected.
        if until_unread().is_ok() {
            let _ = closed.send(());
        }
    })?;
    Ok(unread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stands_for_the_command() {
        let words = |line: &str| {
            let words = words(line.split(' ').map(OsString::from));
            words.into_iter().filter_map(|word| word.into_string().ok()).collect::<Vec<_>>()
        };
        assert_eq!(words("/bin/ptywright serve"), ["unterm-cli", "ptywright", "serve"]);
        assert_eq!(words("unterm-cli ptywright"), ["unterm-cli", "ptywright"]);
        assert_eq!(words("ptywright"), ["unterm-cli", "ptywright"]);
    }
}
