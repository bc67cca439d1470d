//! Serves a hub.

use std::{
    io::{IsTerminal as _, Write as _},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use tokio::signal::unix::SignalKind;
use unterm_fleet::{
    Credentials, connector,
    hub::{Hub, Listeners, Options},
    machine_key_public,
    nats_server::{self, Fleet, Folder, NatsServer},
    protocol::Tokens,
};

/// How to serve.
#[derive(Args)]
pub struct Serve {
    /// Address on which agents and users reach the hub. Any but a loopback address needs TLS, in the hub or in a proxy. For
    /// 127.0.0.1, the hub also listens on the port of ::1.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:19880")]
    listen: SocketAddr,
    /// Use this NATS server instead of starting one; repeat for a cluster. Its configuration must include the output of
    /// `unterm-hub nats-config`.
    #[arg(long, value_name = "URL")]
    nats: Vec<String>,
    /// The number of servers in a cluster that keep the fleet's state: 1, 3 or 5.
    #[arg(long, value_name = "NUMBER", requires = "nats", value_parser = replicas)]
    replicas: Option<u8>,
    /// File of CA certificates (PEM) to trust for the NATS servers, besides the system's.
    #[arg(long, value_name = "FILE")]
    nats_ca: Option<PathBuf>,
    /// Path of the program nats-server [default: $UNTERM_NATS_SERVER, else the one beside this program, else on the PATH].
    #[arg(long, value_name = "FILE")]
    nats_server: Option<PathBuf>,
    /// Host name by which others reach the hub, with the port unless it is 443. The hub refuses requests for other names.
    #[arg(long, value_name = "HOST")]
    public_name: Option<String>,
    /// File of the hub's certificate chain (PEM). Omit it if a proxy provides TLS.
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "public_name"])]
    tls_cert: Option<PathBuf>,
    /// File of the certificate's private key (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Open this folder of the hub's host to tokens with the right `admin`, and for searches to tokens with the right `read`.
    #[arg(long, value_name = "FOLDER")]
    admin_root: Option<PathBuf>,
    /// Also let tokens with the right `admin` run commands. A command starts in the folder, but can leave it.
    #[arg(long, requires = "admin_root")]
    admin_shell: bool,
    /// Don't offer the panes of this machine.
    #[arg(long)]
    no_connector: bool,
    /// Don't start an Unterm without a window on this machine when none is running.
    #[arg(long)]
    no_headless: bool,
}

/// Parses a number of replicas that NATS supports.
fn replicas(text: &str) -> Result<u8, String> {
    match text {
        "1" | "3" | "5" => text.parse().map_err(|_| String::new()),
        _ => Err("must be 1, 3 or 5".to_owned()),
    }
}

/// Reads the fleet that a hub's folder contains.
///
/// # Errors
/// The folder contains no fleet yet, or the file can't be read.
pub fn fleet(folder: &Path) -> Result<Fleet> {
    let fleet = Fleet::read(folder)?;
    fleet.with_context(|| {
        format!("no hub has run with {}; start one with `unterm-hub`", folder.display())
    })
}

impl Serve {
    /// The fleet that a hub's folder contains. If there is none, creates one. A fleet of an earlier version is extended
    /// by everything that its servers need now.
    ///
    /// # Errors
    /// The file can't be read or written.
    pub fn fleet(&self, folder: &Path) -> Result<Fleet> {
        match Fleet::read(folder)? {
            Some(mut fleet) => {
                if fleet.upgrade()? {
                    fleet.save(folder)?;
                }
                Ok(fleet)
            }
            None => Ok(self.prepare(folder)?.0),
        }
    }

    /// Serves until a signal ends it.
    ///
    /// # Errors
    /// The hub can't start, or a part that it needs has ended.
    pub async fn run(self, folder: &Path) -> Result<()> {
        let (fleet, _lock) = self.prepare(folder)?;
        let mut ends = Signals::new()?;
        let mut server = match fleet.has_own_server() {
            true => {
                let program = self.nats_server.as_deref();
                Some(NatsServer::start(&Folder::new(folder), &fleet, program)?)
            }
            false => None,
        };
        let served = {
            let ended = async {
                match &mut server {
                    Some(server) => server.ended().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                served = self.serve(&fleet) => served,
                error = ended => Err(error),
                () = ends.next() => Ok(()),
            }
        };
        if let Some(server) = server {
            server.stop().await;
        }
        served
    }

    /// Reads the fleet's keys. At the first start, creates them.
    fn prepare(&self, folder: &Path) -> Result<(Fleet, std::fs::File)> {
        let (mut fleet, lock) = Fleet::open(folder, || match self.nats.as_slice() {
            [] => Ok((vec![format!("nats://127.0.0.1:{}", nats_server::free_port()?)], true)),
            given => Ok((given.to_vec(), false)),
        })?;
        if !self.nats.is_empty() {
            fleet.use_servers(&self.nats, self.nats_ca.as_deref());
            fleet.replicas = self.replicas.map_or(fleet.replicas, usize::from);
            fleet.save(folder)?;
        }
        Ok((fleet, lock))
    }

    async fn serve(&self, fleet: &Fleet) -> Result<()> {
        let listeners = Listeners::bind(self.listen).await;
        let listeners = listeners.with_context(|| {
            format!("can't listen on {}; choose another address with --listen", self.listen)
        })?;
        let address = listeners.local_addr()?;
        if !address.ip().is_loopback() && self.public_name.is_none() {
            bail!(
                "{} is not a loopback address: set the hub's name with --public-name, and its certificate with --tls-cert and --tls-key unless a proxy provides TLS",
                self.listen
            );
        }
        let options = Options {
            admin_root: self.admin_root.clone(),
            has_admin_shell: self.admin_shell,
            public_name: self.public_name.clone(),
            tls: self.tls_cert.clone().zip(self.tls_key.clone()),
        };
        let hub = Hub::connect(fleet, &options).await?;
        let connector = self.connector(&hub, fleet).await?;
        let (agents, users) = match (&self.public_name, &self.tls_cert) {
            (Some(name), Some(_)) => (format!("https://{name}"), format!("https://{name}")),
            _ => (
                format!("http://{}", listeners.for_agents()?),
                format!("http://{}", listeners.for_people()?),
            ),
        };
        say(&format!(
            "Agents connect to {agents}/mcp/sse, with a token from `unterm-hub token create NAME`."
        ));
        // The code is printed only on a terminal. Otherwise, a log could store it.
        if std::io::stdout().is_terminal() {
            let code = hub.sign_ins().code(true).await?;
            say(&format!(
                "To sign in, open {users}/#code={code} within 10 minutes. The link works once."
            ));
        }
        say(&format!("People open {users}/ with a code from `unterm-hub login`."));
        tokio::select! {
            served = hub.serve(listeners) => served,
            served = connector => served,
        }
    }

    /// Pairs this machine, and serves it.
    async fn connector(
        &self,
        hub: &Hub,
        fleet: &Fleet,
    ) -> Result<impl Future<Output = Result<()>> + use<>> {
        let home = unterm_control::home();
        let connection = match self.no_connector {
            true => None,
            false => self.pair(hub, fleet, &home).await?,
        };
        let starts_headless = !self.no_headless;
        Ok(async move {
            match connection {
                None => std::future::pending().await,
                Some(connection) => {
                    let options = connector::Options { home, starts_headless };
                    connector::run(connection, options).await
                }
            }
        })
    }

    async fn pair(
        &self,
        hub: &Hub,
        fleet: &Fleet,
        home: &Path,
    ) -> Result<Option<connector::Connection>> {
        let seed = connector::machine_key(home)?;
        let key = machine_key_public(&seed)?;
        let found = connector::Connection::read(home)?;
        let is_other = |found: &connector::Connection| {
            found.credentials().servers != fleet.credentials.servers
        };
        if found.as_ref().is_some_and(is_other) && !fleet.has_own_server() {
            tracing::warn!(
                "this machine is paired with another hub, so this hub does not offer it"
            );
            return Ok(None);
        }
        let (name, platform) = (unterm_fleet::machine_name(), std::env::consts::OS);
        let Tokens { jwt, renewal } = hub.pairing().pair(&key, &name, platform).await?;
        let renewal = Some(renewal);
        let credentials = Credentials { jwt, renewal, seed, ..fleet.credentials.clone() };
        Ok(Some(match found.filter(|found| !is_other(found)) {
            Some(mut found) => {
                found.renew(credentials)?;
                found
            }
            None => connector::Connection::create(home, &name, credentials, false)?,
        }))
    }
}

/// Prints a line. A closed output is not an error.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The signals that end a hub.
struct Signals([tokio::signal::unix::Signal; 2]);

impl Signals {
    fn new() -> Result<Self> {
        let of = |kind| tokio::signal::unix::signal(kind);
        Ok(Self([of(SignalKind::interrupt())?, of(SignalKind::terminate())?]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
