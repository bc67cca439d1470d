//! The cost of calls: `server.info` and `screen.text`. The floor of each is a TCP echo on the same runtime, with
//! requests and replies of the same lengths.
//!
//! `screen.text` is called on one unchanging screen, and on so many screens in turn that each must be read again.
//!
//! Prints medians and 99th percentiles for one connection, and calls per second for one, eight and 64 connections, as
//! ratios to the floor. Calls and floor take turns, so that other load on the machine affects both.
//!
//! Then measures `exec.run_wait` of `true`, with a shell for each connection; the processor time while 64 connections
//! wait for 64 idle sessions; calls about other sessions while `yes` floods one; and calls over 200 connections
//! beside 1,000 idle ones and one that never reads.
//!
//! `cargo bench -p unterm-control`

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use unterm_control::{Approval, Headless, LoginLimits, Server, ServerOptions};
use unterm_mux::{Defaults, Mux, MuxOptions, OnExit, PaneState, ShellIntegration, Spawn};
use unterm_term::{Options, Size};

/// More panes than the server caches texts for.
const PANES: usize = 40;
/// The number of timed calls, and how many of them follow each other before the floor's turn. The turns are short, so
/// that both run with the same placement of threads on cores. On some machines, placement alone makes a call three
/// times as slow.
const CALLS: usize = 10_000;
const TURN: usize = 20;
/// The numbers of connections that call at once, the time for each, and the number of turns.
const CONNECTIONS: [usize; 3] = [1, 8, 64];
const SPELL: Duration = Duration::from_millis(500);
const SPELLS: usize = 4;
/// The number of connections that each wait for a session, and how long they are measured.
const WAITING: usize = 64;
const WATCHED: Duration = Duration::from_secs(5);
/// The number of idle connections, and of connections that make calls beside them.
const IDLE: usize = 1_000;
const AT_WORK: usize = 200;

fn main() {
    let home = tempfile::tempdir().expect("a directory");
    let mux = Mux::new(MuxOptions {
        term: Options::default(),
        default_size: Size::cells(120, 30),
        env: vec![("TERM".to_owned(), "xterm-256color".to_owned())],
        sized_by_window: false,
    });
    let options = ServerOptions {
        mux: mux.clone(),
        host: Arc::new(Headless),
        home: home.path().join(".unterm"),
        approval: Approval::Allow,
        login: LoginLimits::default(),
    };
    let server = Server::start(options).expect("a server");
    let panes: Vec<u64> = (0..PANES).map(|_| full_screen(&mux, server.runtime())).collect();

    let token = client_token(&server, home.path());
    println!(
        "{:<34}{:>10}{:>10}{:>10}{:>10}{:>8}{:>8}",
        "", "median", "p99", "floor", "p99", "median", "p99"
    );
    let info = vec![request("server.info", &json!({}))];
    // Ids of the same length, so that all requests of the floor have one length.
    let text = |pane: &u64| request("screen.text", &json!({"session_id": format!("{pane:04}")}));
    let screens: Vec<_> = panes.iter().map(text).collect();
    let methods = [
        ("server.info", info),
        ("screen.text, still", screens[..1].to_vec()),
        ("screen.text, each anew", screens),
    ];
    for (method, lines) in &methods {
        let mut call = Connection::login(server.address(), &token, lines.clone());
        let reply = call.call();
        let echo = serve_echo(&server, lines[0].len(), reply);
        let mut floor = Connection::open(echo, lines.clone());
        let (mut calls, mut floors) = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
        for turn in 0..=CALLS / TURN {
            // The first turn is a warm-up.
            let is_counted = turn > 0;
            for (connection, times) in [(&mut call, &mut calls), (&mut floor, &mut floors)] {
                let timed = (0..TURN).map(|_| connection.time());
                times.extend(timed.filter(|_| is_counted));
            }
        }
        let (call, floor) = (quantiles(&mut calls), quantiles(&mut floors));
        println!(
            "{:<34}{:>9.1}µ{:>9.1}µ{:>9.1}µ{:>9.1}µ{:>7.2}x{:>7.2}x",
            format!("{method} ({} B)", reply),
            call.0,
            call.1,
            floor.0,
            floor.1,
            call.0 / floor.0,
            call.1 / floor.1,
        );
    }
    for connections in CONNECTIONS {
        println!(
            "\n{:<34}{:>14}{:>14}{:>9}",
            format!("{connections} connections"),
            "calls/s",
            "floor/s",
            "share"
        );
        throughput(&server, &token, &methods, connections);
    }
    let folder = home.path().join("shell-integration");
    ShellIntegration::install(&folder).expect("scripts");
    mux.set_defaults(Defaults { shell_integration: Some(folder), ..Defaults::default() });
    commands(&server, &token);
    waiting(&server, &token);
    flooded(&server, &token, &methods);
    crowded(&server, &token, &methods[0].1);
    server.stop();
    mux.shutdown();
}

/// Calls per second over some number of connections, beside the floor.
fn throughput(server: &Server, token: &str, methods: &[(&str, Vec<String>)], connections: usize) {
    for (method, lines) in methods {
        let connect = || Connection::login(server.address(), token, lines.clone());
        let reply = connect().call();
        let echo = serve_echo(server, lines[0].len(), reply);
        let mut calls: Vec<_> = (0..connections).map(|_| connect()).collect();
        let mut floors: Vec<_> =
            (0..connections).map(|_| Connection::open(echo, lines.clone())).collect();
        let (mut call_count, mut floor_count) = (0, 0);
        for _ in 0..SPELLS {
            call_count += spell(&mut calls);
            floor_count += spell(&mut floors);
        }
        let seconds = SPELL.as_secs_f64() * SPELLS as f64;
        println!(
            "{method:<34}{:>14.0}{:>14.0}{:>9.2}",
            call_count as f64 / seconds,
            floor_count as f64 / seconds,
            call_count as f64 / floor_count as f64
        );
    }
}

/// Opens a session that runs a program, and returns its number.
fn session(server: &Server, token: &str, params: &Value) -> u64 {
    let create = vec![request("session.create", params)];
    let mut connection = Connection::login(server.address(), token, create);
    connection.call();
    let reply: Value = serde_json::from_slice(&connection.reply).expect("JSON");
    reply["result"]["id"].as_u64().expect("a session")
}

/// `exec.run_wait` of `true`. Its only floor is the time that the shell takes.
fn commands(server: &Server, token: &str) {
    println!(
        "\n{:<34}{:>12}{:>12}{:>14}",
        "exec.run_wait of true", "median ms", "p99 ms", "calls/s"
    );
    for connections in CONNECTIONS {
        let mut calls: Vec<_> = (0..connections)
            .map(|_| {
                let id = session(server, token, &json!({"program": "bash", "args": []}));
                let run = json!({"id": id, "command": "true"});
                let run = vec![request("exec.run_wait", &run)];
                let mut connection = Connection::login(server.address(), token, run);
                // The first call waits until the shell has started.
                connection.call();
                connection
            })
            .collect();
        let mut times: Vec<_> = (0..200).map(|_| calls[0].time()).collect();
        let count: usize = (0..SPELLS).map(|_| spell(&mut calls)).sum();
        let (median, p99) = quantiles(&mut times);
        println!(
            "{:<34}{:>12.2}{:>12.2}{:>14.0}",
            format!("{connections} connections"),
            median / 1e3,
            p99 / 1e3,
            count as f64 / (SPELL.as_secs_f64() * SPELLS as f64)
        );
    }
}

/// The processor time of all threads of this process.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // Fields 14 and 15 of proc_pid_stat(5), in ticks of 10 ms.
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// The cost of waiting.
fn waiting(server: &Server, token: &str) {
    let mut connections: Vec<_> = (0..WAITING)
        .map(|_| {
            let id = session(server, token, &json!({"program": "cat"}));
            let wait = json!({"id": id, "any": [{"text": "never"}], "timeout_ms": 600_000});
            Connection::login(server.address(), token, vec![request("session.wait", &wait)])
        })
        .collect();
    for connection in &mut connections {
        connection.send();
    }
    std::thread::sleep(Duration::from_secs(1));
    let begun = processor_time();
    std::thread::sleep(WATCHED);
    match (begun, processor_time()) {
        (Some(begun), Some(end)) => println!(
            "\n{WAITING} connections that wait for {WAITING} sessions: {} ms of the processor's time in {} s",
            (end - begun).as_millis(),
            WATCHED.as_secs()
        ),
        _ => println!("\nthe processor's time is not told here"),
    }
}

/// Calls about other sessions while one is flooded.
fn flooded(server: &Server, token: &str, methods: &[(&str, Vec<String>)]) {
    let yes = session(server, token, &json!({"program": "yes"}));
    println!("\n{:<34}{:>12}{:>12}", "while yes floods a session", "median µs", "p99 µs");
    for (method, lines) in methods {
        let mut connection = Connection::login(server.address(), token, lines.clone());
        connection.call();
        let mut times: Vec<_> = (0..CALLS / 2).map(|_| connection.time()).collect();
        let (median, p99) = quantiles(&mut times);
        println!("{method:<34}{median:>12.1}{p99:>12.1}");
    }
    let end = vec![request("session.destroy", &json!({"id": yes}))];
    Connection::login(server.address(), token, end).call();
}

/// Calls beside many idle connections, and beside a connection that never reads.
fn crowded(server: &Server, token: &str, lines: &[String]) {
    let begun = Instant::now();
    let idle: Vec<_> =
        (0..IDLE).map(|_| Connection::login(server.address(), token, Vec::new())).collect();
    println!("\n{IDLE} logins in {} ms", begun.elapsed().as_millis());
    let deaf = Connection::login(server.address(), token, Vec::new());
    let deaf = deaf.reader.into_inner();
    deaf.set_nonblocking(true).expect("a stream that does not block");
    let many = request("server.capabilities", &json!({})).repeat(1000);
    while (&deaf).write(many.as_bytes()).is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut working: Vec<_> =
        (0..AT_WORK).map(|_| Connection::login(server.address(), token, lines.to_vec())).collect();
    let count: usize = (0..SPELLS).map(|_| spell(&mut working)).sum();
    let mut times: Vec<_> = (0..CALLS / 2).map(|_| working[0].time()).collect();
    let (median, p99) = quantiles(&mut times);
    println!(
        "{AT_WORK} of them at work: {:.0} calls/s; one alone: median {median:.1} µs, p99 {p99:.1} µs",
        count as f64 / (SPELL.as_secs_f64() * SPELLS as f64)
    );
    drop((idle, deaf));
}

fn request(method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

/// A pane whose screen is full of text.
fn full_screen(mux: &Arc<Mux>, runtime: &tokio::runtime::Handle) -> u64 {
    let script = "i=0; while [ $i -lt 40 ]; do \
                  echo \"$i: the quick brown fox jumps over the lazy dog, again and again and again\"; \
                  i=$((i+1)); done";
    let spawn = Spawn {
        program: Some("sh".to_owned()),
        args: vec!["-c".to_owned(), script.to_owned()],
        ..Spawn::default()
    };
    let pane = mux.open_tab(spawn, None, OnExit::Hold).expect("a pane");
    runtime.block_on(async {
        let mut changes = pane.watch();
        while pane.state() == PaneState::Running {
            changes.changed().await.expect("the pane is held");
        }
    });
    pane.id().0
}

fn client_token(server: &Server, home: &std::path::Path) -> String {
    let record = home.join(".unterm/instances").join(format!("{}.json", server.instance_id()));
    let record: Value =
        serde_json::from_slice(&std::fs::read(record).expect("a record")).expect("JSON");
    record["auth_token"].as_str().expect("a token").to_owned()
}

/// The floor: answers every `request` bytes with `reply` bytes, on the server's runtime.
fn serve_echo(server: &Server, request: usize, reply: usize) -> SocketAddr {
    let runtime = server.runtime();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("an address");
    runtime.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.set_nodelay(true);
                let mut buffer = vec![0; request];
                let mut answer = vec![b'x'; reply];
                answer[reply - 1] = b'\n';
                while stream.read_exact(&mut buffer).await.is_ok()
                    && stream.write_all(&answer).await.is_ok()
                {}
            });
        }
    });
    address
}

/// The number of calls that all connections make in one time span.
fn spell(connections: &mut [Connection]) -> usize {
    let stop = AtomicBool::new(false);
    let start = Barrier::new(connections.len() + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = connections
            .iter_mut()
            .map(|connection| {
                let (start, stop) = (&start, &stop);
                scope.spawn(move || {
                    let mut count = 0;
                    start.wait();
                    while !stop.load(Ordering::Relaxed) {
                        connection.call();
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        start.wait();
        std::thread::sleep(SPELL);
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

/// The median and the 99th percentile in microseconds.
fn quantiles(times: &mut [Duration]) -> (f64, f64) {
    times.sort_unstable();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1e6;
    (at(0.5), at(0.99))
}

/// A blocking client that makes the same calls repeatedly.
struct Connection {
    reader: BufReader<TcpStream>,
    requests: Vec<String>,
    next: usize,
    reply: Vec<u8>,
}

impl Connection {
    fn open(address: SocketAddr, requests: Vec<String>) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("TCP_NODELAY");
        Self {
            reader: BufReader::with_capacity(64 << 10, stream),
            requests,
            next: 0,
            reply: Vec::new(),
        }
    }

    fn login(address: SocketAddr, token: &str, requests: Vec<String>) -> Self {
        let login = json!({"id": 0, "method": "auth.login", "params": {"token": token}});
        let mut connection = Self::open(address, vec![format!("{login}\n")]);
        connection.call();
        connection.requests = requests;
        connection
    }

    fn send(&mut self) {
        self.next = (self.next + 1) % self.requests.len();
        let request = self.requests[self.next].as_bytes();
        self.reader.get_mut().write_all(request).expect("written");
    }

    /// Makes one call, and returns the length of the reply.
    fn call(&mut self) -> usize {
        self.send();
        self.reply.clear();
        self.reader.read_until(b'\n', &mut self.reply).expect("read")
    }

    fn time(&mut self) -> Duration {
        let start = Instant::now();
        self.call();
        start.elapsed()
    }
}
