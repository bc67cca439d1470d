//! The binary `unterm`.

use std::process::ExitCode;

use clap::Parser;
use unterm::{args::Args, local_time, logging};

fn main() -> ExitCode {
    let args = Args::parse();
    local_time::read_zone();
    logging::start();
    match unterm::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("unterm: {error:#}");
            ExitCode::FAILURE
        }
    }
}
