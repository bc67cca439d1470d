//! The binary `unterm`.

use std::{io::Write, process::ExitCode};

use clap::Parser;
use unterm::{args::Args, local_time, logging};

fn main() -> ExitCode {
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
