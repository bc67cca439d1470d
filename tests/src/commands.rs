//! Shell commands generated from a seed. Each runs in a live pane and in a subprocess of the same shell, and the
//! results are compared.
//!
//! Owns the generator, the agent tools that drive the pane, and the comparison. `src/bin/commands.rs` is the driver.
//! `tests/agents/commands.rs` runs a small fixed number of commands in every CI run.

mod compare;
mod grammar;
pub mod hostile;
mod screen_model;

use std::{
    collections::BTreeMap,
    io::{Read as _, Seek as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::{Instance, Relay, fuzz::Random};
use compare::{Verdict, compare};
use grammar::Reader;

/// A shell for which commands are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the shells say it")]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// All shells.
    pub const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Fish];

    /// The shell's program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}

/// A command, and the input that it reads.
#[derive(Debug)]
pub struct GeneratedCommand {
    /// The command to run.
    pub text: String,
    /// The prompt that the command shows when it reads input. `None` if it reads no input.
    question: Option<String>,
    /// The input typed at each prompt.
    typed: String,
    /// The command that a subprocess runs instead.
    reference: String,
}

impl GeneratedCommand {
    /// Whether the command prompts a second time.
    fn is_asked_twice(&self) -> bool {
        self.text.matches("; f").count() == 2
    }
}

/// The result of a command.
#[derive(Debug)]
struct CommandResult {
    output: String,
    exit_code: Option<i64>,
}

/// Generates the command with this number. The same seed always generates the same command.
pub fn generate(shell: Shell, seed: u64, number: u64) -> GeneratedCommand {
    let mut random = Random::new(seed ^ (number << 8) ^ shell as u64);
    // Skip one number, so that the first numbers of similar seeds differ.
    random.next();
    let (groups, background, readers) = match shell {
        Shell::Bash => (grammar::POSIX, grammar::BACKGROUND, grammar::BASH_READERS),
        Shell::Zsh => (grammar::POSIX, grammar::BACKGROUND, grammar::ZSH_READERS),
        Shell::Fish => (grammar::FISH, grammar::FISH_BACKGROUND, grammar::FISH_READERS),
    };
    let row = match random.below(groups.len() + 3) {
        0 => random.pick(grammar::DRAWN),
        1 => random.pick(background),
        2 => return reads(&mut random, number, random_reader(readers, number)),
        group => random.pick(groups[group - 3]),
    };
    let text = fill(row, number, &mut random);
    GeneratedCommand { reference: text.clone(), text, question: None, typed: String::new() }
}

/// Cycles through the readers, so that a few commands are enough to use every reader.
fn random_reader(readers: &[Reader], number: u64) -> Reader {
    readers[number as usize % readers.len()]
}

fn reads(random: &mut Random, number: u64, reader: Reader) -> GeneratedCommand {
    let text = fill(reader.command, number, random);
    let reference = match reader.reference {
        "" => text.clone(),
        reference => fill(reference, number, random),
    };
    GeneratedCommand {
        question: Some(fill(reader.question, number, random)),
        typed: fill(reader.typed, number, random),
        text,
        reference,
    }
}

/// Replaces each `@` and the letter after it in a row.
fn fill(row: &str, number: u64, random: &mut Random) -> String {
    let mut text = String::new();
    let mut chars = row.chars();
    while let Some(char) = chars.next() {
        if char != '@' {
            text.push(char);
            continue;
        }
        match chars.next() {
            Some('N') => text += &number.to_string(),
            Some('n') => text += &(1 + random.below(9)).to_string(),
            Some('k') => text += &(10 + random.below(50)).to_string(),
            Some('K') => text += &(500 + random.below(2500)).to_string(),
            Some('x') => text += &random.below(256).to_string(),
            Some(letter) => match grammar::part(letter) {
                Some(rows) => {
                    let row = random.pick(rows);
                    text += &fill(row, number, random);
                }
                None => text.push(letter),
            },
            None => {}
        }
    }
    text
}

/// The result of a command in a subprocess with the same home but without a terminal.
fn expected(shell: Shell, given: &GeneratedCommand, home: &Path) -> Result<CommandResult> {
    let mut output = tempfile::tempfile()?;
    let mut input = tempfile::tempfile()?;
    let mut typed = String::new();
    for char in given.typed.chars() {
        match char {
            '\u{7f}' => drop(typed.pop()),
            char => typed.push(char),
        }
    }
    // The command may prompt twice.
    input.write_all(typed.repeat(2).as_bytes())?;
    input.rewind()?;
    let mut command = Command::new(shell.name());
    if shell == Shell::Fish {
        command.arg("--no-config");
    }
    let status = command
        .args(["-c", &given.reference])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .current_dir(home)
        .stdin(input)
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .status()
        .with_context(|| format!("starting {}", shell.name()))?;
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    let mut bytes = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut bytes)?;
    Ok(CommandResult {
        output: String::from_utf8_lossy(&bytes).into_owned(),
        exit_code: code.map(i64::from),
    })
}

/// The maximum number of waits for one command, of a few seconds each. It only ends commands that hang.
const MOST_WAITS: usize = 12;

/// A shell's pane that an agent drives.
struct DrivenPane<'a> {
    agent: &'a mut Relay,
    shell: Shell,
    /// The folder where commands run.
    home: &'a Path,
    pane: u64,
}

impl<'a> DrivenPane<'a> {
    fn open(agent: &'a mut Relay, shell: Shell, home: &'a Path) -> Result<Self> {
        let mut driven = Self { agent, shell, home, pane: 0 };
        driven.reopen()?;
        Ok(driven)
    }

    fn reopen(&mut self) -> Result<()> {
        let opened =
            json!({"command": [self.shell.name()], "cwd": self.home, "cols": 80, "rows": 24});
        let opened = self.agent.call("pane_open", opened)?;
        self.pane = opened["pane"].as_u64().context("pane_open gave no pane")?;
        if self.shell == Shell::Zsh {
            // Set zsh's default, because the tests' settings may change this option.
            let setopt = json!({"pane": self.pane, "command": "setopt PROMPT_SP"});
            self.agent.call("run", setopt)?;
        }
        Ok(())
    }

    /// The result of a command in the pane. If the tools fail, the error contains their answer.
    fn run(&mut self, given: &GeneratedCommand) -> Result<CommandResult> {
        let pane = self.pane;
        let timeout_ms = if given.question.is_some() { 3000 } else { 20_000 };
        let how = json!({"raw": true, "max_chars": 200_000, "timeout_ms": timeout_ms});
        let with = |more: Value| {
            let mut all = how.clone();
            let more = more.as_object().cloned().unwrap_or_default();
            all.as_object_mut().expect("an object").extend(more);
            all
        };
        let command = with(json!({"pane": pane, "command": given.text}));
        let mut ran = self.agent.call("run", command)?;
        let questions = match given.question {
            None => 0,
            Some(_) if given.is_asked_twice() => 2,
            Some(_) => 1,
        };
        let mut answered = 0;
        for _ in 0..MOST_WAITS {
            if ran["ended"] == true {
                break;
            }
            // A background job may write after the prompt, so the last line may not be a prompt.
            let asks = ran["awaiting_input"] == true || ran["reads_input"] == true;
            ensure!(ran["awaiting_input"] != true || questions > 0, "it asks: {ran}");
            // A command that was answered may not have read the answer yet.
            if asks && answered < questions {
                answered += 1;
                self.agent.call("input", json!({"pane": pane, "text": given.typed}))?;
            }
            let handle = with(json!({"handle": ran["handle"]}));
            ran = self.agent.call("wait", handle)?["run"].take();
        }
        ensure!(ran["ended"] == true, "it goes on: {ran}");
        ensure!(ran.get("reason").is_none(), "its end is unknown: {ran}");
        let output = ran["output"].as_str().context("no output")?.to_owned();
        Ok(CommandResult { output, exit_code: ran["exit_code"].as_i64() })
    }
}

/// The results of many commands.
#[derive(Default)]
pub struct Tally {
    /// The number of commands with identical output and exit code.
    pub same: usize,
    /// The number of commands that needed an explanation, and for each explanation the number of its uses.
    pub explained: (usize, BTreeMap<&'static str, usize>),
    /// Descriptions of unexplained differences.
    pub differences: Vec<String>,
}

/// Runs the commands `numbers` of a seed in a pane of an instance, and in subprocesses.
///
/// # Errors
///
/// If the instance or a shell can't be driven at all.
pub fn run(
    unterm: &Instance,
    shell: Shell,
    seed: u64,
    numbers: std::ops::Range<u64>,
) -> Result<Tally> {
    let mut agent = Relay::start(unterm.home(), unterm.registry(), &[])?;
    let mut driven = DrivenPane::open(&mut agent, shell, unterm.home())?;
    let mut tally = Tally::default();
    let mut last = None;
    for number in numbers {
        let given = generate(shell, seed, number);
        let expected = expected(shell, &given, unterm.home())?;
        let found = match driven.run(&given) {
            Ok(found) => found,
            Err(why) => {
                let difference = format!("{} {number}: {:?}\n  {why:#}", shell.name(), given.text);
                tally.differences.push(difference);
                driven.reopen()?;
                continue;
            }
        };
        let verdict = compare(shell, &given, &expected, &found, last);
        last = found.exit_code;
        match verdict {
            Verdict::Same => tally.same += 1,
            Verdict::Explained(reasons) => {
                tally.explained.0 += 1;
                for why in reasons {
                    *tally.explained.1.entry(why).or_default() += 1;
                }
            }
            Verdict::Differs => tally.differences.push(format!(
                "{} {number}: {:?}\n  a subprocess: {}\n  the pane:     {}",
                shell.name(),
                given.text,
                summary(&expected),
                summary(&found),
            )),
        }
    }
    Ok(tally)
}

/// An outcome on one line, truncated.
fn summary(outcome: &CommandResult) -> String {
    let output = format!("{:?}", outcome.output);
    let cut: String = output.chars().take(400).collect();
    format!("{:?} {cut}", outcome.exit_code)
}
