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

/// Offer the panes of a fleet of machines to agents.
///
/// Without a command, serves agents and the dashboard: pairs this machine, and starts its own NATS server on the loopback address
/// unless --nats names another.
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
    /// Print a code for signing in to the dashboard. It works once, within 10 minutes.
    Login {
        /// Make the sign-in read-only.
        #[arg(long)]
        read_only: bool,
    },
    /// List the passkeys of the dashboard, or remove one.
    Passkeys {
        #[command(subcommand)]
        command: Option<hub_admin::PasskeyCommand>,
    },
    /// Refuse all calls of all agents until `unterm-hub start-agents`. Calls that are already running are not interrupted.
    StopAgents,
    /// Allow agents' calls again.
    StartAgents,
    /// List the conversations that wait for approval.
    Pending,
    /// List all conversations.
    Conversations,
    /// Allow the calls of a conversation.
    Approve(hub_admin::NamedConversation),
    /// Refuse the calls of a conversation.
    Deny(hub_admin::NamedConversation),
    /// Stop a conversation for good, and drop its held calls.
    Revoke(hub_admin::NamedConversation),
    /// Hold the calls of a conversation, or of all conversations.
    Pause(hub_admin::ConversationOrAll),
    /// Carry out the held calls of a conversation, or of all conversations, and then new calls.
    Resume(hub_admin::ConversationOrAll),
    /// List the blocked lines that wait for a decision.
    Lines,
    /// Release a blocked line: carry out the call although a rule of the machine blocks its line.
    Release {
        /// The call's id, as `unterm-hub lines` prints it.
        call: String,
    },
    /// Drop a blocked line: its call is not carried out.
    Drop {
        /// The call's id, as `unterm-hub lines` prints it.
        call: String,
    },
    /// Print an invitation for `unterm-cli connect`. It pairs one machine, within 10 minutes.
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
        /// The number of entries.
        #[arg(short = 'n', long, default_value_t = 50)]
        lines: u64,
    },
    /// Print the part of a NATS server's configuration that this fleet needs. If there is no fleet yet, creates one for
    /// the servers that --nats names. Put --nats before this command.
    NatsConfig,
}

fn main() -> ExitCode {
    unterm_control::limit_kept_memory();
    let args = Args::parse();
    log::start(args.command.is_none());
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The error is escaped, because it may quote text that a machine sent.
            eprintln!("unterm-hub: {}", unterm_control::escaped(&format!("{error:#}")));
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
