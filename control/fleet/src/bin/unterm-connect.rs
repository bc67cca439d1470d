//! Connects this machine to a hub: pairs it once, and offers the panes of its live instances.
//!
//! This is a separate program, which `unterm-cli connect` starts. So neither the window nor the other commands link the
//! NATS client.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

#[path = "../cli/doctor.rs"]
mod doctor;
#[path = "../cli/log.rs"]
mod log;

use std::{
    io::{BufRead as _, Read as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use unterm_fleet::connector::{self, Connection, HubAddress, Invitation, Options};

/// Offer the panes of this machine to a hub.
#[derive(Parser)]
#[command(name = "unterm-connect", version)]
struct Args {
    /// Address of the hub, such as `https://hub.example.com`, or an invitation. Only needed to pair; `-` reads standard input.
    #[arg(value_name = "HUB")]
    hub: Option<String>,
    /// Code for this machine, from the dashboard or `unterm-hub invite --code` [default: prompts for it].
    #[arg(long, requires = "hub")]
    code: Option<String>,
    /// File of CA certificates (PEM) to trust for the hub's address, besides the system's.
    #[arg(long, value_name = "FILE", requires = "hub")]
    ca: Option<PathBuf>,
    /// Let the hub look at sessions, but not type into them. Applies when the machine is paired.
    #[arg(long, requires = "hub")]
    read_only: bool,
    /// File of CA certificates (PEM) to trust for the NATS servers, besides the system's.
    #[arg(long, value_name = "FILE", requires = "hub")]
    nats_ca: Option<PathBuf>,
    /// Pair, then exit.
    #[arg(long, requires = "hub")]
    pair_only: bool,
    /// Don't start an Unterm without a window when none is running.
    #[arg(long)]
    no_headless: bool,
    /// Check the connection to the hub step by step, then exit.
    #[arg(long)]
    doctor: bool,
    /// Print a systemd unit to save as ~/.config/systemd/user/unterm-connect.service, then exit.
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
        unterm_control::remove_leftovers(&home.join("fleet/machine"));
        let connection = match &args.hub {
            Some(hub) => {
                let connection = pair(&home, hub, &args).await?;
                println!("Paired with {} as machine {}.", connection.hub(), connection.machine()?);
                connection
            }
            None => Connection::read(&home)?.context(
                "this machine is not paired: get a code in the hub's dashboard, and run `unterm-cli connect` with the hub's address",
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

/// Pairs this machine, by the hub's address and a code, or by an invitation.
async fn pair(home: &Path, hub: &str, args: &Args) -> Result<Connection> {
    let hub = if hub == "-" { read_line()? } else { hub.to_owned() };
    if !HubAddress::looks_like(&hub) {
        let mut invitation = Invitation::of_text(&hub)?;
        invitation.credentials.certificates = args.nats_ca.clone();
        return connector::pair(home, &invitation, args.read_only).await;
    }
    let hub = HubAddress::parse(&hub, args.ca.as_deref())?;
    let code = match &args.code {
        Some(code) => code.clone(),
        None => {
            eprint!("Code for this machine: ");
            read_line()?
        }
    };
    connector::pair_by_code(home, &hub, &code, args.read_only, args.nats_ca.clone()).await
}

/// Reads a line of standard input.
fn read_line() -> Result<String> {
    let mut line = String::new();
    std::io::stdin().lock().take(64 << 10).read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

fn unit() -> Result<String> {
    let program = std::env::current_exe()?;
    let program = program.to_str().filter(|path| !path.contains(['"', '\\', '%', '\n', '$']));
    let program =
        program.context("this program's path has a character that a systemd unit can't contain")?;
    Ok(format!(
        "[Unit]\nDescription=Offer the panes of this machine to an Unterm hub\n\n\
         [Service]\nExecStart=\"{program}\"\nRestart=always\nRestartSec=5\n\n\
         [Install]\nWantedBy=default.target\n"
    ))
}
