//! The binary `unterm`. Called by the name of a link, `unterm-cli` or `ptywright`, it is the command line.

use std::{io::Write, process::ExitCode};

use clap::Parser;
use unterm::{args::Args, cli, local_time, logging};

fn main() -> ExitCode {
    if cli::is_called() {
        return cli::main();
    }
    let args = Args::parse();
    local_time::read_zone();
    logging::start();
    match unterm::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // `eprintln!` panics if standard error can't be written.
            let _ = writeln!(std::io::stderr(), "unterm: {error:#}");
            ExitCode::FAILURE
        }
    }
}
