//! A client of the Model Context Protocol that uses `unterm-cli mcp`, like an agent.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{PATIENCE, binary};

/// A running relay and its output.
pub struct Relay {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    id: u64,
}

impl Relay {
    /// Starts the relay with additional arguments, for the instances of a registry, and begins a session.
    ///
    /// # Errors
    ///
    /// If the relay can't be started, or does not answer.
    pub fn start(home: &Path, registry: &Path, args: &[&str]) -> Result<Self> {
        Self::start_with(home, registry, args, &[])
    }

    /// Starts the relay with additional arguments and environment variables.
    ///
    /// # Errors
    ///
    /// If the relay can't be started, or does not answer.
    pub fn start_with(
        home: &Path,
        registry: &Path,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Result<Self> {
        let mut command = Command::new(binary("unterm-cli"));
        command
            .arg("mcp")
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("UNTERM_HOME", registry)
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/bash")
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = command.spawn().context("starting unterm-cli mcp")?;
        let input = process.stdin.take();
        let output = process.stdout.take().context("it has no output")?;
        let mut relay = Self { process, input, lines: read(output), id: 0 };
        let hello = relay.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        )?;
        ensure!(hello["serverInfo"]["name"] == "unterm", "{hello}");
        relay.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(relay)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("its input is closed")?;
        writeln!(input, "{message}").context("writing to unterm-cli mcp")
    }

    /// Sends a request and returns its result.
    ///
    /// # Errors
    ///
    /// The server's error, or a missing reply.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.begin(method, params)?;
        self.answer()
    }

    /// Sends a request. [`Relay::answer`] returns its result.
    ///
    /// # Errors
    ///
    /// If the request can't be sent.
    pub fn begin(&mut self, method: &str, params: Value) -> Result<()> {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.send(&request)
    }

    /// The result of the last request.
    ///
    /// # Errors
    ///
    /// The server's error, or a missing reply.
    pub fn answer(&mut self) -> Result<Value> {
        loop {
            let line = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => bail!("no reply to request {}", self.id),
                Err(RecvTimeoutError::Disconnected) => bail!("it ended before it answered"),
            };
            let mut message: Value = serde_json::from_str(&line).context("a reply")?;
            if message["id"] == self.id && message.get("method").is_none() {
                ensure!(message.get("error").is_none(), "request {}: {message}", self.id);
                return Ok(message["result"].take());
            }
        }
    }

    /// Closes the relay's input.
    pub fn close(&mut self) {
        self.input.take();
    }

    /// Calls a tool that must succeed, and returns its structured reply.
    ///
    /// # Errors
    ///
    /// The tool's error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let mut result =
            self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        ensure!(result["isError"] == false, "{tool}: {result}");
        Ok(result["structuredContent"].take())
    }

    /// Closes the relay's input, and waits until it ends.
    ///
    /// # Errors
    ///
    /// If the relay keeps running.
    pub fn finish(mut self) -> Result<ExitStatus> {
        self.input.take();
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        Ok(self.process.wait()?)
    }

    /// Kills the relay.
    ///
    /// # Errors
    ///
    /// If the relay has ended.
    pub fn kill(mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The output of a process, line by line, until it ends.
fn read(output: ChildStdout) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
