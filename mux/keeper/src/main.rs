//! `unterm-keeper`: keeps the programs in Unterm's panes running while windows come and go. Unterm starts it when it is
//! needed, and it ends with its last pane.

use std::{
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};

const USAGE: &str = "\
usage: unterm-keeper --socket PATH

Keeps the programs in Unterm's panes running while windows come and go. Unterm
starts it when the option `sessions.keep` is set. It ends with the last pane.
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let path = match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(flag), Some(path), None) if flag == "--socket" && !path.is_empty() => path.into(),
        (Some(flag), None, None) if flag == "--help" || flag == "-h" => {
            return ended(io::stdout().write_all(USAGE.as_bytes()));
        }
        (Some(flag), None, None) if flag == "--version" || flag == "-V" => {
            return ended(writeln!(io::stdout(), "unterm-keeper {}", env!("CARGO_PKG_VERSION")));
        }
        _ => {
            let _ = io::stderr().write_all(USAGE.as_bytes());
            return ExitCode::from(2);
        }
    };
    run(path)
}

fn ended(result: io::Result<()>) -> ExitCode {
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(target_os = "linux")]
fn run(path: PathBuf) -> ExitCode {
    let result = unterm_keeper::run(&path);
    if let Err(error) = &result {
        let _ = writeln!(io::stderr(), "unterm-keeper: {error}");
    }
    ended(result)
}

#[cfg(not(target_os = "linux"))]
fn run(_: PathBuf) -> ExitCode {
    let _ = writeln!(io::stderr(), "unterm-keeper: only Linux is supported");
    ExitCode::FAILURE
}
