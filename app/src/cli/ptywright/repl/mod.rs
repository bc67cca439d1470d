//! `ptywright repl`: a client of a ptywright server, for users and scripts.

mod client;
mod complete;
mod connection;
mod editor;
mod help;
mod history;
mod line;
mod line_printer;
mod names;
mod script;
mod show;

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::mpsc::Receiver,
    time::Duration,
};

use anyhow::Result;
use clap::Args;

use self::{
    client::{Client, line_of},
    connection::{Connection, Note},
    history::History,
};
use super::framing::Framing;

/// The time to wait for the last reports of a server that failed to start.
const LAST: Duration = Duration::from_secs(1);

/// The options of `repl`.
#[derive(Args)]
#[command(group(clap::ArgGroup::new("to").required(true).args(["stdio", "socket"])))]
pub struct Repl {
    /// Start a server for this prompt only. Its sessions end with the prompt.
    #[arg(long)]
    stdio: bool,
    /// Connect to the server that listens on this Unix socket.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// How the server frames messages: one per line, or by Content-Length headers.
    #[arg(long, value_enum, default_value_t = Framing::Ndjson)]
    framing: Framing,
    /// Load a plugin in the server that --stdio starts. May be given several times.
    #[arg(long, value_name = "FILE", requires = "stdio", conflicts_with = "server")]
    plugin: Vec<PathBuf>,
    /// Let the prompt load and unload plugins in the server that --stdio starts.
    #[arg(long, requires = "stdio", conflicts_with = "server")]
    allow_plugin_load: bool,
    /// Server that --stdio starts, with its arguments [default: this program's].
    #[arg(last = true, requires = "stdio", value_name = "COMMAND")]
    server: Vec<OsString>,
}

impl Repl {
    /// The command-line arguments of a server that we start.
    fn args(&self, instance: Option<&str>) -> Vec<OsString> {
        let plugins = self.plugin.iter().flat_map(|path| ["--plugin".into(), path.into()]);
        let load = self.allow_plugin_load.then(|| "--allow-plugin-load".into());
        let instance = instance.into_iter().flat_map(|name| ["--instance".into(), name.into()]);
        plugins.chain(load).chain(instance).collect()
    }
}

/// Connects to the server, and carries out lines.
///
/// # Errors
/// Fails if the server can't be reached or started.
pub fn run(options: &Repl, home: &Path, instance: Option<&str>, json: bool) -> Result<ExitCode> {
    let (connection, notes) = match &options.socket {
        Some(path) => Connection::to_socket(path, options.framing)?,
        None if options.server.is_empty() => {
            Connection::to_own(&options.args(instance), options.framing)?
        }
        None => Connection::to_child(&options.server, options.framing)?,
    };
    let is_edited = io::stdin().is_terminal() && io::stdout().is_terminal();
    let client = match Client::new(connection, json || !is_edited) {
        Ok(client) => client,
        Err(error) => {
            print_last(&notes);
            return Err(error);
        }
    };
    if is_edited {
        editor::run(client, notes, History::load(home), json)
    } else {
        script::run(&client, notes)
    }
}

/// Prints the last reports of a server that failed to start.
fn print_last(notes: &Receiver<Note>) {
    while let Ok(note) = notes.recv_timeout(LAST) {
        if let Some(line) = line_of(&note, false) {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}
