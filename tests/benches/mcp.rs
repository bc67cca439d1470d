//! What a tool call costs an agent: reading the text of a full screen, and running `true`, through `unterm-cli mcp` and
//! over HTTP, in both eras of the Model Context Protocol. Prints median, 99th and 99.9th percentile beside a floor
//! measured in the same run; asserts nothing.
//!
//! The floor of reading a screen is an echo over the same transport, with requests and replies of the same lengths:
//! another process on pipes, or a server on the loopback address. The floor of `true` is bash alone on a pty, from
//! typing the line until its next prompt. Calls and floor alternate, so that other load on the machine affects both. A
//! brief stall of the machine hits a long call more often than a short one. The floor is therefore also shown for as
//! many echoes in a row as take about as long as one call.
//!
//! `cargo bench -p unterm-tests --bench mcp`

#![allow(clippy::print_stdout, reason = "a bench prints its figures, and its echo answers there")]

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Instance, Start, binary, clients::http_door, start_on_pty};

/// Calls to time. With fewer, a single call would decide the 99.9th percentile.
const CALLS: usize = 10_000;
const RUNS: usize = 4_000;
/// Consecutive calls before the floor's turn.
const TURN: usize = 20;
/// The eras, each by its last revision.
const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// The argument that turns this program into the floor's other process.
const ECHO: &str = "--echo";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, first, length] = arguments.as_slice()
        && first == ECHO
    {
        return echo(length.parse()?);
    }
    // `cargo test --benches` only checks that the bench runs.
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let (calls, runs) = if is_bench { (CALLS, RUNS) } else { (TURN, TURN) };

    let mut unterm = Start::headless().now()?;
    let shell = unterm.first_pane()?;
    shell.wait_for_prompt(&mut unterm)?;
    let script = "for n in $(seq 40); do echo \"$n: the quick brown fox jumps over the lazy dog, again and again\"; done; \
                  exec cat";
    let full = json!({"program": "sh", "args": ["-c", script], "cols": 120, "rows": 30});
    let full = unterm.open(full)?;
    full.wait_for_text(&mut unterm, "40: the quick")?;

    println!(
        "{:<34}{:>27}{:>27}{:>27}{:>18}",
        "", "call", "floor", "floor, as long", "call to floor"
    );
    print!("{:<34}", "microseconds");
    (0..3).for_each(|_| print!("{:>9}{:>9}{:>9}", "median", "p99", "p99.9"));
    println!("{:>9}{:>9}", "median", "p99");
    for era in ERAS {
        let mut screen = Tool::new(era, "screen", json!({"pane": full.id})).over_pipes(&unterm)?;
        let mut floor = echo_on_pipes(&screen)?;
        compare(&format!("stdio {era}, screen"), calls, &mut screen, &mut floor)?;
        let mut screen = Tool::new(era, "screen", json!({"pane": full.id})).over_http(&unterm)?;
        let mut floor = echo_over_http(&screen)?;
        compare(&format!("HTTP {era}, screen"), calls, &mut screen, &mut floor)?;
    }
    for era in ERAS {
        let run = || Tool::new(era, "run", json!({"pane": shell.id, "command": "true"}));
        let mut stdio = run().over_pipes(&unterm)?;
        compare(&format!("stdio {era}, run true"), runs, &mut stdio, &mut Shell::start()?)?;
        let mut http = run().over_http(&unterm)?;
        compare(&format!("HTTP {era}, run true"), runs, &mut http, &mut Shell::start()?)?;
    }
    Ok(())
}

/// The floor of stdio: answers every line with a line of `length` bytes.
fn echo(length: usize) -> Result<()> {
    let mut answer = vec![b'x'; length];
    answer[length - 1] = b'\n';
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&answer)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

/// A peer that answers the same request again and again.
trait Peer {
    fn call(&mut self) -> Result<()>;
}

/// Times calls and their floor in alternation, and prints both on one line.
fn compare(name: &str, count: usize, call: &mut impl Peer, floor: &mut impl Peer) -> Result<()> {
    // These runs warm up, and show how many floor calls take as long as one call.
    let (mut calls, mut floors) = (Vec::new(), Vec::new());
    take_turn(TURN, call, &mut calls)?;
    take_turn(TURN, floor, &mut floors)?;
    let fits = ((quantiles(&mut calls)[0] / quantiles(&mut floors)[0]).round() as usize).max(1);
    (calls, floors) = (Vec::with_capacity(count), Vec::with_capacity(count * fits));
    for _ in 0..count / TURN {
        take_turn(TURN, call, &mut calls)?;
        take_turn(TURN * fits, floor, &mut floors)?;
    }
    let mut as_long: Vec<Duration> =
        floors.chunks(fits).map(|floors| floors.iter().sum()).collect();
    let figures = [&mut calls, &mut floors, &mut as_long].map(|times| quantiles(times));
    let [call, floor, _] = figures;
    print!("{name:<34}");
    figures.as_flattened().iter().for_each(|figure| print!("{figure:>9.1}"));
    println!("{:>8.2}x{:>8.2}x", call[0] / floor[0], call[1] / floor[1]);
    Ok(())
}

fn take_turn(count: usize, peer: &mut impl Peer, times: &mut Vec<Duration>) -> Result<()> {
    for _ in 0..count {
        let start = Instant::now();
        peer.call()?;
        times.push(start.elapsed());
    }
    Ok(())
}

/// Median, 99th and 99.9th percentile in microseconds.
fn quantiles(times: &mut [Duration]) -> [f64; 3] {
    times.sort_unstable();
    [0.5, 0.99, 0.999].map(|share| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1e6)
}

/// A tool call in one of the eras.
struct Tool {
    era: &'static str,
    name: &'static str,
    arguments: Value,
}

impl Tool {
    fn new(era: &'static str, name: &'static str, arguments: Value) -> Self {
        Self { era, name, arguments }
    }

    /// Whether the request needs no session.
    fn is_alone(&self) -> bool {
        self.era == ERAS[1]
    }

    /// The request.
    fn request(&self) -> Value {
        let mut params = json!({"name": self.name, "arguments": self.arguments});
        if self.is_alone() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.era,
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    }

    /// The messages that begin a session: a request, and a notification after its reply.
    fn hello(&self) -> [Value; 2] {
        let params = json!({
            "protocolVersion": self.era,
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ]
    }

    /// Calls through `unterm-cli mcp`.
    fn over_pipes(&self, unterm: &Instance) -> Result<Pipes> {
        let mut command = Command::new(binary("unterm-cli"));
        command
            .arg("mcp")
            .env_clear()
            .env("HOME", unterm.home())
            .env("UNTERM_HOME", unterm.registry())
            .env("LANG", "C.UTF-8");
        let mut pipes = Pipes::start(&mut command)?;
        if !self.is_alone() {
            let [hello, done] = self.hello();
            pipes.exchange(&format!("{hello}\n"))?;
            pipes.input.write_all(format!("{done}\n").as_bytes())?;
        }
        pipes.repeat(format!("{}\n", self.request()))?;
        succeeded(&pipes.reply)?;
        Ok(pipes)
    }

    /// Calls `/mcp` over one connection.
    fn over_http(&self, unterm: &Instance) -> Result<Http> {
        let (url, token) = http_door(unterm)?;
        let host = url.trim_start_matches("http://");
        let post = |more: &str, body: &Value| {
            let body = body.to_string();
            format!(
                "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
                 {more}Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let mut http = Http::connect(host)?;
        let more = if self.is_alone() {
            format!(
                "MCP-Protocol-Version: {}\r\nMcp-Method: tools/call\r\nMcp-Name: {}\r\n",
                self.era, self.name
            )
        } else {
            let [hello, done] = self.hello();
            http.exchange(&post("", &hello))?;
            let head = String::from_utf8_lossy(&http.reply).to_lowercase();
            let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
            let session = format!("Mcp-Session-Id: {}\r\n", session.context("no session")?.trim());
            http.exchange(&post(&session, &done))?;
            session
        };
        http.repeat(post(&more, &self.request()))?;
        succeeded(&http.reply)?;
        Ok(http)
    }
}

fn succeeded(reply: &[u8]) -> Result<()> {
    let reply = String::from_utf8_lossy(reply);
    ensure!(reply.contains("\"isError\":false"), "{reply}");
    Ok(())
}

/// A process that answers each line with a line. It is ended on drop.
struct Pipes {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    request: String,
    reply: Vec<u8>,
}

impl Pipes {
    fn start(command: &mut Command) -> Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take().context("no input")?;
        let output = process.stdout.take().context("no output")?;
        let output = BufReader::with_capacity(64 << 10, output);
        Ok(Self { process, input, output, request: String::new(), reply: Vec::new() })
    }

    fn exchange(&mut self, line: &str) -> Result<()> {
        self.input.write_all(line.as_bytes())?;
        self.reply.clear();
        ensure!(self.output.read_until(b'\n', &mut self.reply)? > 0, "it ended");
        Ok(())
    }

    /// Stores this request, and sends it once.
    fn repeat(&mut self, request: String) -> Result<()> {
        self.request = request;
        self.call()
    }
}

impl Peer for Pipes {
    fn call(&mut self) -> Result<()> {
        let request = std::mem::take(&mut self.request);
        let exchanged = self.exchange(&request);
        self.request = request;
        exchanged
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The floor of a call through pipes.
fn echo_on_pipes(like: &Pipes) -> Result<Pipes> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut echo = Pipes::start(command.args([ECHO, &like.reply.len().to_string()]))?;
    echo.repeat(like.request.clone())?;
    Ok(echo)
}

/// The floor of a run: a shell at its prompt, without a terminal.
struct Shell {
    process: Child,
    pty: File,
}

/// The end of the shell's prompt.
const PROMPT: &[u8] = b"\x1b]133;B\x07";

impl Shell {
    fn start() -> Result<Self> {
        let words = ["env", r"PS1=$ \e]133;B\a", "bash", "--norc", "--noprofile"];
        let (pty, process) = start_on_pty(80, 24, &words)?;
        let mut shell = Self { process, pty };
        shell.wait_for_prompt()?;
        Ok(shell)
    }

    fn wait_for_prompt(&mut self) -> Result<()> {
        let (mut buffer, mut end) = ([0; 4096], 0);
        while !buffer[..end].ends_with(PROMPT) {
            let count = self.pty.read(&mut buffer[end..])?;
            ensure!(count > 0, "no prompt");
            end += count;
        }
        Ok(())
    }
}

impl Peer for Shell {
    fn call(&mut self) -> Result<()> {
        self.pty.write_all(b"true\r")?;
        self.wait_for_prompt()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection that stays open.
struct Http {
    stream: BufReader<TcpStream>,
    request: String,
    /// The whole reply, including its head.
    reply: Vec<u8>,
}

impl Http {
    fn connect(host: &str) -> Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        let stream = BufReader::with_capacity(64 << 10, stream);
        Ok(Self { stream, request: String::new(), reply: Vec::new() })
    }

    fn exchange(&mut self, request: &str) -> Result<()> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.reply.clear();
        let (mut length, mut is_chunked) = (0_usize, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            is_chunked |= line.starts_with("transfer-encoding: chunked");
            if line.trim().is_empty() {
                break;
            }
        }
        if !is_chunked {
            return self.bytes(length);
        }
        loop {
            let size = usize::from_str_radix(self.line()?.trim(), 16)?;
            self.bytes(size + 2)?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    /// Reads the next line.
    fn line(&mut self) -> Result<String> {
        let start = self.reply.len();
        ensure!(self.stream.read_until(b'\n', &mut self.reply)? > 0, "the connection ended");
        Ok(String::from_utf8_lossy(&self.reply[start..]).into_owned())
    }

    /// Reads the next `count` bytes.
    fn bytes(&mut self, count: usize) -> Result<()> {
        let start = self.reply.len();
        self.reply.resize(start + count, 0);
        Ok(self.stream.read_exact(&mut self.reply[start..])?)
    }

    /// Stores this request, and sends it once.
    fn repeat(&mut self, request: String) -> Result<()> {
        self.request = request;
        self.call()
    }
}

impl Peer for Http {
    fn call(&mut self) -> Result<()> {
        let request = std::mem::take(&mut self.request);
        let exchanged = self.exchange(&request);
        self.request = request;
        exchanged
    }
}

/// The floor of a call over HTTP: a server that sends the recorded reply for as many bytes as the request has.
fn echo_over_http(like: &Http) -> Result<Http> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let host = listener.local_addr()?.to_string();
    let (mut request, reply) = (vec![0; like.request.len()], like.reply.clone());
    thread::spawn(move || -> Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        // Runs until the bench disconnects.
        loop {
            stream.read_exact(&mut request)?;
            stream.write_all(&reply)?;
        }
    });
    let mut echo = Http::connect(&host)?;
    echo.repeat(like.request.clone())?;
    Ok(echo)
}
