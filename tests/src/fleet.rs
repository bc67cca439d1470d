//! A fleet for tests: a hub with its own NATS server, the panes of an instance, and agents that use the hub's tools.
//!
//! The agents of this module use HTTP with server-sent events (the MCP transport of 2024), or plain HTTP requests for
//! messages that no client sends.

pub mod cluster;
pub mod kills;
pub mod namespaces;

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::namespaces::Cable;
use crate::{Instance, PATIENCE, Resources, Start, binary, process::bare, wait_for};

/// The environment variable that contains the path of the NATS server.
const NATS_SERVER: &str = "UNTERM_NATS_SERVER";

/// The NATS server that `packaging/test` installs. `None` if it is not installed.
///
/// # Panics
///
/// If the server is not installed and `UNTERM_NEEDS_ALL` is set.
pub fn nats_server() -> Option<PathBuf> {
    let path = std::env::var_os(NATS_SERVER).map(PathBuf::from).filter(|path| path.exists());
    if path.is_none() {
        let why = "there is no NATS server: set UNTERM_NATS_SERVER, or run packaging/test, which installs one";
        assert!(
            std::env::var_os("UNTERM_NEEDS_ALL").is_none(),
            "UNTERM_NEEDS_ALL is set, and {why}"
        );
        eprintln!("skipped: {why}");
    }
    path
}

/// A hub, with an instance on its machine. On drop, both are ended.
pub struct Fleet {
    /// The instance on the hub's machine.
    pub unterm: Instance,
    hub: Option<Hub>,
    options: Vec<String>,
}

/// A running hub. On drop, it is ended with SIGTERM.
pub struct Hub {
    child: Child,
    address: String,
    page: String,
    /// The rest of the hub's output.
    _out: BufReader<std::process::ChildStdout>,
    /// The hub's home, if it has a home of its own.
    _home: Option<TempDir>,
}

impl Hub {
    /// Starts a hub, and waits until it accepts requests.
    fn start(command: Command, log: &Path) -> Result<Self> {
        Self::start_at(command, "127.0.0.1:0", log)
    }

    /// Starts a hub that listens at an address, and waits until it accepts requests.
    fn start_at(mut command: Command, listen: &str, log: &Path) -> Result<Self> {
        let mut child = command
            .args(["--listen", listen, "--no-headless"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(log)?)
            .spawn()
            .context("starting unterm-hub")?;
        let mut out = BufReader::new(child.stdout.take().context("no output")?);
        let mut lines = [String::new(), String::new()];
        for line in &mut lines {
            out.read_line(line)?;
        }
        let address =
            |line: &String| line.split("http://").nth(1)?.split('/').next().map(str::to_owned);
        let [Some(address), Some(page)] = lines.each_ref().map(address) else {
            let _ = child.kill();
            let status = child.wait()?;
            let log = fs::read_to_string(log)?;
            bail!("unterm-hub printed {lines:?} and ended with {status}: {log}");
        };
        Ok(Self { child, address, page, _out: out, _home: None })
    }

    /// The host and port that agents connect to.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The host and port of the dashboard.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Ends the hub with SIGKILL.
    ///
    /// # Errors
    ///
    /// If the hub has already ended.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            end(&mut self.child);
        }
    }
}

/// A command for a program in this home, with the test's NATS server in its environment.
fn program(name: &str, home: &Path, registry: &Path) -> Command {
    with_environment(bare(&binary(name).to_string_lossy(), home), home, registry)
}

/// Adds the environment variables that Unterm's programs expect.
fn with_environment(mut command: Command, home: &Path, registry: &Path) -> Command {
    // Programs that a test installs come first.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(home.join("bin")).chain(std::env::split_paths(&path));
    if let Ok(all) = std::env::join_paths(all) {
        command.env("PATH", all);
    }
    command.env("UNTERM_HOME", registry);
    if let Some(server) = std::env::var_os(NATS_SERVER) {
        command.env(NATS_SERVER, server);
    }
    command
}

impl Fleet {
    /// Starts an instance and a hub with these options. `None` if there is no NATS server.
    ///
    /// # Errors
    ///
    /// If the instance or the hub does not start.
    pub fn start(options: &[&str]) -> Result<Option<Self>> {
        if nats_server().is_none() {
            return Ok(None);
        }
        let mut unterm = Start::headless().now()?;
        unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut fleet = Self { unterm, hub: None, options };
        fleet.start_hub()?;
        Ok(Some(fleet))
    }

    /// Starts the hub, and waits until it accepts requests.
    ///
    /// # Errors
    ///
    /// If the hub does not accept requests. The error contains its log.
    pub fn start_hub(&mut self) -> Result<()> {
        let (home, registry) = (self.unterm.home(), self.unterm.registry());
        let mut command = program("unterm-hub", home, registry);
        command.args(&self.options);
        self.hub = Some(Hub::start(command, &self.log())?);
        Ok(())
    }

    /// Starts another hub for the same fleet, on the NATS server of the first hub.
    ///
    /// # Errors
    ///
    /// If the second hub does not accept requests.
    pub fn second_hub(&self) -> Result<Hub> {
        self.second_hub_at("127.0.0.1:0", &[])
    }

    /// Starts another hub for the same fleet that listens at an address, with these options.
    ///
    /// # Errors
    ///
    /// If the second hub does not accept requests.
    pub fn second_hub_at(&self, listen: &str, options: &[&str]) -> Result<Hub> {
        let home = tempfile::Builder::new().prefix("unterm-test-").tempdir()?;
        let registry = home.path().join(".unterm");
        let (from, to) = [self.unterm.registry(), &registry].map(|of| of.join("fleet/hub")).into();
        fs::create_dir_all(&to)?;
        fs::copy(from.join("hub.json"), to.join("hub.json"))?;
        let fleet: Value = serde_json::from_slice(&fs::read(to.join("hub.json"))?)?;
        let server = fleet["credentials"]["servers"][0].as_str().context("no server")?;
        let mut command = program("unterm-hub", home.path(), &registry);
        command.args(["--no-connector", "--nats", server]).args(options);
        let mut hub = Hub::start_at(command, listen, &home.path().join("hub.log"))?;
        hub._home = Some(home);
        Ok(hub)
    }

    /// Ends the NATS server with SIGKILL, and waits until the hub has ended, because it needs the server.
    ///
    /// # Errors
    ///
    /// If the server or the hub does not end.
    pub fn kill_nats(&mut self) -> Result<()> {
        let file = self.unterm.registry().join("fleet/hub/nats/nats.pid");
        let id: i32 = fs::read_to_string(file)?.trim().parse()?;
        let id = rustix::process::Pid::from_raw(id).context("no process")?;
        rustix::process::kill_process(id, rustix::process::Signal::KILL)?;
        let mut hub = self.hub.take().context("no hub runs")?;
        wait_for("the hub's end", || Ok(hub.child.try_wait()?), String::new)?;
        Ok(())
    }

    /// The file with the hub's log.
    pub fn log(&self) -> PathBuf {
        self.unterm.home().join("hub.log")
    }

    /// Ends the hub with SIGKILL.
    ///
    /// # Errors
    ///
    /// If the hub has already ended.
    pub fn kill_hub(&mut self) -> Result<()> {
        self.hub.take().context("no hub runs")?.kill()
    }

    /// The memory that the hub uses, in bytes.
    ///
    /// # Errors
    ///
    /// If no hub runs.
    pub fn hub_memory(&self) -> Result<u64> {
        Ok(Resources::of(self.hub_id()?)?.resident_kb << 10)
    }

    /// The hub's process id.
    ///
    /// # Errors
    ///
    /// If no hub runs.
    pub fn hub_id(&self) -> Result<u32> {
        Ok(self.hub.as_ref().context("no hub runs")?.child.id())
    }

    /// The host and port of the hub that agents connect to.
    pub fn address(&self) -> &str {
        self.hub.as_ref().map_or("", |hub| &hub.address)
    }

    /// The host and port of the hub's dashboard.
    pub fn page(&self) -> &str {
        self.hub.as_ref().map_or("", |hub| &hub.page)
    }

    /// Runs `unterm-hub` with these arguments.
    ///
    /// # Errors
    ///
    /// If `unterm-hub` can't be started.
    pub fn run(&self, args: &[&str]) -> Result<Output> {
        let mut command = program("unterm-hub", self.unterm.home(), self.unterm.registry());
        command.args(args).output().context("starting unterm-hub")
    }

    /// The JSON output of a command of `unterm-hub`.
    ///
    /// # Errors
    ///
    /// If the command fails. The error contains its message.
    pub fn admin(&self, args: &[&str]) -> Result<Value> {
        let output = self.run(&[&["--json"], args].concat())?;
        ensure!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Creates a token.
    ///
    /// # Errors
    ///
    /// If the token can't be created.
    pub fn token(&self, args: &[&str]) -> Result<String> {
        let made = self.admin(&[&["token", "create", "agent"], args].concat())?;
        made["token"].as_str().map(str::to_owned).context("no token")
    }

    /// The id of the hub's machine.
    ///
    /// # Errors
    ///
    /// If the machine is not paired.
    pub fn machine(&self) -> Result<String> {
        let machines = self.admin(&["machines"])?;
        let id = machines["machines"][0]["id"].as_str();
        id.map(str::to_owned).with_context(|| format!("no machine: {machines}"))
    }

    /// Waits until calls of a conversation are carried out immediately again.
    ///
    /// # Errors
    ///
    /// If calls are still held after the timeout.
    pub fn wait_for_flow(&self, conversation: &str) -> Result<()> {
        wait_for(
            "the end of a replay",
            || {
                let all = self.admin(&["conversations"])?;
                let all = all["conversations"].as_array().context("no list")?;
                let runs = |of: &&Value| of["id"] == conversation && of["flow"] == "running";
                Ok(all.iter().find(runs).map(|_| ()))
            },
            || fs::read_to_string(self.log()).unwrap_or_default(),
        )
    }

    /// Adds another machine to the fleet, with its own instance. `options` are options of the pairing command.
    ///
    /// # Errors
    ///
    /// If the machine can't be paired.
    pub fn add_machine(&self, options: &[&str]) -> Result<Machine> {
        let invitation = self.admin(&["invite"])?;
        let invitation = invitation["invitation"].as_str().context("no invitation")?;
        Machine::pair(invitation, options)
    }

    /// Signs in to the dashboard with a code of `unterm-hub login`. `options` are options of that command.
    ///
    /// # Errors
    ///
    /// If the hub refuses.
    pub fn sign_in(&self, options: &[&str]) -> Result<Visitor> {
        let code = self.admin(&[&["login"], options].concat())?["code"].take();
        let address = self.page().to_owned();
        let (status, reply) =
            post(&address, "/api/login", &[], &json!({ "code": code }).to_string())?;
        ensure!(status == 200, "{status}: {reply}");
        let reply: Value = serde_json::from_str(&reply)?;
        let secret = reply["token"].as_str().context("no token")?.to_owned();
        Ok(Visitor { address, secret })
    }

    /// Sends a POST request to the hub. Returns the status and the body of the reply.
    ///
    /// # Errors
    ///
    /// If the hub does not reply.
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Result<(u16, String)> {
        post(self.address(), path, headers, body)
    }

    /// Sends a POST request to the hub's dashboard. Returns the status and the body of the reply.
    ///
    /// # Errors
    ///
    /// If the hub does not reply.
    pub fn post_page(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<(u16, String)> {
        post(self.page(), path, headers, body)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if self.hub.is_none() {
            // Start the hub once more, so that it ends the NATS server that a killed hub has left.
            let _ = self.start_hub();
        }
        self.hub = None;
        if std::thread::panicking() {
            let log = fs::read_to_string(self.log()).unwrap_or_default();
            eprintln!("--- the log of the hub\n{log}---");
        }
    }
}

/// Ends a process with SIGTERM.
fn end(child: &mut Child) {
    let pid = rustix::process::Pid::from_child(child);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    let _ = child.wait();
}

/// A machine of the fleet, with its own connector.
pub struct Machine {
    /// The machine's id.
    pub id: String,
    /// The machine's instance.
    pub unterm: Instance,
    connector: Option<Child>,
}

impl Machine {
    /// Pairs a new machine, with its own instance, by an invitation. `options` are options of the pairing command.
    ///
    /// # Errors
    ///
    /// If the machine can't be paired.
    pub fn pair(invitation: &str, options: &[&str]) -> Result<Self> {
        let mut unterm = Start::headless().now()?;
        unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
        let paired = program("unterm-connect", unterm.home(), unterm.registry())
            .args([invitation, "--pair-only"])
            .args(options)
            .output()?;
        let (out, err) = (String::from_utf8(paired.stdout)?, String::from_utf8(paired.stderr)?);
        let id = out.trim_end().trim_end_matches('.').rsplit(' ').next().unwrap_or_default();
        ensure!(paired.status.success() && id.len() == 12, "{out}{err}");
        let mut machine = Machine { id: id.to_owned(), unterm, connector: None };
        machine.connect()?;
        Ok(machine)
    }

    /// Starts the connector.
    ///
    /// # Errors
    ///
    /// If the connector can't be started.
    pub fn connect(&mut self) -> Result<()> {
        let (home, registry) = (self.unterm.home(), self.unterm.registry());
        let cable = namespaces::is_entered().then(Cable::unused);
        let mut command = match &cable {
            Some(cable) => with_environment(cable.command("unterm-connect", home), home, registry),
            None => {
                let mut command = program("unterm-connect", home, registry);
                command.stdin(Stdio::null()).stdout(Stdio::null());
                command
            }
        };
        let log = File::options().create(true).append(true).open(home.join("connector.log"))?;
        let mut child = command.arg("--no-headless").stderr(log).spawn()?;
        if let Some(cable) = cable {
            cable.plug_in(&mut child)?;
        }
        self.connector = Some(child);
        Ok(())
    }

    /// Ends the connector with SIGKILL.
    ///
    /// # Errors
    ///
    /// If the connector has already ended.
    pub fn kill(&mut self) -> Result<()> {
        let mut connector = self.connector.take().context("no connector runs")?;
        connector.kill()?;
        connector.wait()?;
        Ok(())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(connector) = &mut self.connector {
            end(connector);
        }
        if std::thread::panicking() {
            let log = self.unterm.home().join("connector.log");
            eprintln!(
                "--- the log of the connector\n{}---",
                fs::read_to_string(log).unwrap_or_default()
            );
        }
    }
}

fn post(address: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Result<(u16, String)> {
    request(address, "POST", path, headers, body)
}

/// Sends a request to a hub. Returns the status and the body of the reply.
///
/// # Errors
///
/// If the hub does not reply.
pub fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<(u16, String)> {
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{request}\r\n").as_bytes())?;
    // Ignore the error: the hub may refuse the request before it has received the whole body.
    let _ = stream.write_all(body.as_bytes());
    let mut reply = String::new();
    let read = stream.read_to_string(&mut reply);
    let (head, body) =
        reply.split_once("\r\n\r\n").with_context(|| format!("no reply: {read:?}"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.context("no status")?, body.to_owned()))
}

/// A user who has signed in to the dashboard.
pub struct Visitor {
    address: String,
    /// The secret of the sign-in.
    pub secret: String,
}

impl Visitor {
    /// Sends a request. Returns the status, and the body if it is JSON.
    ///
    /// # Errors
    ///
    /// If the hub does not reply.
    pub fn ask(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
        let bearer = format!("Bearer {}", self.secret);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [("Authorization", bearer.as_str())];
        let (status, reply) = request(&self.address, method, path, &headers, &body)?;
        Ok((status, serde_json::from_str(&reply).unwrap_or(Value::String(reply))))
    }

    /// The reply that the dashboard's page gets for a path.
    ///
    /// # Errors
    ///
    /// If the hub refuses.
    pub fn get(&self, path: &str) -> Result<Value> {
        let (status, reply) = self.ask("GET", path, &Value::Null)?;
        ensure!(status == 200, "{path}: {status}: {reply}");
        Ok(reply)
    }

    /// Sends a request that changes something.
    ///
    /// # Errors
    ///
    /// If the hub refuses.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let (status, reply) = self.ask("POST", path, body)?;
        ensure!(status == 200 || status == 204, "{path}: {status}: {reply}");
        Ok(reply)
    }

    /// Opens a stream of events.
    ///
    /// # Errors
    ///
    /// If the hub refuses.
    pub fn stream(&self, path: &str) -> Result<Events> {
        Events::open(&self.address, path, &self.secret)
    }
}

/// A stream of events.
pub struct Events(BufReader<TcpStream>);

impl Events {
    fn open(address: &str, path: &str, secret: &str) -> Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // Use HTTP/1.0, in which bodies are not sent in chunks.
        let request = format!(
            "GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: text/event-stream\r\nAuthorization: Bearer {secret}\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut events = BufReader::new(stream);
        let mut line = String::new();
        events.read_line(&mut line)?;
        ensure!(line.contains(" 200 "), "{line}");
        while !line.trim().is_empty() {
            line.clear();
            events.read_line(&mut line)?;
        }
        Ok(Self(events))
    }

    /// The next event: its kind and its data.
    ///
    /// # Errors
    ///
    /// If the stream ends.
    pub fn event(&mut self) -> Result<(String, String)> {
        let (mut kind, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            ensure!(self.0.read_line(&mut line)? > 0, "the stream ended");
            let line = line.trim_end_matches(['\r', '\n']);
            match line.split_once(": ") {
                _ if line.is_empty() && !kind.is_empty() => return Ok((kind, data)),
                Some(("event", value)) => kind = value.to_owned(),
                Some(("data", value)) => data = value.to_owned(),
                _ => {}
            }
        }
    }
}

/// The reply of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolReply {
    /// The text of the reply.
    pub text: String,
    /// Whether the reply is an error.
    pub is_error: bool,
}

impl ToolReply {
    /// The text as JSON.
    ///
    /// # Errors
    ///
    /// If the reply is an error, or its text is not JSON.
    pub fn json(&self) -> Result<Value> {
        ensure!(!self.is_error, "{}", self.text);
        serde_json::from_str(&self.text).with_context(|| self.text.clone())
    }
}

/// An agent that uses the hub over HTTP with server-sent events.
pub struct Agent {
    address: String,
    token: String,
    endpoint: String,
    events: Events,
    id: u64,
}

impl Agent {
    /// Opens a stream and a session at the hub.
    ///
    /// # Errors
    ///
    /// If the hub refuses it.
    pub fn connect(address: &str, token: &str) -> Result<Self> {
        Self::connect_to(address, "/mcp/sse", token)
    }

    /// Opens a stream and a session at the hub, with this path and query.
    ///
    /// # Errors
    ///
    /// If the hub refuses it.
    pub fn connect_to(address: &str, path: &str, token: &str) -> Result<Self> {
        let address = address.to_owned();
        let events = Events::open(&address, path, token)?;
        let (token, endpoint) = (token.to_owned(), String::new());
        let mut agent = Self { address, token, endpoint, events, id: 0 };
        let (kind, endpoint) = agent.events.event()?;
        ensure!(kind == "endpoint", "{kind}: {endpoint}");
        agent.endpoint = endpoint;
        agent.ask(
            "initialize",
            json!({
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "clientInfo": {"name": "agent", "version": "1"},
            }),
        )?;
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(agent)
    }

    fn send(&self, message: &Value) -> Result<()> {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("Authorization", bearer.as_str())];
        let (status, body) = post(&self.address, &self.endpoint, &headers, &message.to_string())?;
        ensure!(status == 202, "{status}: {body}");
        Ok(())
    }

    /// Sends a request, and returns its result.
    ///
    /// # Errors
    ///
    /// The error of the reply.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))?;
        loop {
            let (_, data) = self.events.event()?;
            let message: Value = serde_json::from_str(&data)?;
            if message["id"] == self.id {
                ensure!(message["error"].is_null(), "{}", message["error"]);
                return Ok(message["result"].clone());
            }
        }
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// An error of the protocol.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<ToolReply> {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let text = result["content"][0]["text"].as_str().context("no text")?.to_owned();
        Ok(ToolReply { text, is_error: result["isError"].as_bool().unwrap_or_default() })
    }

    /// The sid of a machine's first session.
    ///
    /// # Errors
    ///
    /// If the machine has no session.
    pub fn session(&mut self, machine: &str) -> Result<String> {
        let sessions = self.call("list_sessions", json!({"machine_id": machine}))?.json()?;
        let sid = sessions["sessions"][0]["sid"].as_str();
        sid.map(str::to_owned).with_context(|| format!("no session: {sessions}"))
    }
}
