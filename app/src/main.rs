//! The binary `unterm`.

use std::process::ExitCode;

use clap::Parser;
use unterm::{args::Args, logging};

fn main() -> ExitCode {
    let args = Args::parse();
    logging::start();
    match unterm::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("unterm: {error:#}");
            ExitCode::FAILURE
        }
    }
}
