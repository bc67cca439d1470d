//! A client of the ptywright protocol, over a program's standard streams or a Unix socket, with either kind of framing.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use unterm_tests::{PATIENCE, binary, wait_for};

/// How messages are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Ndjson,
    Lsp,
}

impl Framing {
    pub const ALL: [Self; 2] = [Self::Ndjson, Self::Lsp];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Lsp => "lsp",
        }
    }
}

/// A running server.
pub struct PtywrightServer {
    pub process: Child,
    pub home: TempDir,
    framing: Framing,
}

impl Drop for PtywrightServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `unterm-cli ptywright` with a home of its own, and pipes as standard streams.
pub fn command(home: &Path) -> Command {
    let mut command = Command::new(binary("unterm-cli"));
    command
        .arg("ptywright")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("UNTERM_HOME", home.join("registry"))
        .env("LANG", "C.UTF-8")
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl PtywrightServer {
    /// Starts a server on standard streams, with additional arguments.
    pub fn stdio(framing: Framing, args: &[&str], env: &[(&str, &Path)]) -> Result<(Self, Client)> {
        let home = tempfile::tempdir()?;
        let mut command = command(home.path());
        command.args(["serve", "--stdio", "--framing", framing.name()]).args(args);
        let mut process = command.envs(env.iter().copied()).spawn()?;
        let input = process.stdin.take().context("no input")?;
        let output = process.stdout.take().context("no output")?;
        let client = Client::new(framing, Box::new(input), Box::new(output));
        Ok((Self { process, home, framing }, client))
    }

    /// Starts a server on the socket `socket` in its home. Returns when the socket accepts connections.
    pub fn socket(framing: Framing) -> Result<Self> {
        let home = tempfile::tempdir()?;
        Self::socket_in(home, framing)
    }

    /// Starts a server on a socket, with additional arguments.
    pub fn socket_with(framing: Framing, args: &[&str]) -> Result<Self> {
        Self::listen(tempfile::tempdir()?, framing, args)
    }

    pub fn socket_in(home: TempDir, framing: Framing) -> Result<Self> {
        Self::listen(home, framing, &[])
    }

    fn listen(home: TempDir, framing: Framing, args: &[&str]) -> Result<Self> {
        let path = home.path().join("socket");
        let mut command = command(home.path());
        command.args(["serve", "--framing", framing.name(), "--socket"]).arg(&path).args(args);
        let mut served = Self { process: command.spawn()?, home, framing };
        wait_for(
            "the socket",
            || {
                if let Some(status) = served.process.try_wait()? {
                    let mut why = String::new();
                    served.process.stderr.take().context("no log")?.read_to_string(&mut why)?;
                    bail!("it ended ({status}): {why}");
                }
                Ok(UnixStream::connect(&path).ok().map(drop))
            },
            String::new,
        )?;
        Ok(served)
    }

    pub fn path(&self) -> PathBuf {
        self.home.path().join("socket")
    }

    pub fn connect(&self) -> Result<Client> {
        let stream = UnixStream::connect(self.path())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Client::new(self.framing, Box::new(stream.try_clone()?), Box::new(stream)))
    }

    /// The command lines of the processes that this server has started.
    pub fn programs(&self) -> Result<Vec<String>> {
        let pid = self.process.id();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
        let of_threads = std::fs::read_dir(format!("/proc/{pid}/task"))?
            .flatten()
            .map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
        let all: Vec<String> = of_threads.chain([children]).collect();
        let mut all: Vec<_> =
            all.iter().flat_map(|line| line.split_whitespace()).map(str::to_owned).collect();
        all.sort();
        all.dedup();
        Ok(all)
    }
}

/// The error message of a server that can't start.
pub fn refused(home: &Path, args: &[&str]) -> Result<String> {
    let output = command(home).args(args).stdin(Stdio::null()).output()?;
    ensure!(!output.status.success(), "it started");
    ensure!(output.stdout.is_empty(), "stdout carries the protocol only");
    Ok(String::from_utf8(output.stderr)?)
}

/// A client.
pub struct Client {
    framing: Framing,
    input: Option<Box<dyn Write + Send>>,
    output: BufReader<Box<dyn Read + Send>>,
    id: u64,
    /// Notifications that arrived before a reply.
    pub notes: VecDeque<Value>,
}

impl Client {
    fn new(framing: Framing, input: Box<dyn Write + Send>, output: Box<dyn Read + Send>) -> Self {
        let (input, output) = (Some(input), BufReader::new(output));
        Self { framing, input, output, id: 0, notes: VecDeque::new() }
    }

    /// Sends bytes unchanged.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().context("the input is closed")?;
        input.write_all(bytes)?;
        Ok(input.flush()?)
    }

    pub fn send(&mut self, message: &str) -> Result<()> {
        let framed = match self.framing {
            Framing::Ndjson => format!("{message}\n"),
            Framing::Lsp => format!("Content-Length: {}\r\n\r\n{message}", message.len()),
        };
        self.send_raw(framed.as_bytes())
    }

    /// Closes the client's input. It can send nothing more.
    pub fn close(&mut self) {
        self.input = None;
    }

    /// The next message. `None` if the server has closed the connection.
    pub fn receive(&mut self) -> Result<Option<Value>> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if self.framing == Framing::Ndjson {
            return Ok(Some(serde_json::from_str(&line)?));
        }
        let length = line.trim_end().strip_prefix("Content-Length: ").context("no length")?;
        let mut message = vec![0; length.parse()?];
        self.output.read_line(&mut line)?;
        self.output.read_exact(&mut message)?;
        Ok(Some(serde_json::from_slice(&message)?))
    }

    /// Sends a request and returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> Result<u64> {
        self.id += 1;
        let id = self.id;
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )?;
        Ok(id)
    }

    /// The reply to a request. Notifications that arrive before it are stored.
    pub fn end(&mut self, id: u64) -> Result<Value> {
        loop {
            let message = self.receive()?.context("the connection has ended")?;
            if message.get("method").is_some() {
                self.notes.push_back(message);
                continue;
            }
            ensure!(message["id"] == id && message["jsonrpc"] == "2.0", "{message}");
            return Ok(message);
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.begin(method, params)?;
        self.end(id)
    }

    /// The result of a request.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let mut reply = self.request(method, params)?;
        ensure!(reply.get("error").is_none(), "{method}: {reply}");
        Ok(reply["result"].take())
    }

    /// Sends a request that must fail. Returns the error's code and message.
    pub fn fail(&mut self, method: &str, params: Value) -> Result<(i64, String)> {
        let reply = self.request(method, params)?;
        error(&reply)
    }

    /// The next notification.
    pub fn note(&mut self) -> Result<Value> {
        match self.notes.pop_front() {
            Some(note) => Ok(note),
            None => self.receive()?.context("the connection has ended"),
        }
    }

    /// Creates a session that runs a shell script. Returns the session's id.
    pub fn script(&mut self, script: &str) -> Result<String> {
        let created = self.call(
            "session.create",
            json!({"program": "/bin/sh", "args": ["-c", script], "env": {"PS1": "$ "}}),
        )?;
        Ok(created["session"].as_str().context("no session")?.to_owned())
    }

    pub fn wait(&mut self, session: &str, matcher: Value) -> Result<Value> {
        let params = json!({"session": session, "matcher": matcher, "timeout_ms": 60_000});
        self.call("session.wait", params)
    }

    pub fn wait_text(&mut self, session: &str, text: &str) -> Result<Value> {
        self.wait(session, json!({"type": "contains_text", "value": text}))
    }

    pub fn act(&mut self, session: &str, action: Value) -> Result<Value> {
        self.call("session.input", json!({"session": session, "action": action}))
    }
}

/// The code and message of a reply, which must be an error.
pub fn error(reply: &Value) -> Result<(i64, String)> {
    let code = reply["error"]["code"].as_i64().with_context(|| format!("no error: {reply}"))?;
    Ok((code, reply["error"]["message"].as_str().context("no message")?.to_owned()))
}
