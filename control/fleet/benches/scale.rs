//! Measures how a hub and its NATS server scale with the fleet. Simulates machines with the real connector, on one NATS
//! server.
//!
//! Prints the memory and processor time of both, and the times of calls next to the time of a bare NATS request in the
//! same run. Needs `UNTERM_NATS_SERVER`. The arguments are the numbers of machines: `cargo bench -p unterm-fleet
//! --bench scale -- 10 100 1000`.
#![allow(clippy::print_stdout, missing_docs, reason = "this is a program that prints")]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use axum::{
    body::{Body, to_bytes},
    http::{Request, header},
};
use futures_util::StreamExt as _;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    task::JoinSet,
    time::{Instant, sleep},
};
use unterm_fleet::{
    Credentials, MachineId,
    connector::{BoxFuture, Connection, Panes, TypingFuture, machine_key, run_with},
    hub::{Hub, Options, conversations::Decision, tokens::Right},
    machine_key_public,
    nats_server::Fleet,
    protocol::{Presence, Program, Session, SessionText, Tokens, TypeReply, TypeRequest},
};

/// The number of sessions of each machine.
const SESSIONS: usize = 10;
/// The number of timed calls of `list_machines`.
const LISTS: usize = 200;
/// The number of timed calls of `send_to_session`.
const SENDS: usize = 2000;
/// The time for which the idle fleet is measured.
const IDLE: Duration = Duration::from_secs(20);
const CONVERSATION: &str = "bench";

fn main() -> Result<()> {
    let mut sizes: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![10, 100, 1000];
    }
    raise_files()?;
    println!(
        "machines | list_machines p50 p99 | send_to_session p50 p99 | bare request p50 p99 | idle: hub, NATS | memory: hub, NATS"
    );
    for size in sizes {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(measure(size))?;
    }
    Ok(())
}

/// Raises the limit of open files, because each connection needs a file.
fn raise_files() -> Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// A machine without instances.
struct Simulated(Presence);

impl Simulated {
    fn new(number: usize) -> Self {
        let session = |pane: usize| Session {
            sid: format!("{:012x}", number * SESSIONS + pane),
            ai: pane.is_multiple_of(3).then(|| "claude".to_owned()),
            cwd: format!("/home/person/projects/project-{pane}"),
            title: format!("person@machine-{number}: ~/projects/project-{pane}"),
            instance: "alpha".to_owned(),
        };
        let program = |binary: &str| Program {
            binary: binary.to_owned(),
            version: "2.1.109".to_owned(),
            running: true,
        };
        Self(Presence {
            name: format!("machine-{number}"),
            platform: "linux".to_owned(),
            version: "0.1.0".to_owned(),
            scan: [("claude".to_owned(), program("/usr/bin/claude"))].into(),
            sessions: (0..SESSIONS).map(session).collect(),
        })
    }
}

impl Panes for Simulated {
    fn presence(&self) -> BoxFuture<'_, Presence> {
        Box::pin(async { self.0.clone() })
    }

    fn sessions(&self) -> BoxFuture<'_, Vec<Session>> {
        Box::pin(async { self.0.sessions.clone() })
    }

    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<SessionText>> {
        Box::pin(async { Ok(SessionText { text: "text\n".repeat(1000), is_cut: false }) })
    }

    fn type_in<'a>(&'a self, request: &'a TypeRequest, _: Instant) -> TypingFuture<'a> {
        let bytes = request.parts.iter().map(|part| part.text.len()).sum();
        Box::pin(async move { Ok(TypeReply { bytes }) })
    }
}

/// A hub with its NATS server. Dropping this ends both.
struct HubProcess {
    child: Child,
    address: String,
}

impl HubProcess {
    fn start(home: &Path) -> Result<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_unterm-hub"))
            .args(["--listen", "127.0.0.1:0", "--no-connector"])
            .env("UNTERM_HOME", home)
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        Ok(Self { address: address.with_context(|| line.clone())?.to_owned(), child })
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

/// The memory of a process in MiB, and its processor time in seconds.
fn usage(id: u32) -> Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = kib.context("no memory")?.trim().trim_end_matches(" kB").parse()?;
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok((kib / 1024.0, ticks / 100.0))
}

/// The times of calls, in milliseconds.
struct Times(Vec<f64>);

impl Times {
    fn show(&mut self) -> String {
        self.0.sort_by(f64::total_cmp);
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize];
        format!("{:.2} {:.2} ms", at(0.5), at(0.99))
    }
}

/// An agent over streamable HTTP.
struct Agent {
    sender: SendRequest<Body>,
    address: String,
    token: String,
}

impl Agent {
    async fn connect(address: &str, token: String) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, address: address.to_owned(), token })
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<String> {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }},
        });
        let request = Request::post("/mcp")
            .header(header::HOST, &self.address)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("Mcp-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool)
            .body(Body::from(message.to_string()))?;
        self.sender.ready().await?;
        let reply = self.sender.send_request(request).await?;
        let body = to_bytes(Body::new(reply.into_body()), 64 << 20).await?;
        let reply: Value = serde_json::from_slice(&body)?;
        let text = reply["result"]["content"][0]["text"].as_str();
        text.map(str::to_owned).with_context(|| reply.to_string())
    }
}

async fn measure(size: usize) -> Result<()> {
    let home = tempfile::tempdir()?;
    let process = HubProcess::start(home.path())?;
    let folder = home.path().join("fleet/hub");
    let fleet = Fleet::read(&folder)?.context("no fleet")?;
    let nats: u32 = fs::read_to_string(folder.join("nats/nats.pid"))?.trim().parse()?;
    let hub = Hub::connect(&fleet, &Options::default()).await?;
    let mut machines = JoinSet::new();
    let mut ids = Vec::new();
    for number in 0..size {
        let own = home.path().join(format!("machines/{number}"));
        let seed = machine_key(&own)?;
        let key = machine_key_public(&seed)?;
        let Tokens { jwt, renewal } = hub.pairing().pair(&key, "machine", "linux").await?;
        let renewal = Some(renewal);
        let credentials = Credentials { jwt, renewal, seed, ..fleet.credentials.clone() };
        let connection = Connection::create(&own, "bench", credentials, false)?;
        machines.spawn(run_with(connection, Arc::new(Simulated::new(number))));
        ids.push(MachineId::of_key(&key));
    }
    let rights = vec![Right::List, Right::Read, Right::Send];
    let (_, token) = hub.tokens().create("bench", None, rights, None).await?;
    let mut agent = Agent::connect(&process.address, token.clone()).await?;
    let wait = Instant::now();
    loop {
        let listed = agent.call("list_machines", json!({})).await?;
        if listed.matches("\"connected\"").count() == size {
            break;
        }
        ensure!(wait.elapsed() < Duration::from_secs(120), "not all machines connected");
        sleep(Duration::from_millis(100)).await;
    }

    let before = [usage(process.child.id())?.1, usage(nats)?.1];
    sleep(IDLE).await;
    let after = [usage(process.child.id())?.1, usage(nats)?.1];
    // The hub has closed the idle connection.
    let mut agent = Agent::connect(&process.address, token).await?;
    let idle = [0, 1].map(|of| (after[of] - before[of]) / IDLE.as_secs_f64() * 100.0);

    let mut lists = Times(Vec::new());
    for _ in 0..LISTS {
        let start = Instant::now();
        agent.call("list_machines", json!({})).await?;
        lists.0.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    let send = |number: usize| {
        json!({
            "machine_id": ids[number % size],
            "session_id": format!("{:012x}", number % size * SESSIONS),
            "text": "echo hello",
            "conversation_id": CONVERSATION,
        })
    };
    agent.call("send_to_session", send(0)).await?;
    hub.conversations().decide(CONVERSATION, Decision::Approve).await?;
    let (mut sends, mut bare) = (Times(Vec::new()), Times(Vec::new()));
    let echo = Echo::start(&fleet.credentials).await?;
    for number in 0..SENDS {
        let start = Instant::now();
        let sent = agent.call("send_to_session", send(number)).await?;
        sends.0.push(start.elapsed().as_secs_f64() * 1000.0);
        ensure!(sent.contains("\"sent\""), "{sent}");
        let start = Instant::now();
        echo.ask().await?;
        bare.0.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    println!(
        "{size:8} | {} | {} | {} | {:.1} % {:.1} % | {:.0} MiB {:.0} MiB",
        lists.show(),
        sends.show(),
        bare.show(),
        idle[0],
        idle[1],
        usage(process.child.id())?.0,
        usage(nats)?.0,
    );
    machines.abort_all();
    Ok(())
}

/// Answers bare requests over NATS, to measure their time.
struct Echo {
    client: async_nats::Client,
}

impl Echo {
    const SUBJECT: &'static str = "bench.echo";

    async fn start(credentials: &Credentials) -> Result<Self> {
        let answers = credentials.connect("bench", None, false).await?;
        let mut requests = answers.subscribe(Self::SUBJECT).await?;
        answers.flush().await?;
        tokio::spawn(async move {
            while let Some(request) = requests.next().await {
                let Some(reply) = request.reply else { continue };
                let _ = answers.publish(reply, request.payload).await;
            }
        });
        Ok(Self { client: credentials.connect("bench", None, false).await? })
    }

    async fn ask(&self) -> Result<()> {
        self.client.request(Self::SUBJECT, vec![0; 200].into()).await?;
        Ok(())
    }
}
