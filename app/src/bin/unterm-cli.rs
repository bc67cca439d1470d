//! The binary `unterm-cli`. A release ships it as a second name of `unterm`, which contains all of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    unterm::cli::main()
}
