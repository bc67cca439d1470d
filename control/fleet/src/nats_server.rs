//! The NATS server that the hub starts on the loopback address. It is the default, so that one command starts a working
//! fleet.
//!
//! Owns the server's configuration and process. The server trusts the operator, whose key the hub stores, so pairing a
//! machine does not change the configuration. A cluster on other machines can use the same configuration. To revoke the
//! tokens of a removed machine, the hub sends a new token of the machines' account to running servers
//! (`hub/revocation.rs`).

use std::{
    collections::BTreeMap,
    fs, io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail};
use nkeys::{KeyPair, KeyPairType};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};
use unterm_control::private;

use crate::{
    files,
    identity::{key, new_seed},
    jwt::{self, Permissions},
    nats::Credentials,
};

/// The file of a hub's fleet.
const FILE: &str = "hub.json";
/// The version of the file: since 2, the hub's user in NATS's system account may update the machines' account.
const VERSION: u8 = 2;
/// The maximum number of bytes that the server stores. It is more than the sum of the limits of what a hub stores
/// (`hub/store.rs`). Without it, NATS takes a limit from the free space when it starts, so a hub would not start on a small
/// or nearly full disk.
pub const MOST_STORED: i64 = 4 << 30;
/// How often to check whether a server has ended.
const END_CHECK: Duration = Duration::from_millis(20);
/// The name of the server's program.
const PROGRAM: &str = "nats-server";
/// The environment variable with the path of the server's program.
pub const VARIABLE: &str = "UNTERM_NATS_SERVER";

/// The keys and accounts that a hub needs to use a NATS server and to pair machines. Stored in a file that only the
/// hub's user can read, because its contents give full control of the fleet.
#[derive(Clone, Serialize, Deserialize)]
pub struct Fleet {
    /// The hub's NATS user in the account that the hub shares with the machines. It has all rights in that account.
    pub credentials: Credentials,
    /// The hub's user in an account without machines, which stores the state of hubs. Only this account has JetStream.
    pub state: Credentials,
    /// The hub's user in NATS's system account. It may only subscribe to the connection events of the machines' account, and
    /// update that account's token.
    pub system: Credentials,
    /// The seed of the machines' account, which signs users and requests.
    pub account_seed: String,
    /// The seed of the operator, which signs accounts.
    operator_seed: String,
    operator: String,
    system_account: String,
    system_jwt: String,
    account: String,
    account_jwt: String,
    state_account: String,
    state_jwt: String,
    has_own_server: bool,
    #[serde(default)]
    version: u8,
    /// The number of servers in a cluster that store the fleet's state.
    #[serde(default = "one")]
    pub replicas: usize,
}

fn one() -> usize {
    1
}

impl Fleet {
    /// Creates the keys of a new fleet on these servers.
    ///
    /// # Errors
    /// The system provides no random numbers.
    pub fn new(servers: Vec<String>, has_own_server: bool) -> Result<Self> {
        let operator_seed = new_seed(KeyPairType::Operator)?;
        let account_seed = new_seed(KeyPairType::Account)?;
        let (operator, account) = (key(&operator_seed)?, key(&account_seed)?);
        let system = System::new(&operator, &account.public_key(), &servers)?;
        // The hub is the only user of this account, so the account's key is not stored.
        let state = key(&new_seed(KeyPairType::Account)?)?;
        let hub = |account: &KeyPair| user(account, None, &servers);
        let account_of = |account: &KeyPair, name, has_streams| {
            jwt::account(&operator, &account.public_key(), name, has_streams, &BTreeMap::new())
        };
        Ok(Self {
            credentials: hub(&account)?,
            state: hub(&state)?,
            system: system.credentials,
            state_jwt: account_of(&state, "hubs", true)?,
            state_account: state.public_key(),
            operator: system.operator,
            system_jwt: system.jwt,
            system_account: system.account,
            account_jwt: account_of(&account, "fleet", false)?,
            account: account.public_key(),
            has_own_server,
            version: VERSION,
            replicas: one(),
            account_seed,
            operator_seed,
        })
    }

    /// Replaces the system account of a fleet of an earlier version, so that the hub can revoke tokens. Servers need the new
    /// configuration then. Returns whether anything changed.
    ///
    /// # Errors
    /// The operator's key is damaged.
    pub fn upgrade(&mut self) -> Result<bool> {
        if self.can_revoke() {
            return Ok(false);
        }
        let Credentials { servers, certificates, .. } = self.system.clone();
        let system = System::new(&key(&self.operator_seed)?, &self.account, &servers)?;
        self.system = Credentials { certificates, ..system.credentials };
        self.operator = system.operator;
        self.system_account = system.account;
        self.system_jwt = system.jwt;
        self.version = VERSION;
        Ok(true)
    }

    /// Whether the servers let the hub revoke the tokens of machines.
    pub fn can_revoke(&self) -> bool {
        self.version >= VERSION
    }

    /// Creates a token of the machines' account that contains these revocations.
    ///
    /// # Errors
    /// The operator's key is damaged.
    pub fn account_token(&self, revoked: &BTreeMap<String, i64>) -> Result<String> {
        jwt::account(&key(&self.operator_seed)?, &self.account, "fleet", false, revoked)
    }

    /// Reads the fleet from a hub's folder. Returns `None` if the folder contains no fleet.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        files::read_json(&folder.join(FILE))
    }

    /// Reads the fleet from a hub's folder. At the first start, creates it with the servers that `servers` returns.
    /// Also returns a lock, which keeps other hubs out of the folder.
    ///
    /// # Errors
    /// A hub runs with this folder, or the file can't be read or written.
    pub fn open(
        folder: &Path,
        servers: impl FnOnce() -> Result<(Vec<String>, bool)>,
    ) -> Result<(Self, fs::File)> {
        files::create_folder(folder)?;
        let lock = files::lock(&folder.join("hub.lock"))?;
        unterm_control::remove_leftovers(folder);
        if let Some(mut fleet) = Self::read(folder)? {
            // The hub can't change the configuration of servers that it did not start.
            if fleet.has_own_server && fleet.upgrade()? {
                fleet.save(folder)?;
            }
            return Ok((fleet, lock));
        }
        let (servers, has_own_server) = servers()?;
        let fleet = Self::new(servers, has_own_server)?;
        fleet.save(folder)?;
        Ok((fleet, lock))
    }

    /// Stores the fleet in a hub's folder.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        files::write_json(&folder.join(FILE), self)
    }

    /// Replaces the fleet's servers by these servers, which no hub starts.
    pub fn use_servers(&mut self, servers: &[String], certificates: Option<&Path>) {
        for credentials in [&mut self.credentials, &mut self.state, &mut self.system] {
            credentials.servers = servers.to_vec();
            credentials.certificates = certificates.map(Path::to_owned);
        }
        self.has_own_server = false;
    }

    /// The machines' account.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// Whether the fleet uses a NATS server that its hub starts.
    pub fn has_own_server(&self) -> bool {
        self.has_own_server
    }

    /// The part of a NATS server's configuration that lets this fleet use it. It contains no secrets.
    pub fn server_configuration(&self) -> String {
        let Self { operator, system_account, system_jwt, account, account_jwt, .. } = self;
        let Self { state_account, state_jwt, .. } = self;
        format!(
            "operator: {operator}\nsystem_account: {system_account}\nresolver: MEMORY\nresolver_preload: {{\n  \
             {system_account}: {system_jwt}\n  {account}: {account_jwt}\n  {state_account}: {state_jwt}\n}}\n"
        )
    }
}

/// The subject on which servers accept a new token of an account (docs.nats.io, "System Events").
pub fn account_updates(account: &str) -> String {
    format!("$SYS.REQ.ACCOUNT.{account}.CLAIMS.UPDATE")
}

/// A new system account for the servers of a fleet, with the hub as its only user.
struct System {
    credentials: Credentials,
    account: String,
    jwt: String,
    /// The operator's token, which names the system account.
    operator: String,
}

impl System {
    fn new(operator: &KeyPair, machines: &str, servers: &[String]) -> Result<Self> {
        // The hub is the only user of this account, so the account's key is not stored.
        let system = key(&new_seed(KeyPairType::Account)?)?;
        let account = system.public_key();
        let permissions = Permissions {
            publish: vec![account_updates(machines)],
            subscribe: vec![format!("$SYS.ACCOUNT.{machines}.>"), "_INBOX.>".to_owned()],
            may_reply: false,
        };
        Ok(Self {
            credentials: user(&system, Some(&permissions), servers)?,
            jwt: jwt::account(operator, &account, "system", false, &BTreeMap::new())?,
            operator: jwt::operator(operator, &account)?,
            account,
        })
    }
}

/// Creates a user for the hub in an account.
fn user(
    account: &KeyPair,
    permissions: Option<&Permissions>,
    servers: &[String],
) -> Result<Credentials> {
    let seed = new_seed(KeyPairType::User)?;
    let jwt = jwt::user(account, &key(&seed)?.public_key(), "hub", permissions, None)?;
    Ok(Credentials { servers: servers.to_vec(), jwt, renewal: None, seed, certificates: None })
}

/// The hub's NATS server, which this process started or found running.
pub struct NatsServer {
    folder: PathBuf,
    child: Option<Child>,
}

/// The folder with the files of the hub's NATS server.
#[derive(Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// The subfolder `nats` of the hub's folder.
    pub fn new(hub: &Path) -> Self {
        Self(hub.join("nats"))
    }

    fn configuration(&self) -> PathBuf {
        self.0.join("nats.conf")
    }

    fn process_id(&self) -> PathBuf {
        self.0.join("nats.pid")
    }
}

/// A free port on the loopback address.
///
/// # Errors
/// The system can't open a port.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

impl NatsServer {
    /// Starts the server. If a hub was killed and left its server running with the same configuration, uses that server.
    ///
    /// # Errors
    /// There is no program, or it can't be started.
    pub fn start(folder: &Folder, fleet: &Fleet, program: Option<&Path>) -> Result<Self> {
        files::create_folder(&folder.0)?;
        let port = port_of(fleet)?;
        let (store, process_id) = (folder.0.join("jetstream"), folder.process_id());
        let configuration = format!(
            "listen: 127.0.0.1:{port}\npid_file: {}\njetstream {{\n  store_dir: {}\n  max_file_store: {}\n}}\n{}",
            quoted(&process_id)?,
            quoted(&store)?,
            MOST_STORED,
            fleet.server_configuration()
        );
        if let Some(id) = running(folder) {
            if read(&folder.configuration()).is_ok_and(|old| old == configuration.as_bytes()) {
                tracing::info!("the hub's NATS server is running already");
                return Ok(Self { folder: folder.0.clone(), child: None });
            }
            tracing::info!("restarting the hub's NATS server with a new configuration");
            let _ = kill_process(id, Signal::TERM);
            while test_kill_process(id).is_ok() && running(folder).is_some() {
                std::thread::sleep(END_CHECK);
            }
        }
        files::write(&folder.configuration(), &configuration)?;
        let program = find(program)?;
        let path = folder.0.join("nats.log");
        let log = private::open_or_create(&path).with_context(|| path.display().to_string())?;
        log.set_len(0)?;
        // The server would wait at a pipe in the place of this file.
        let _ = fs::remove_file(&process_id);
        let child = Command::new(&program)
            .arg("-c")
            .arg(folder.configuration())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            // Ctrl+C in the hub's terminal is for the hub, which ends its server last.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| program.display().to_string())?;
        tracing::info!(port, program = %program.display(), "started a NATS server");
        Ok(Self { folder: folder.0.clone(), child: Some(child) })
    }

    /// Waits until the server ends by itself. Waits forever if this process did not start the server.
    pub async fn ended(&mut self) -> anyhow::Error {
        let Some(child) = &mut self.child else { return std::future::pending().await };
        let end = child.wait().await;
        let log = read(&self.folder.join("nats.log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let last = log.lines().last().unwrap_or_default();
        anyhow!(
            "the NATS server ended ({}): {last}",
            end.map_or_else(|e| e.to_string(), |s| s.to_string())
        )
    }

    /// Ends the server, and waits for its end if this process started it.
    pub async fn stop(mut self) {
        let id = match &self.child {
            Some(child) => child.id().and_then(|id| Pid::from_raw(id as i32)),
            None => running(&Folder(self.folder.clone())),
        };
        if let Some(id) = id {
            let _ = kill_process(id, Signal::TERM);
        }
        if let Some(child) = &mut self.child {
            let _ = child.wait().await;
        }
    }
}

/// Reads a file of the server, or of `/proc`.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    const LONGEST: u64 = 64 << 20;
    private::read_of_anyone(path, LONGEST)
}

/// The process id of a server that runs with this folder's configuration.
fn running(folder: &Folder) -> Option<Pid> {
    let id = String::from_utf8(read(&folder.process_id()).ok()?).ok()?;
    let id: i32 = id.trim().parse().ok()?;
    // Another process may have received this process id since.
    let command = read(Path::new(&format!("/proc/{id}/cmdline"))).ok()?;
    let configuration = folder.configuration();
    let ours = configuration.as_os_str().as_encoded_bytes();
    let is_ours = command.split(|byte| *byte == 0).any(|argument| argument == ours);
    Pid::from_raw(id).filter(|_| is_ours)
}

fn port_of(fleet: &Fleet) -> Result<u16> {
    let address = fleet.credentials.servers.first().map(String::as_str).unwrap_or_default();
    let port = address.strip_prefix("nats://127.0.0.1:").and_then(|port| port.parse().ok());
    port.with_context(|| {
        format!("the fleet uses the server {address:?}; start the hub with `--nats {address}`")
    })
}

/// A path as a string of NATS's configuration.
fn quoted(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(path) if !path.contains(['"', '\\', '\n']) => Ok(format!("\"{path}\"")),
        _ => bail!("NATS's configuration can't name the path {path:?}"),
    }
}

/// Finds the server's program: the given path, else the path in [`VARIABLE`], else a file beside this program, else on
/// the PATH.
fn find(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
    if let Some(beside) = beside.filter(|path| path.is_file()) {
        return Ok(beside);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM));
    all.find(|path| path.is_file()).with_context(|| {
        format!(
            "{PROGRAM} is not on the PATH. `packaging/fleet` fetches it; or give its path by --nats-server, or a server's address by --nats"
        )
    })
}
