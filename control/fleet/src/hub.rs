//! The hub: serves agents, lets the user decide about their calls, and calls the machines of the fleet.
//!
//! A hub has no state of its own. Tokens, machines, conversations, held calls and the audit log are in JetStream
//! (`store.rs`), so any number of hubs can serve one fleet. A hub never types by itself. Connectors type, and the
//! authority of their instances applies.

mod action;
pub mod audit;
pub mod blocked_lines;
mod bucket;
mod call;
pub mod call_states;
mod challenges;
mod concurrency_limit;
mod connections;
pub mod conversations;
mod dashboard;
mod decisions;
mod emergency_stop;
mod held_calls;
mod host;
mod http;
mod http_reply;
mod instance_tools;
mod listeners;
mod live_views;
mod machine_questions;
pub mod machines;
mod mcp_session;
mod notices;
mod one_time_codes;
mod output;
mod pairing;
pub mod passkeys;
mod revocation;
mod services;
mod sign_ins;
mod store;
mod tls;
pub mod tokens;
mod tool;
mod typing;
mod web_address;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Result;
use tokio_rustls::TlsAcceptor;

pub use self::listeners::Listeners;
use self::{
    blocked_lines::BlockedLines, conversations::Conversations, emergency_stop::EmergencyStop,
    host::Host, http::PublicAddress, live_views::Views, machine_questions::MachineQuestions,
    machines::Machines, pairing::Pairing, passkeys::Passkeys, revocation::Revocation,
    services::Services, sign_ins::SignIns, store::Store, tokens::Tokens,
};
use crate::{identity::machine_name, nats_server::Fleet, signature::Signer};

/// The pause before the machines are loaded again.
const AGAIN: Duration = Duration::from_secs(1);
/// The maximum number of frames of a live view that wait in memory.
const WAITING: usize = 16;

/// The options of a hub.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder of the hub's host that agents with the right `admin` may use. `None`: agents may use no folder.
    pub admin_root: Option<PathBuf>,
    /// Whether agents with the right `admin` may run commands in that folder.
    pub has_admin_shell: bool,
    /// The name and port by which others reach the hub, such as `hub.example.com`.
    pub public_name: Option<String>,
    /// The files of the hub's certificates and of its private key. `None` if a proxy provides TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// A hub.
pub struct Hub {
    services: Arc<Services>,
    pairing: Arc<Pairing>,
    asks: Arc<MachineQuestions>,
    public_name: Option<String>,
    tls: Option<TlsAcceptor>,
}

impl Hub {
    /// Connects to the fleet's NATS.
    ///
    /// # Errors
    /// NATS can't be reached, or has no JetStream.
    pub async fn connect(fleet: &Fleet, options: &Options) -> Result<Self> {
        let machines = fleet.credentials.connect("unterm-hub", None, true).await?;
        let state = fleet.state.connect("unterm-hub", None, true).await?;
        let store = Arc::new(Store::open(machines, &state, fleet.replicas).await?);
        let host = Host::new(options.admin_root.as_deref(), options.has_admin_shell)?;
        let name = options.public_name.clone().unwrap_or_else(machine_name);
        let system = fleet.system.connect("unterm-hub", None, true).await?;
        let signer = Signer::new(&fleet.account_seed)?;
        let revocation = Revocation::new(store.clone(), fleet, system);
        let machines = Machines::new(store.clone(), signer, revocation);
        // Live views use a separate connection, because the frames that machines send must not fill the memory.
        let viewer =
            fleet.credentials.connect_with("unterm-hub views", None, true, WAITING).await?;
        let views = Views::new(machines.clone(), viewer);
        let passkeys = Passkeys::new(store.clone(), &fleet.account_seed);
        let pairing = Arc::new(Pairing::new(store.clone(), fleet, name.clone())?);
        let asked = fleet.credentials.connect_with(
            "unterm-hub asks",
            None,
            true,
            machine_questions::WAITING,
        );
        let asks =
            MachineQuestions::new(store.clone(), machines.clone(), pairing.clone(), asked.await?);
        Ok(Self {
            pairing,
            asks: Arc::new(asks),
            services: Arc::new(Services::new(name, store, machines, host, views, passkeys)),
            public_name: options.public_name.clone(),
            tls: match &options.tls {
                Some((certificates, key)) => Some(tls::acceptor(certificates, key)?),
                None => None,
            },
        })
    }

    /// Serves agents and machines until the future is dropped.
    ///
    /// # Errors
    /// The listeners or the connection to NATS failed.
    pub async fn serve(&self, listeners: Listeners) -> Result<()> {
        let services = &self.services;
        // Loading may fail while the NATS servers choose a leader.
        while let Err(error) = services.machines.load().await {
            tracing::warn!(error = %format!("{error:#}"), "the machines are loaded again");
            tokio::time::sleep(AGAIN).await;
        }
        let public = PublicAddress { name: self.public_name.as_deref(), tls: self.tls.as_ref() };
        tokio::select! {
            end = http::serve(services, &self.pairing, listeners, &public) => end,
            end = self.pairing.serve() => end,
            () = services.machines.follow() => Ok(()),
            () = self.asks.serve() => Ok(()),
            () = services.held.serve() => Ok(()),
            () = services.notices.serve() => Ok(()),
        }
    }

    /// The tokens of agents.
    pub fn tokens(&self) -> &Tokens {
        &self.services.tokens
    }

    /// The machines.
    pub fn machines(&self) -> &Machines {
        &self.services.machines
    }

    /// The conversations.
    pub fn conversations(&self) -> &Conversations {
        &self.services.conversations
    }

    /// The sign-ins of the dashboard.
    pub fn sign_ins(&self) -> &SignIns {
        &self.services.sign_ins
    }

    /// The passkeys with which users sign in to the dashboard.
    pub fn passkeys(&self) -> &Passkeys {
        &self.services.passkeys
    }

    /// The emergency stop.
    pub fn stop(&self) -> &EmergencyStop {
        &self.services.stop
    }

    /// The blocked lines that wait for a decision of the user.
    pub fn blocked_lines(&self) -> &BlockedLines {
        &self.services.blocked_lines
    }

    /// The service that pairs machines.
    pub fn pairing(&self) -> &Pairing {
        &self.pairing
    }

    /// The last entries of the audit log, oldest first.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn audit(&self, most: u64) -> Result<Vec<audit::Entry>> {
        audit::last(&self.services.store, most).await
    }
}
