//! The binary `unterm-cli`. A release ships `unterm-cli` as a second name of the binary `unterm`, which contains the
//! same code.

use std::process::ExitCode;

fn main() -> ExitCode {
    unterm::cli::main()
}
