//! `unterm-cli ptywright`: a server of the ptywright protocol, and the server's log.

mod backend;
mod framing;
mod log_file;
mod logs;
mod serve;

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use anyhow::Result;
use clap::Subcommand;

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
    Serve(serve::Serve),
    /// Print the servers' log, and follow it.
    Logs(logs::Logs),
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
/// As for each command.
pub fn run(command: &PtywrightCommand, home: &Path, instance: Option<&str>) -> Result<()> {
    match command {
        PtywrightCommand::Serve(options) => serve::run(options, home, instance),
        PtywrightCommand::Logs(options) => logs::run(options, home),
    }
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
