//! Commands in hostile shells. A pane goes through random sequences of actions that users perform in their shells.
//! Every command must nevertheless return its output and exit code, or be refused with advice that works.
//!
//! Owns the sequences and the count of their results. The seed, the shell and a number determine a sequence, so that a
//! failure can be repeated.

mod driven_pane;
mod user_actions;

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
    thread,
};

use anyhow::Result;

use self::{
    driven_pane::{BETWEEN_KEYS, Caller, DrivenPane, RunResult, run_wait, summary},
    user_actions::{COMMANDS, Code, KEYS, NESTED, QUERIES},
};
use super::{Shell, fill};
use crate::{Instance, fuzz::Random};

/// The number of steps in one sequence. Afterward the pane is replaced.
const STEPS: u64 = 30;
/// How often a caller follows the advice of a refusal before it gives up.
const ATTEMPTS: usize = 5;
/// The number of callers that run a command in one pane at the same time.
const CALLERS: usize = 3;

/// A kind of shell in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the shells say it")]
pub enum ShellKind {
    Bash,
    Zsh,
    Fish,
    Posix,
}

/// The results of many commands in hostile shells.
#[derive(Default)]
pub struct Tally {
    /// The number of commands with the expected output and exit code.
    pub right: usize,
    /// The number of commands that were refused at first, and for each reason how often it occurred.
    pub advised: (usize, BTreeMap<String, usize>),
    /// Descriptions of commands with another output or exit code.
    pub wrong: Vec<String>,
    /// Descriptions of commands that did not end, or that were refused despite everything the caller tried.
    pub stuck: Vec<String>,
}

impl Tally {
    /// The number of all commands.
    pub fn commands(&self) -> usize {
        self.right + self.advised.0 + self.wrong.len() + self.stuck.len()
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wrong, stuck) = (self.wrong.len(), self.stuck.len());
        writeln!(
            f,
            "{} right, {} refused with advice that worked, {wrong} wrong, {stuck} stuck",
            self.right, self.advised.0
        )?;
        for (why, count) in &self.advised.1 {
            writeln!(f, "  {count:4}  {why}")?;
        }
        self.wrong
            .iter()
            .map(|it| ("wrong", it))
            .chain(self.stuck.iter().map(|it| ("stuck", it)))
            .try_for_each(|(what, it)| writeln!(f, "{what}: {it}"))
    }
}

/// Plays sequences from number `first` on until `commands` commands have run.
///
/// # Errors
///
/// If the instance or a shell can't be driven at all.
pub fn run(
    unterm: &Instance,
    shell: Shell,
    seed: u64,
    first: u64,
    commands: usize,
) -> Result<Tally> {
    let mut driven = DrivenPane::new(unterm, shell)?;
    let mut tally = Tally::default();
    for number in first.. {
        if tally.commands() >= commands {
            break;
        }
        driven.reopen()?;
        let random = Random::new(seed ^ (number << 16) ^ ((shell as u64 + 1) << 8));
        let mut sequence = Sequence::new(&mut driven, &mut tally, shell, seed, number, random);
        for _ in 0..STEPS {
            if !sequence.step()? {
                break;
            }
        }
    }
    Ok(tally)
}

/// A shell in a pane.
#[derive(Clone, Copy, Debug)]
struct NestedShell {
    kind: ShellKind,
    /// Whether the shell prints the commands that it runs (`set -x`).
    traces: bool,
    /// Whether the shell is usable with the key bindings of vi. In `fish --no-config`, `fish_vi_key_bindings` removes
    /// all bindings (fish 3.6), so that no key has an effect, not even Enter and Ctrl+C.
    has_vi_keys: bool,
}

/// A command with its expected result.
struct ExpectedCommand {
    text: String,
    output: Option<String>,
    code: Code,
}

/// The sequence of actions in one pane.
struct Sequence<'a, 'u> {
    driven: &'a mut DrivenPane<'u>,
    tally: &'a mut Tally,
    random: Random,
    name: String,
    /// The shells in the pane, the innermost last.
    levels: Vec<NestedShell>,
    /// Descriptions of the actions so far.
    done: Vec<String>,
    /// The number of commands so far. It makes the text of each command unique.
    number: u64,
}

impl<'a, 'u> Sequence<'a, 'u> {
    fn new(
        driven: &'a mut DrivenPane<'u>,
        tally: &'a mut Tally,
        shell: Shell,
        seed: u64,
        number: u64,
        mut random: Random,
    ) -> Self {
        let kind = match shell {
            Shell::Bash => ShellKind::Bash,
            Shell::Zsh => ShellKind::Zsh,
            Shell::Fish => ShellKind::Fish,
        };
        let name = format!("--seed {seed} --first {number} ({})", shell.name());
        random.next();
        let levels = vec![NestedShell { kind, traces: false, has_vi_keys: true }];
        Self { driven, tally, random, name, levels, done: Vec::new(), number: number * 1000 }
    }

    /// Performs one step, and runs a command after it. Returns false if the pane can no longer be used.
    fn step(&mut self) -> Result<bool> {
        match self.random.below(12) {
            0..4 => self.sets()?,
            4..6 => self.presses()?,
            6 => self.nests()?,
            7 => self.asks()?,
            8 => return self.runs_in_parallel(),
            9 => return self.runs_while_the_user_types(),
            _ => {}
        }
        if self.random.one_in(3) {
            self.driven.waits_for_prompt();
        }
        self.runs()
    }

    fn level(&self) -> NestedShell {
        *self.levels.last().expect("a pane has a shell")
    }

    fn note(&mut self, what: String) {
        self.done.push(what);
    }

    /// Changes a setting of the innermost shell. Either the user types it, or a caller runs it.
    fn sets(&mut self) -> Result<()> {
        let line = self.random.pick(self.level().kind.settings());
        if line == "fish_vi_key_bindings" && !self.level().has_vi_keys {
            return Ok(());
        }
        let line = fill(line, self.number, &mut self.random);
        self.note(format!("types {line:?}"));
        self.types_line(&line)?;
        let traces = match line.as_str() {
            "set -x" | "setopt XTRACE" => Some(true),
            "set +x" | "unsetopt XTRACE" => Some(false),
            _ => None,
        };
        if let (Some(traces), Some(level)) = (traces, self.levels.last_mut()) {
            level.traces = traces;
        }
        Ok(())
    }

    /// The user cancels the line that they began, and enters another line.
    fn types_line(&mut self, line: &str) -> Result<()> {
        self.driven.types("\x03")?;
        // Keys typed directly after Ctrl+C may be lost.
        self.driven.waits_for_silence();
        self.driven.types(&format!("{line}\r"))
    }

    fn presses(&mut self) -> Result<()> {
        let (name, keys) = self.random.pick(KEYS);
        self.note(format!("presses {name}"));
        self.driven.types(keys)
    }

    fn nests(&mut self) -> Result<()> {
        if self.levels.len() > 1 && self.random.one_in(2) {
            self.levels.pop();
            self.note("leaves".to_owned());
            return self.types_line("exit");
        }
        let (command, kind) = self.random.pick(NESTED);
        self.note(format!("starts {command}"));
        let level =
            NestedShell { kind, traces: false, has_vi_keys: !command.contains("--no-config") };
        match command.starts_with("exec ") {
            true => *self.levels.last_mut().expect("a shell") = level,
            false => self.levels.push(level),
        }
        self.types_line(command)
    }

    /// A program sends a query to the terminal, and ends before it reads the reply.
    fn asks(&mut self) -> Result<()> {
        let query = self.random.pick(QUERIES);
        self.note(format!("runs {query}"));
        let _ = self.driven.tries(Caller::Method, query)?;
        Ok(())
    }

    fn given(&mut self) -> ExpectedCommand {
        self.number += 1;
        let (text, output, code) = self.random.pick(COMMANDS);
        let filled = |text: &str| text.replace("@N", &self.number.to_string());
        ExpectedCommand { text: filled(text), output: output.map(filled), code }
    }

    fn caller(&mut self) -> Caller {
        self.random.pick(&[
            Caller::Tool,
            Caller::Tool,
            Caller::Method,
            Caller::Method,
            Caller::CommandLine,
        ])
    }

    fn runs(&mut self) -> Result<bool> {
        let given = self.given();
        let caller = self.caller();
        let came = self.driven.tries(caller, &given.text)?;
        self.settle(caller, &given, came)
    }

    /// Follows the advice of refusals, and counts the result. Returns false if the result is not the expected one.
    fn settle(&mut self, caller: Caller, given: &ExpectedCommand, came: RunResult) -> Result<bool> {
        self.note(format!("{caller:?} runs {:?}", given.text));
        let mut came = came;
        let mut refusals = Vec::new();
        while let RunResult::Refused(why) = &came {
            if refusals.len() == ATTEMPTS {
                break;
            }
            refusals.push(why.clone());
            self.driven.follows(why, refusals.len() - 1)?;
            came = self.driven.tries(caller, &given.text)?;
        }
        if let RunResult::Stuck(why) | RunResult::Refused(why) = &came
            && (why.contains("has ended") || why.contains("ended before"))
            && self.done.iter().any(|done| done == "leaves")
        {
            // The user has left the last shell.
            return Ok(false);
        }
        let is_right = match &came {
            RunResult::Ended(output, code) => self.is_right(given, output, *code),
            _ => false,
        };
        if is_right && refusals.is_empty() {
            self.tally.right += 1;
        } else if is_right {
            self.tally.advised.0 += 1;
            for why in &refusals {
                *self.tally.advised.1.entry(kind_of(why)).or_default() += 1;
            }
        } else {
            let screen = self.driven.screen();
            let expected = format!("{:?} {:?}", given.code, given.output);
            let refused = refusals
                .first()
                .map_or_else(String::new, |why| format!("\n  first refused: {why}"));
            let text = format!(
                "{}\n  steps: {}\n  expected: {expected}\n  came to:  {}{refused}\n  screen:\n{}",
                self.name,
                self.done.join("; "),
                summary(&came),
                screen.lines().map(|line| format!("    {line}\n")).collect::<String>(),
            );
            match came {
                RunResult::Ended(..) => self.tally.wrong.push(text),
                _ => self.tally.stuck.push(text),
            }
        }
        Ok(is_right)
    }

    fn is_right(&self, given: &ExpectedCommand, output: &str, code: Option<i64>) -> bool {
        let code_is_right = match given.code {
            Code::Is(expected) => code == Some(expected),
            Code::IsNot(other) => code.is_some_and(|code| code != other),
        };
        // Lines that the shell traces for the command are part of its output. Lines that it traces for Unterm's own
        // functions are not.
        let is_trace = |line: &str| line.starts_with('+') || line.starts_with("trace: ");
        let (traced, rest): (Vec<&str>, Vec<&str>) =
            output.split('\n').partition(|line| self.level().traces && is_trace(line));
        let is_clean = !traced.iter().any(|line| line.to_lowercase().contains("_unterm"));
        let right = given.output.as_ref().is_none_or(|expected| rest.join("\n") == *expected);
        code_is_right && is_clean && right
    }

    /// Several callers run a command in the pane at the same time. Each gets its own result or is refused.
    fn runs_in_parallel(&mut self) -> Result<bool> {
        let all: Vec<_> = (0..CALLERS).map(|_| self.given()).collect();
        self.note(format!("{CALLERS} callers at once"));
        let mut others = Vec::new();
        for _ in 0..CALLERS {
            others.push(self.driven.other()?);
        }
        let came = thread::scope(|scope| {
            let running: Vec<_> = others
                .iter_mut()
                .zip(&all)
                .map(|((wire, pane), given)| {
                    scope.spawn(move || run_wait(wire, *pane, &given.text))
                })
                .collect();
            running.into_iter().map(|it| it.join()).collect::<Vec<_>>()
        });
        let mut is_right = true;
        for (given, came) in all.iter().zip(came) {
            let came = came.unwrap_or_else(|_| RunResult::Stuck("the caller panicked".to_owned()));
            is_right &= self.settle(Caller::Method, given, came)?;
        }
        Ok(is_right)
    }

    /// The user types while a command runs. The echo of the keys is not part of the command's output.
    fn runs_while_the_user_types(&mut self) -> Result<bool> {
        let keys = self.random.pick(&["abc", "ls\r", "q", "\x1b[A", "echo later\r"]);
        let mut given = self.given();
        given.text = format!("sleep .2; {}", given.text);
        if given.output.is_none() {
            (given.text, given.output, given.code) = (
                format!("sleep .2; echo {}", self.number),
                Some(self.number.to_string()),
                Code::Is(0),
            );
        }
        self.note(format!("the user types {keys:?} meanwhile"));
        let (mut wire, pane) = self.driven.other()?;
        let came = thread::scope(|scope| {
            let running = scope.spawn(|| run_wait(&mut wire, pane, &given.text));
            for key in keys.chars() {
                // Wait between keys, because a user types slowly.
                thread::sleep(BETWEEN_KEYS);
                self.driven.types(&key.to_string())?;
            }
            let came = running.join();
            anyhow::Ok(came.unwrap_or_else(|_| RunResult::Stuck("the caller panicked".to_owned())))
        })?;
        self.settle(Caller::Method, &given, came)
    }
}

/// The reason of a refusal without its numbers and names.
fn kind_of(why: &str) -> String {
    let mut kind = String::new();
    let mut is_quoted = false;
    for char in why.chars() {
        match char {
            '“' => is_quoted = true,
            '”' => is_quoted = false,
            '0'..='9' => {}
            char if !is_quoted => kind.push(char),
            _ => {}
        }
    }
    kind.chars().take(160).collect()
}
