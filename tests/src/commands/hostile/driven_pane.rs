//! A pane that agents, scripts and a user drive. Defines what a caller does if its command is refused.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{Instance, Relay, Wire, binary, commands::Shell};

/// The result of a command.
#[derive(Debug)]
pub enum RunResult {
    /// The command ended. Contains its output and its exit code.
    Ended(String, Option<i64>),
    /// The command was refused, for this reason.
    Refused(String),
    /// The command did not end in time, or failed in another way.
    Stuck(String),
}

/// The kind of caller that runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The tool `run` of an agent.
    Tool,
    /// `exec.run_wait` of a script.
    Method,
    /// `unterm-cli run`.
    CommandLine,
}

/// The maximum duration of a command, in milliseconds.
const MOST_MS: u64 = 12_000;
/// The time in milliseconds for which a caller that was refused waits for a prompt.
const PROMPT_MS: u64 = 3_000;

/// A pane, and the connections of its callers.
pub struct DrivenPane<'a> {
    unterm: &'a Instance,
    shell: Shell,
    agent: Relay,
    script: Wire,
    user: Wire,
    pane: u64,
}

impl<'a> DrivenPane<'a> {
    /// Connects to an instance.
    pub fn new(unterm: &'a Instance, shell: Shell) -> Result<Self> {
        let agent = Relay::start(unterm.home(), unterm.registry(), &[])?;
        let (script, user) = (Wire::login(unterm.entry())?, Wire::login(unterm.entry())?);
        Ok(Self { unterm, shell, agent, script, user, pane: 0 })
    }

    /// Opens a new pane, and closes the old one.
    pub fn reopen(&mut self) -> Result<()> {
        if self.pane != 0 {
            let _ = self.script.call("session.kill", json!({"id": self.pane}));
            let _ = self.script.call("session.destroy", json!({"id": self.pane}));
        }
        let opened = json!({"command": [self.shell.name()], "cwd": self.unterm.home(), "cols": 100, "rows": 24});
        let opened = self.agent.call("pane_open", opened)?;
        self.pane = opened["pane"].as_u64().context("pane_open gave no pane")?;
        // Wait for the prompt, because Ctrl+C ends a shell that has not begun to handle it.
        self.waits_for_prompt();
        Ok(())
    }

    /// Types keys as the user.
    pub fn types(&mut self, keys: &str) -> Result<()> {
        self.user.call("session.input", json!({"id": self.pane, "input": keys}))?;
        Ok(())
    }

    /// Opens another connection of a script. Returns it with the number of the pane.
    pub fn other(&self) -> Result<(Wire, u64)> {
        Ok((Wire::login(self.unterm.entry())?, self.pane))
    }

    /// Waits until the pane has been silent for a short time. The wait is limited.
    pub fn waits_for_silence(&mut self) {
        let wait = json!({"id": self.pane, "any": [{"stable_ms": 150}], "timeout_ms": PROMPT_MS});
        let _ = self.script.call("session.watch", wait);
    }

    /// The text on the pane's screen.
    pub fn screen(&mut self) -> String {
        let shown = self.script.call("screen.text", json!({"id": self.pane}));
        let lines = shown.map(|mut shown| shown["lines"].take()).unwrap_or_default();
        let lines = lines.as_array().cloned().unwrap_or_default();
        let lines: Vec<_> =
            lines.iter().filter_map(|line| Some(line.as_str()?.trim_end())).collect();
        lines.join("\n").trim().to_owned()
    }

    /// Waits until the pane shows a prompt. The wait is limited.
    pub fn waits_for_prompt(&mut self) {
        let wait = json!({"id": self.pane, "any": [{"prompt": true}], "timeout_ms": PROMPT_MS});
        let _ = self.script.call("session.watch", wait);
    }

    /// Runs a command once.
    pub fn tries(&mut self, caller: Caller, command: &str) -> Result<RunResult> {
        match caller {
            Caller::Tool => self.by_tool(command),
            Caller::Method => Ok(run_wait(&mut self.script, self.pane, command)),
            Caller::CommandLine => self.by_command_line(command),
        }
    }

    fn by_tool(&mut self, command: &str) -> Result<RunResult> {
        let run =
            json!({"pane": self.pane, "command": command, "raw": true, "timeout_ms": MOST_MS});
        let result = self.agent.request("tools/call", json!({"name": "run", "arguments": run}))?;
        if result["isError"] == true {
            let why = result["content"][0]["text"].as_str().unwrap_or_default();
            return Ok(refused(why));
        }
        let ran = &result["structuredContent"];
        if ran["ended"] != true {
            return Ok(RunResult::Stuck(format!("it goes on: {ran}")));
        }
        if ran.get("reason").is_some() {
            return Ok(RunResult::Stuck(format!("its end is unknown: {ran}")));
        }
        let output = ran["output"].as_str().unwrap_or_default().to_owned();
        Ok(RunResult::Ended(output, ran["exit_code"].as_i64()))
    }

    fn by_command_line(&mut self, command: &str) -> Result<RunResult> {
        let output = Command::new(binary("unterm-cli"))
            .args([
                "--json",
                "run",
                "--id",
                &self.pane.to_string(),
                "--timeout",
                &(MOST_MS / 1000).to_string(),
            ])
            .arg(command)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.unterm.home())
            .env("UNTERM_HOME", self.unterm.registry())
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .context("starting unterm-cli run")?;
        Ok(match serde_json::from_slice(&output.stdout) {
            Ok(ran) => ended(&ran),
            Err(error) => match refused(&String::from_utf8_lossy(&output.stderr)) {
                RunResult::Stuck(why) => {
                    RunResult::Stuck(format!("unterm-cli: {why}: {error}: {output:?}"))
                }
                came => came,
            },
        })
    }

    /// Follows the advice of a refusal. `attempt` is the number of earlier refusals of the command.
    pub fn follows(&mut self, advice: &str, attempt: usize) -> Result<()> {
        let has = |word: &str| advice.to_lowercase().contains(word);
        // At the first refusal, a caller only waits.
        if attempt > 0 {
            if has("until they enter it") || has("the user") && !has("ctrl+c") {
                self.types("\x03")?;
            } else if has("ctrl+c") {
                self.script.call("session.input", json!({"id": self.pane, "input": "\x03"}))?;
            } else if has("input") {
                self.script.call("session.input", json!({"id": self.pane, "input": "\r"}))?;
            }
        }
        self.waits_for_prompt();
        Ok(())
    }
}

fn refused(why: &str) -> RunResult {
    match why.contains("Nothing was typed") {
        true => RunResult::Refused(why.trim().to_owned()),
        false => RunResult::Stuck(why.trim().to_owned()),
    }
}

/// Runs a command by `exec.run_wait`.
pub fn run_wait(script: &mut Wire, pane: u64, command: &str) -> RunResult {
    let run = json!({"id": pane, "command": command, "timeout_ms": MOST_MS});
    match script.call("exec.run_wait", run) {
        Err(error) => refused(&format!("{error:#}")),
        Ok(ran) => ended(&ran),
    }
}

/// The result in the reply of `exec.run_wait`.
fn ended(ran: &Value) -> RunResult {
    if ran["timed_out"] == true {
        return RunResult::Stuck(format!("timed out: {ran}"));
    }
    if ran.get("reason").is_some() {
        return RunResult::Stuck(format!("its end is unknown: {ran}"));
    }
    let output = ran["output"].as_str().unwrap_or_default().to_owned();
    RunResult::Ended(output, ran["exit_code"].as_i64())
}

/// The time between two keys of the user.
pub const BETWEEN_KEYS: Duration = Duration::from_millis(15);

/// A result as text, shortened.
pub fn summary(came: &RunResult) -> String {
    let text = match came {
        RunResult::Ended(output, code) => format!("{code:?} {output:?}"),
        RunResult::Refused(why) => format!("refused: {why}"),
        RunResult::Stuck(why) => why.clone(),
    };
    text.chars().take(600).collect()
}
