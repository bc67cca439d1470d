//! A fleet of three NATS servers, two hubs and two machines. Each program can be killed, and started again at its
//! address.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::{Hub, Machine, end, namespaces, nats_server, program};
use crate::wait_for;

/// The number of NATS servers.
const SERVERS: usize = 3;

/// A program of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterProgram {
    /// A NATS server.
    Nats(usize),
    /// A hub.
    Hub(usize),
    /// The connector of a machine.
    Connector(usize),
}

/// The fleet. On drop, all its programs end.
pub struct Cluster {
    home: TempDir,
    servers: Vec<Server>,
    hubs: Vec<HubAt>,
    /// The machines.
    pub machines: Vec<Machine>,
}

struct Server {
    program: PathBuf,
    configuration: PathBuf,
    /// The port of the server's monitoring.
    monitor: u16,
    child: Option<Child>,
}

struct HubAt {
    registry: PathBuf,
    address: String,
    hub: Option<Hub>,
}

/// Finds `count` different free ports.
fn free_ports(count: usize) -> Result<Vec<u16>> {
    let all =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    Ok(all.iter().map(|one| one.local_addr().map(|at| at.port())).collect::<Result<_, _>>()?)
}

impl Server {
    /// Waits until the server has caught up with the others. Operators also wait for that before they restart the next
    /// server.
    fn wait_until_current(&self) -> Result<()> {
        let address = format!("127.0.0.1:{}", self.monitor);
        let is_current = || {
            let reply = super::request(&address, "GET", "/healthz", &[], "");
            Ok(reply.is_ok_and(|(status, _)| status == 200).then_some(()))
        };
        wait_for("a server that is current", is_current, String::new)
    }

    fn start(&mut self) -> Result<()> {
        let log = self.configuration.with_extension("log");
        let child = Command::new(&self.program)
            .arg("-c")
            .arg(&self.configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::options().create(true).append(true).open(log)?)
            .spawn()?;
        self.child = Some(child);
        Ok(())
    }
}

impl Cluster {
    /// Starts all programs. `None` if there is no NATS server.
    ///
    /// # Errors
    ///
    /// If one of the programs does not start.
    pub fn start() -> Result<Option<Self>> {
        let Some(server) = nats_server() else { return Ok(None) };
        let home = tempfile::Builder::new().prefix("unterm-test-").tempdir()?;
        let all = free_ports(3 * SERVERS + 2)?;
        let (ports, rest) = all.split_at(SERVERS);
        let (routes, rest) = rest.split_at(SERVERS);
        let (monitors, hub_ports) = rest.split_at(SERVERS);
        // If connectors run in their own namespaces, they reach the servers at another address, for which servers
        // require TLS.
        let (listen, scheme, tls) = match namespaces::is_entered() {
            true => (namespaces::SERVERS, "tls", Some(Tls::new(home.path())?)),
            false => ("127.0.0.1", "nats", None),
        };
        let urls: Vec<_> = ports.iter().map(|port| format!("{scheme}://{listen}:{port}")).collect();
        let tls_block = tls.as_ref().map(Tls::block).unwrap_or_default();
        let certificate = tls.map(|tls| tls.certificate);
        let options = options(&urls, certificate.as_deref());
        let mut hubs = Vec::new();
        for (number, port) in hub_ports.iter().enumerate() {
            let registry = home.path().join(format!("hub-{number}"));
            let address = format!("127.0.0.1:{port}");
            hubs.push(HubAt { registry, address, hub: None });
        }
        let mut make = program("unterm-hub", home.path(), &hubs[0].registry);
        let made = make.args(&options).arg("nats-config").output()?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let operator = String::from_utf8(made.stdout)?;
        let from = hubs[0].registry.join("fleet/hub/hub.json");
        let to = hubs[1].registry.join("fleet/hub");
        fs::create_dir_all(&to)?;
        fs::copy(from, to.join("hub.json"))?;
        let all: Vec<_> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut servers = Vec::new();
        for number in 0..SERVERS {
            let configuration = home.path().join(format!("nats-{number}.conf"));
            let store = home.path().join(format!("jetstream-{number}"));
            let monitor = monitors[number];
            let text = format!(
                "server_name: n{number}\nlisten: {listen}:{}\nhttp: 127.0.0.1:{monitor}\njetstream {{ store_dir: {store:?} }}\n\
                 cluster {{ name: fleet, listen: 127.0.0.1:{}, routes: {all:?} }}\n{tls_block}{operator}",
                ports[number], routes[number],
            );
            fs::write(&configuration, text)?;
            let program = server.clone();
            let mut server = Server { program, configuration, monitor, child: None };
            server.start()?;
            servers.push(server);
        }
        let mut cluster = Self { home, servers, hubs, machines: Vec::new() };
        for number in 0..cluster.hubs.len() {
            cluster.start_hub(number, &options)?;
        }
        for _ in 0..2 {
            let invitation = cluster.admin(&["invite"])?["invitation"].take();
            let invitation = invitation.as_str().context("no invitation")?;
            let trusts = certificate.iter().flat_map(|file| ["--nats-ca", file]);
            let trusts: Vec<_> = trusts.collect();
            cluster.machines.push(Machine::pair(invitation, &trusts)?);
        }
        Ok(Some(cluster))
    }

    /// Starts a hub. It may fail at first, while the servers have not chosen a leader yet.
    fn start_hub(&mut self, number: usize, options: &[&str]) -> Result<()> {
        let log = self.home.path().join(format!("hub-{number}.log"));
        let (home, hub) = (self.home.path().to_owned(), &self.hubs[number]);
        let (registry, address) = (hub.registry.clone(), hub.address.clone());
        let start = || {
            let mut command = program("unterm-hub", &home, &registry);
            command.args(options).arg("--no-connector");
            Ok(Hub::start_at(command, &address, &log).ok())
        };
        let hub = wait_for("a hub", start, || fs::read_to_string(&log).unwrap_or_default())?;
        self.hubs[number].hub = Some(hub);
        Ok(())
    }

    /// The host and port of a hub, even if the hub is not running.
    pub fn address(&self, hub: usize) -> &str {
        &self.hubs[hub].address
    }

    /// The JSON output of a command of `unterm-hub`.
    ///
    /// # Errors
    ///
    /// If the command fails. The error contains its message.
    pub fn admin(&self, args: &[&str]) -> Result<Value> {
        let mut command = program("unterm-hub", self.home.path(), &self.hubs[0].registry);
        let output = command.arg("--json").args(args).output()?;
        ensure!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Ends a program of the fleet with SIGKILL.
    ///
    /// # Errors
    ///
    /// If the program has already ended.
    pub fn kill(&mut self, part: ClusterProgram) -> Result<()> {
        match part {
            ClusterProgram::Nats(number) => {
                let mut child = self.servers[number].child.take().context("no server runs")?;
                child.kill()?;
                child.wait()?;
            }
            ClusterProgram::Hub(number) => {
                self.hubs[number].hub.take().context("no hub runs")?.kill()?
            }
            ClusterProgram::Connector(number) => self.machines[number].kill()?,
        }
        Ok(())
    }

    /// Starts a program again.
    ///
    /// # Errors
    ///
    /// If the program does not start.
    pub fn restart(&mut self, part: ClusterProgram) -> Result<()> {
        match part {
            ClusterProgram::Nats(number) => {
                self.servers[number].start()?;
                self.servers[number].wait_until_current()
            }
            // The hub reads the servers from its file.
            ClusterProgram::Hub(number) => self.start_hub(number, &[]),
            ClusterProgram::Connector(number) => self.machines[number].connect(),
        }
    }

    /// The folder of the logs.
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

/// The options with which a hub uses these servers.
fn options<'a>(urls: &'a [String], certificate: Option<&'a str>) -> Vec<&'a str> {
    let mut options: Vec<_> = urls.iter().flat_map(|url| ["--nats", url.as_str()]).collect();
    options.extend(["--replicas", "3"]);
    options.extend(certificate.into_iter().flat_map(|file| ["--nats-ca", file]));
    options
}

/// A self-signed certificate for the servers, and its key.
struct Tls {
    certificate: String,
    key: String,
}

impl Tls {
    fn new(home: &Path) -> Result<Self> {
        let path = |name: &str| home.join(name).display().to_string();
        let (certificate, key, config) = (path("cert.pem"), path("key.pem"), path("cert.conf"));
        let address = namespaces::SERVERS;
        let text = format!(
            "[req]\ndistinguished_name = name\nx509_extensions = extensions\nprompt = no\n[name]\nCN = fleet\n\
             [extensions]\nsubjectAltName = IP:{address}\nbasicConstraints = critical, CA:FALSE\n"
        );
        fs::write(&config, text)?;
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2", "-config", &config, "-keyout", &key])
            .args(["-out", &certificate])
            .output()?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Ok(Self { certificate, key })
    }

    /// The TLS part of a server's configuration.
    fn block(&self) -> String {
        format!("tls {{ cert_file: {:?}, key_file: {:?} }}\n", self.certificate, self.key)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.machines.clear();
        for hub in &mut self.hubs {
            hub.hub = None;
        }
        for server in &mut self.servers {
            if let Some(child) = &mut server.child {
                end(child);
            }
        }
    }
}
