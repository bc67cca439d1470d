//! The hub of a fleet, and its command line for administrators.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

#[path = "../cli/hub_admin.rs"]
mod hub_admin;
#[path = "../cli/hub_serve.rs"]
mod hub_serve;
#[path = "../cli/log.rs"]
mod log;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// Serve agents the panes of a fleet of machines.
///
/// Without a command, serves: with a NATS server of its own on the loopback address unless --nats names another, and with this
/// machine paired.
#[derive(Parser)]
#[command(name = "unterm-hub", version)]
struct Args {
    #[command(flatten)]
    serve: hub_serve::Serve,
    /// Print results as JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Make, list and revoke tokens for agents.
    #[command(subcommand)]
    Token(hub_admin::TokenCommand),
    /// Print a code to sign in to the dashboard with, once and within 10 minutes.
    Login {
        /// Let the visitor look, but change nothing.
        #[arg(long)]
        read_only: bool,
    },
    /// Refuse every call of every agent, until `unterm-hub start-agents`. Calls that have begun end by themselves.
    StopAgents,
    /// Allow agents' calls again.
    StartAgents,
    /// List the conversations that wait for approval.
    Pending,
    /// List all conversations.
    Conversations,
    /// Let a conversation act.
    Approve(hub_admin::Which),
    /// Refuse a conversation.
    Deny(hub_admin::Which),
    /// Stop a conversation for good, and drop its held calls.
    Revoke(hub_admin::Which),
    /// Hold the calls of a conversation, or of all.
    Pause(hub_admin::WhichOrAll),
    /// Carry out the held calls of a conversation, or of all, and then new ones.
    Resume(hub_admin::WhichOrAll),
    /// Print an invitation, with which `unterm-cli connect` pairs a machine once, within 10 minutes.
    Invite {
        /// Print a short code instead, for `unterm-cli connect` with the hub's address.
        #[arg(long)]
        code: bool,
    },
    /// List the paired machines, or remove one.
    Machines {
        /// Remove the machine with this id.
        #[arg(long, value_name = "ID")]
        remove: Option<String>,
    },
    /// Print the last entries of the audit log.
    Audit {
        /// How many.
        #[arg(short = 'n', long, default_value_t = 50)]
        lines: u64,
    },
    /// Print the part of a NATS server's configuration that lets this fleet use the server: with --nats before this word, makes the
    /// fleet if there is none.
    NatsConfig,
}

fn main() -> ExitCode {
    let args = Args::parse();
    log::start(args.command.is_none());
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("unterm-hub: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the hub's files.
fn folder() -> PathBuf {
    unterm_control::home().join("fleet/hub")
}

fn run(args: Args) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let Args { serve, json, command } = args;
    runtime.block_on(async {
        match command {
            None => serve.run(&folder()).await,
            Some(Command::NatsConfig) => {
                print!("{}", serve.fleet(&folder())?.server_configuration());
                Ok(())
            }
            Some(command) => hub_admin::Admin { folder: folder(), json }.run(command).await,
        }
    })
}
