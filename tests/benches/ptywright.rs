//! How long `session.wait` of the ptywright protocol takes from the moment a program writes the awaited text to its terminal
//! until the client has the reply, over standard streams. Prints median, 99th and 99.9th percentile; asserts nothing.
//!
//! The floor is a bare pipe in the same run: the same program writes the same text to a pipe, and the time ends when the text
//! has been read. Waits and floor alternate, so that other load on the machine affects both. A reply also contains the whole
//! screen with its cells, some 380 kB, so that a second floor is a pipe that carries as much.
//!
//! `cargo bench -p unterm-tests --bench ptywright`

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::binary;

const WAITS: usize = 2_000;
/// How long a wait takes to begin, at most.
const BEGUN: Duration = Duration::from_millis(2);
/// Consecutive waits before the floor's turn.
const TURN: usize = 20;
/// The argument that makes this program the writing program.
const WRITE: &str = "--write";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, first, folder, length] = arguments.as_slice()
        && first == WRITE
    {
        return write(Path::new(folder), length.parse()?);
    }
    // `cargo test --benches` only checks that the bench runs.
    let waits = if arguments.iter().any(|argument| argument == "--bench") { WAITS } else { TURN };

    let mut session = Session::start()?;
    session.time(0)?;
    let length = session.reply_length;
    let (mut short, mut long) = (Pipe::start(TEXT)?, Pipe::start(length)?);
    let mut times: [Vec<Duration>; 3] = Default::default();
    for turn in 0..waits / TURN {
        for number in 1 + turn * TURN..1 + (turn + 1) * TURN {
            times[0].push(session.time(number)?);
            times[1].push(short.time(number)?);
            times[2].push(long.time(number)?);
        }
    }
    println!("{:<34}{:>9}{:>9}{:>9}{:>15}", "microseconds", "median", "p99", "p99.9", "wait to it");
    let wait = quantiles(&mut times[0]);
    let long_name = format!("a pipe, {length} bytes");
    let names = ["session.wait", "a pipe, the text alone", &long_name];
    for (name, times) in names.into_iter().zip(&mut times) {
        let figures = quantiles(times);
        print!("{name:<34}");
        figures.iter().for_each(|figure| print!("{figure:>9.1}"));
        println!("{:>14.2}x", wait[0] / figures[0]);
    }
    Ok(())
}

/// The length of an awaited text: a carriage return and eight digits.
const TEXT: usize = 9;

/// Writes a text for each number that comes, `length` bytes long, and the time just before.
fn write(folder: &Path, length: usize) -> Result<()> {
    let mut numbers = File::open(folder.join("numbers"))?;
    let mut times = OpenOptions::new().write(true).open(folder.join("times"))?;
    let mut number = [0; 8];
    let mut output = io::stdout().lock();
    while numbers.read_exact(&mut number).is_ok() {
        let mut text = format!("\r{:08}", u64::from_le_bytes(number)).into_bytes();
        text.resize(length, b' ');
        let now = now()?;
        output.write_all(&text)?;
        output.flush()?;
        times.write_all(&now.to_le_bytes())?;
    }
    Ok(())
}

/// Nanoseconds since 1970, which another process can compare.
fn now() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64)
}

/// The numbers to write, and the times at which they were written.
struct Writer {
    numbers: File,
    times: File,
    /// Keeps the pipes.
    _folder: tempfile::TempDir,
}

impl Writer {
    /// Makes the pipes of a writer, and has `start` start it with its arguments.
    fn start(length: usize, start: impl FnOnce(&str, [&str; 3]) -> Result<()>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for name in ["numbers", "times"] {
            let made = Command::new("mkfifo").arg(folder.path().join(name)).status()?;
            ensure!(made.success(), "no pipe");
        }
        let own = std::env::current_exe()?;
        let path = folder.path().to_str().context("a path")?;
        start(own.to_str().context("a path")?, [WRITE, path, &length.to_string()])?;
        let numbers = OpenOptions::new().write(true).open(folder.path().join("numbers"))?;
        let times = File::open(folder.path().join("times"))?;
        Ok(Self { numbers, times, _folder: folder })
    }

    fn write(&mut self, number: usize) -> Result<()> {
        Ok(self.numbers.write_all(&(number as u64).to_le_bytes())?)
    }

    /// The time from the last write until `end`.
    fn until(&mut self, end: u64) -> Result<Duration> {
        let mut begun = [0; 8];
        self.times.read_exact(&mut begun)?;
        Ok(Duration::from_nanos(end.saturating_sub(u64::from_le_bytes(begun))))
    }
}

/// A session of a server that runs the writer.
struct Session {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    writer: Writer,
    id: u64,
    reply_length: usize,
}

impl Session {
    fn start() -> Result<Self> {
        let mut server = Command::new(binary("unterm-cli"))
            .args(["ptywright", "serve", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = server.stdin.take().context("no input")?;
        let mut output = BufReader::new(server.stdout.take().context("no output")?);
        let writer = Writer::start(TEXT, |program, args| {
            let params = json!({"program": program, "args": args});
            writeln!(input, "{}", request(1, "session.create", &params))?;
            let mut reply = String::new();
            output.read_line(&mut reply)?;
            ensure!(reply.contains("\"s1\""), "{reply}");
            Ok(())
        })?;
        Ok(Self { server, input, output, writer, id: 1, reply_length: 0 })
    }

    fn receive(&mut self) -> Result<String> {
        let mut reply = String::new();
        self.output.read_line(&mut reply)?;
        Ok(reply)
    }

    /// How long a wait takes for the text of this number.
    fn time(&mut self, number: usize) -> Result<Duration> {
        let matcher = json!({"type": "contains_text", "value": format!("{number:08}")});
        let wait = json!({"session": "s1", "matcher": matcher, "timeout_ms": 60_000});
        self.id += 1;
        writeln!(self.input, "{}", request(self.id, "session.wait", &wait))?;
        // By then the wait has begun. Nothing reports that, and the replies to other requests on this connection wait, too.
        thread::sleep(BEGUN);
        self.writer.write(number)?;
        let reply = self.receive()?;
        let end = now()?;
        let parsed: Value = serde_json::from_str(&reply)?;
        ensure!(parsed["result"]["matched"] == true, "{reply}");
        self.reply_length = reply.len();
        self.writer.until(end)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The writer on a bare pipe.
struct Pipe {
    process: Child,
    output: ChildStdout,
    writer: Writer,
    text: Vec<u8>,
}

impl Pipe {
    fn start(length: usize) -> Result<Self> {
        let mut process = None;
        let writer = Writer::start(length, |program, args| {
            process = Some(Command::new(program).args(args).stdout(Stdio::piped()).spawn()?);
            Ok(())
        })?;
        let mut process = process.context("no process")?;
        let output = process.stdout.take().context("no output")?;
        Ok(Self { process, output, writer, text: vec![0; length] })
    }

    fn time(&mut self, number: usize) -> Result<Duration> {
        self.writer.write(number)?;
        self.output.read_exact(&mut self.text)?;
        let end = now()?;
        ensure!(self.text.starts_with(format!("\r{number:08}").as_bytes()), "another text");
        self.writer.until(end)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Median, 99th and 99.9th percentile in microseconds.
fn quantiles(times: &mut [Duration]) -> [f64; 3] {
    times.sort_unstable();
    [0.5, 0.99, 0.999].map(|share| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1e6)
}
