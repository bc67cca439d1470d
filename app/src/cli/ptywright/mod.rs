//! `unterm-cli ptywright`: a server of the ptywright protocol, a client for users, and the log of the servers. Another
//! command runs a program on its own pty.

mod backend;
mod completions;
mod framing;
mod log_file;
mod logs;
mod repl;
mod run;
mod serve;
mod terminal;

use std::{ffi::OsString, path::Path, process::ExitCode};

use anyhow::Result;
use clap::{Command, Subcommand};

use crate::cli::{complete, generated::Shell, program_name, report::write_out};

/// The name of this command. A link of this name to the program stands for the command.
const NAME: &str = "ptywright";

/// Commands of the ptywright protocol.
#[derive(Subcommand)]
pub enum PtywrightCommand {
    /// Run a command on a terminal of its own, which passes keys and output through.
    ///
    /// Exits with the command's status: 128 and the signal's number if a signal ended it, 127 if there is no such command,
    /// 126 if it can't be run.
    Run(run::Run),
    /// Serve JSON-RPC on standard streams or on a Unix socket.
    ///
    /// Runs by itself, without a window, a port or an entry in the registry. With --instance, sessions are tabs of that
    /// running instance instead.
    Serve(serve::Serve),
    /// Call a server's methods from a prompt or a script.
    ///
    /// Type `help` for the methods, and press Tab for names, ids and intents. Without a terminal, reads one command a line,
    /// prints one JSON value a line, and exits with status 1 if a command failed.
    Repl(repl::Repl),
    /// Print the servers' log, and follow it.
    Logs(logs::Logs),
    /// Print a completion script for a link named ptywright.
    Completions {
        /// Shell to complete in.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print what can follow on a command line, for the completion scripts.
    #[command(hide = true)]
    Complete {
        /// Shell that asks.
        #[arg(long, value_enum)]
        shell: Shell,
        /// Words of the line after the program's name. The last word is to be completed.
        #[arg(last = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// Whether this program was called by a link named `ptywright`.
pub fn is_called() -> bool {
    program_name::is_called_as(NAME)
}

/// The command line of a link named `ptywright`. It consists of the commands below `ptywright` and the global options.
pub fn as_program(root: &Command) -> Option<Command> {
    let globals = root.get_arguments().filter(|option| option.is_global_set()).cloned();
    let own = root.find_subcommand(NAME)?.clone();
    Some(own.bin_name(NAME).version(env!("CARGO_PKG_VERSION")).args(globals))
}

/// The words of the link's command line. If no word follows the name, adds the option that prints the help.
pub fn words(line: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = line.collect();
    if words.len() == 1 {
        words.push("--help".into());
    }
    words
}

/// The global options and values that the ptywright commands need.
pub struct Globals<'a> {
    /// Unterm's home directory, which contains instances, logs and histories.
    pub home: &'a Path,
    /// The name of the instance that the user gave.
    pub instance: Option<&'a str>,
    /// Whether results are printed as JSON.
    pub json: bool,
    /// Returns the definitions of all commands of this program.
    pub root: fn() -> Command,
}

/// Runs a ptywright command.
///
/// # Errors
/// Fails as described for each command.
pub fn run(command: &PtywrightCommand, globals: &Globals<'_>) -> Result<ExitCode> {
    let Globals { home, instance, json, root } = *globals;
    match command {
        PtywrightCommand::Run(options) => return run::run(options),
        PtywrightCommand::Serve(options) => serve::run(options, home, instance)?,
        PtywrightCommand::Repl(options) => return repl::run(options, home, instance, json),
        PtywrightCommand::Logs(options) => logs::run(options, home)?,
        PtywrightCommand::Completions { shell } => {
            write_out(&completions::script(*shell, root())?)?;
        }
        PtywrightCommand::Complete { shell, words } => {
            let words: Vec<_> =
                std::iter::once(NAME.to_owned()).chain(words.iter().cloned()).collect();
            let found = complete::candidates(root(), &words, home);
            write_out(&complete::lines(*shell, &found))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    #[test]
    fn a_link_is_a_program_of_its_own() {
        let root = Command::new("unterm-cli")
            .arg(Arg::new("instance").long("instance").global(true))
            .subcommand(Command::new(NAME).subcommand(Command::new("serve")));
        let mut link = as_program(&root).unwrap();
        assert!(link.render_version().starts_with("ptywright "));
        assert!(link.render_help().to_string().contains("Usage: ptywright [OPTIONS] [COMMAND]"));
        let line = ["/bin/ptywright", "serve", "--instance", "alpha"];
        let matches = link.try_get_matches_from(line).unwrap();
        assert_eq!(matches.get_one::<String>("instance").unwrap(), "alpha");
        assert_eq!(words(std::iter::once("ptywright".into())), ["ptywright", "--help"]);
    }
}
