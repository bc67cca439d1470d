//! Connects this machine to a hub: pairs it once, and offers the panes of its live instances.
//!
//! A program of its own, started by `unterm-cli connect`, so that neither the window nor the other commands link NATS's client.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

#[path = "../cli/doctor.rs"]
mod doctor;
#[path = "../cli/log.rs"]
mod log;

use std::{io::Read as _, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use unterm_fleet::connector::{self, Connection, Invitation, Options};

/// Offer the panes of this machine to a hub.
#[derive(Parser)]
#[command(name = "unterm-connect", version)]
struct Args {
    /// Invitation of the hub (`unterm-hub invite`), the first time; `-` reads it from standard input.
    invitation: Option<String>,
    /// Let the hub look at sessions, but not type into them. Applies when the machine is paired.
    #[arg(long, requires = "invitation")]
    read_only: bool,
    /// File of certificates that sign those of the NATS servers, besides the system's.
    #[arg(long, value_name = "FILE", requires = "invitation")]
    nats_ca: Option<PathBuf>,
    /// Pair, and end.
    #[arg(long, requires = "invitation")]
    pair_only: bool,
    /// Don't start an Unterm without a window while none runs.
    #[arg(long)]
    no_headless: bool,
    /// Check the way to the hub step by step, and end.
    #[arg(long)]
    doctor: bool,
    /// Print a unit for systemd, for ~/.config/systemd/user/unterm-connect.service, and end.
    #[arg(long)]
    unit: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    log::start(!args.doctor && !args.unit);
    match run(args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("unterm-connect: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<ExitCode> {
    if args.unit {
        print!("{}", unit()?);
        return Ok(ExitCode::SUCCESS);
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let home = unterm_control::home();
        if args.doctor {
            return Ok(doctor::examine(&home).await);
        }
        let connection = match invitation(args.invitation)? {
            Some(mut invitation) => {
                invitation.credentials.certificates = args.nats_ca;
                let connection = connector::pair(&home, &invitation, args.read_only).await?;
                println!("Paired with {} as machine {}.", connection.hub(), connection.machine()?);
                connection
            }
            None => Connection::read(&home)?.context(
                "this machine is not paired: get an invitation with `unterm-hub invite`, and give it to `unterm-cli connect`",
            )?,
        };
        if args.pair_only {
            return Ok(ExitCode::SUCCESS);
        }
        let options = Options { home, starts_headless: !args.no_headless };
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            served = connector::run(connection, options) => served.map(|()| ExitCode::SUCCESS),
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::SUCCESS),
            _ = terminate.recv() => Ok(ExitCode::SUCCESS),
        }
    })
}

fn invitation(given: Option<String>) -> Result<Option<Invitation>> {
    let text = match given.as_deref() {
        None => return Ok(None),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().take(64 << 10).read_to_string(&mut text)?;
            text
        }
        Some(text) => text.to_owned(),
    };
    Invitation::of_text(&text).map(Some)
}

fn unit() -> Result<String> {
    let program = std::env::current_exe()?;
    let program = program.to_str().filter(|path| !path.contains(['"', '\\', '%', '\n', '$']));
    let program = program.context("a unit can't name the path of this program")?;
    Ok(format!(
        "[Unit]\nDescription=Offer the panes of this machine to an Unterm hub\n\n\
         [Service]\nExecStart=\"{program}\"\nRestart=always\nRestartSec=5\n\n\
         [Install]\nWantedBy=default.target\n"
    ))
}
