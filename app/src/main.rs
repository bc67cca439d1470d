//! The binary `unterm`. If it is called by the name `unterm-cli` or `ptywright`, it runs the command line.

use std::{io::Write, process::ExitCode};

use clap::Parser;
use unterm::{args::Args, cli, command_hint, local_time, logging, plain_words};

fn main() -> ExitCode {
    if cli::is_called() {
        return cli::main();
    }
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => match command_hint::program_hint(&error, &words) {
            Some(hint) => {
                let _ = writeln!(std::io::stderr(), "{hint}");
                return ExitCode::FAILURE;
            }
            None if error.use_stderr() => {
                let _ = write!(std::io::stderr(), "{}", plain_words::command_line(error));
                return ExitCode::from(2);
            }
            None => error.exit(),
        },
    };
    unterm_mux::limit_kept_memory();
    local_time::read_zone();
    logging::start();
    match unterm::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Unlike `eprintln!`, this does not panic if standard error can't be written.
            let _ = writeln!(std::io::stderr(), "unterm: {error:#}");
            ExitCode::FAILURE
        }
    }
}
