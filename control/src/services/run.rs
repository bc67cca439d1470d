//! Running a command in a pane's shell and waiting for its end.

use std::{io::Write, path::PathBuf, sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};
use unterm_mux::{ExitStatus, Pane, PaneState, TAP_CAPACITY, TapDirection, TapItem, WriteError};
use unterm_term::LineId;

use super::{
    output::{Capture, Framing},
    shell::{Marks, Shell},
    wait,
};
use crate::error::{Error, Result};

/// How the wait for a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has ended.
    Completed,
    /// It still ran when the time was over; it was left running.
    TimedOut,
    /// Somebody typed Ctrl+C and the shell is back at its prompt: it gave up the whole line, mark and all.
    Interrupted,
}

/// Who said what the exit code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitSource {
    /// The shell's integration, at the end of the command's block (OSC 133 D with the pane's nonce).
    Block,
    /// The mark that was typed behind the command.
    Marker,
    /// The command ended the shell itself, and the system told how.
    Process,
}

impl ExitSource {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Marker => "marker",
            Self::Process => "process",
        }
    }
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// What it printed.
    pub output: String,
    /// Its exit code, where the shell told.
    pub exit_code: Option<i32>,
    /// Who told, if somebody did.
    pub exit_source: Option<ExitSource>,
    /// How the wait for it ended.
    pub ending: Ending,
    /// The beginning of its output is missing, since there was too much of it.
    pub truncated: bool,
    /// The mark that the shell printed, or will print, behind its output.
    pub marker: String,
    /// The command, as the terminal counts them, where the shell's integration marks it.
    pub block: Option<u64>,
}

/// Output of at least so many bytes is made into text outside of the workers, which have other connections to serve.
const INLINE: usize = 64 << 10;

/// Ctrl+C, as a terminal is told of it.
const INTERRUPT: u8 = 0x03;

/// Types `command` into the pane's shell and waits until it has ended, for as long as `timeout`. Waits for output only:
/// nothing is polled, and any number of commands may be waited for.
pub async fn run(pane: &Arc<Pane>, command: &str, timeout: Duration) -> Result<Outcome> {
    let id = pane.id().0;
    if pane.state() != PaneState::Running {
        return Err(ended(pane));
    }
    let deadline = wait::deadline(Instant::now(), timeout);
    let marks = Marks::new().map_err(|error| Error::Panicked(error.to_string()))?;
    let shell = Shell::of_pane(pane).unwrap_or(Shell::Posix);
    let mut script = Script::of(pane, command);
    let sourced = script.as_ref().map(Script::command);
    let command = sourced.as_deref().unwrap_or(command);
    if pane.nonce().is_some() {
        wait_for_prompt(pane, deadline.min(Instant::now() + START)).await;
    }
    let size = pane.term().size();
    let mut tap = pane.tap();
    let mut changes = pane.watch();
    let block = Block::begin(pane, shell, command).map_err(|error| Error::Write { id, error })?;
    let mut capture = Capture::new(match &block {
        Some(block) => Framing::Block { nonce: block.nonce.clone(), line: block.line.clone() },
        None => Framing::Marker(marks.clone()),
    });
    if block.is_none() {
        // An editor (readline, zle) has turned the echo off and takes lines of any length.
        let cooked = pane.process().echo().unwrap_or(false);
        let typed = format!("{}\r", shell.wrap(command, &marks, cooked));
        pane.write(typed.as_bytes()).map_err(|error| Error::Write { id, error })?;
    }
    // The terminal's `seq` after the bytes that came by the tap, and as it was told to waiters.
    let (mut seen, mut told) = (0, 0);
    // What was in the tap since it was last empty, in bytes.
    let mut backlog = 0;
    let mut cancelled_at = None;
    let (ending, exit_code, end) = 'wait: loop {
        let ready = tap.try_next();
        // The tap has bytes before waiters are told of them. Told without bytes for us, after the tap was rather full:
        // we were too slow for it, and the end may have been in what we missed. The terminal knows of it still.
        if ready.is_none() && told > seen {
            if backlog > TAP_CAPACITY / 2 {
                let found = match &block {
                    Some(block) => block.find_end(pane),
                    None => find_on_screen(pane, &marks.end()),
                };
                if let Some(code) = found {
                    capture.gap();
                    break (Ending::Completed, code, None);
                }
            }
            seen = told;
        }
        let was_empty = ready.is_none();
        let next = async {
            if ready.is_some() {
                return ready;
            }
            tokio::select! {
                item = tap.next() => Some(item.unwrap_or(TapItem::End)),
                Ok(()) = changes.changed() => None,
            }
        };
        let item = match timeout_at(deadline, next).await {
            Err(_) => break (Ending::TimedOut, None, None),
            Ok(Some(item)) => item,
            Ok(None) => {
                told = *changes.borrow_and_update();
                continue;
            }
        };
        if was_empty {
            backlog = 0;
        }
        match item {
            TapItem::Bytes { seq, direction: TapDirection::Output, bytes, .. } => {
                seen = seq;
                backlog += bytes.len();
                capture.push(&bytes);
                while let Some(end) = capture.end() {
                    if block.as_ref().is_none_or(|block| block.is_end(pane, &capture)) {
                        break 'wait (Ending::Completed, end.exit_code, Some(end));
                    }
                }
                let Some(at) = cancelled_at else { continue };
                let is_given_up = match &block {
                    // Its end is told when it had begun.
                    Some(_) => !capture.has_begun() && capture.has_prompt_behind(at),
                    None => is_at_prompt(pane, shell),
                };
                if is_given_up {
                    break (Ending::Interrupted, None, None);
                }
            }
            TapItem::Bytes { bytes, .. } => {
                if (block.is_some() || capture.has_begun()) && bytes.contains(&INTERRUPT) {
                    cancelled_at.get_or_insert(capture.len());
                }
            }
            TapItem::Gap { .. } => capture.gap(),
            TapItem::End => match end_of_program(pane) {
                Some(ExitStatus::Code(code)) if capture.has_begun() => {
                    break (Ending::Completed, Some(code), None);
                }
                _ => return Err(ended(pane)),
            },
        }
    };
    if let Some(script) = &mut script {
        script.is_read = capture.has_begun();
    }
    let exit_source = match (&end, &block) {
        _ if ending != Ending::Completed || exit_code.is_none() => None,
        (None, _) if pane.state() != PaneState::Running => Some(ExitSource::Process),
        (_, Some(_)) => Some(ExitSource::Block),
        (_, None) => Some(ExitSource::Marker),
    };
    let truncated = capture.is_cut();
    let mut output = if capture.len() < INLINE {
        capture.text(end.as_ref(), size)
    } else {
        let text = tokio::task::spawn_blocking(move || capture.text(end.as_ref(), size));
        text.await.map_err(|error| Error::Panicked(error.to_string()))?
    };
    if ending == Ending::Interrupted {
        // What follows the echo of Ctrl+C is the prompt.
        output.truncate(output.rfind("^C").unwrap_or(output.len()));
    }
    if exit_source == Some(ExitSource::Process) && shell == Shell::Bash {
        // What bash itself says when it goes.
        for farewell in ["exit", "logout"] {
            if let Some(rest) = output.strip_suffix(farewell)
                && (rest.is_empty() || rest.ends_with('\n'))
            {
                output.truncate(rest.trim_end_matches('\n').len());
            }
        }
    }
    let block = block.map(|block| block.id);
    Ok(Outcome { output, exit_code, exit_source, ending, truncated, marker: marks.end(), block })
}

/// A command of a shell whose integration marks where it begins and ends.
struct Block {
    /// What was typed, without Enter.
    line: String,
    /// What the marks carry.
    nonce: Arc<str>,
    /// The command, as the terminal counts them.
    id: u64,
    /// The shell.
    shell: Option<i32>,
}

impl Block {
    /// Types a command at a pane's prompt; `None`: there is none that a shell of the pane's marked, and nothing is typed.
    fn begin(
        pane: &Pane,
        shell: Shell,
        command: &str,
    ) -> std::result::Result<Option<Self>, WriteError> {
        let (Some(nonce), Some(line)) = (pane.nonce().cloned(), shell.line(command)) else {
            return Ok(None);
        };
        let shell = pane.foreground().map(|foreground| foreground.pid);
        let Some(id) = pane.term().commands().next_back().map(|last| last.id) else {
            return Ok(None);
        };
        let is_typed = pane.write_at_prompt(format!("{line}\r").as_bytes())?;
        Ok(is_typed.then_some(Self { line, nonce, id, shell }))
    }

    /// Whether the end of a block is that of the command, and not of one in a shell that the command runs.
    fn is_end(&self, pane: &Pane, capture: &Capture) -> bool {
        !capture.is_nested()
            || pane.foreground().is_none_or(|foreground| Some(foreground.pid) == self.shell)
    }

    /// The exit code of the command, once it has ended, from what the terminal keeps.
    fn find_end(&self, pane: &Pane) -> Option<Option<i32>> {
        let term = pane.term();
        match term.command(self.id) {
            Some(command) => (command.end_seq != 0).then_some(command.exit_code),
            // Its prompt has scrolled out of the history: a later one says that it is over.
            None => term.commands().any(|later| later.id > self.id).then_some(None),
        }
    }
}

/// How long a shell may take to its first prompt before it is taken for one without integration.
const START: Duration = Duration::from_secs(2);
/// A longer command is not typed, in bytes: editors of lines are slow with such, and those that colour them very.
const LONG: usize = 8 << 10;

/// Waits for a prompt that is about to come: the first of a shell that has only just started, or the one behind a command
/// that has just ended.
pub async fn wait_for_prompt(pane: &Pane, deadline: Instant) {
    let mut changes = pane.watch();
    loop {
        changes.borrow_and_update();
        let (is_due, is_silent) = {
            let term = pane.term();
            let last = term.commands().next_back();
            let is_due = last.is_none_or(|last| !last.is_prompting() && !last.is_running());
            (is_due, last.is_none() && term.cursor().col > 0)
        };
        // An editor that reads a line behind a prompt without marks has no integration.
        if !is_due || is_silent && pane.process().echo() == Some(false) {
            return;
        }
        if !matches!(timeout_at(deadline, changes.changed()).await, Ok(Ok(()))) {
            return;
        }
    }
}

/// A long command in a file of its own, which only its owner reads; it is gone once the shell has it.
struct Script {
    path: PathBuf,
    /// The shell has opened it.
    is_read: bool,
}

impl Script {
    /// For a command that is too long to be typed, where the shell in the pane's foreground is one of this machine that
    /// can read it.
    fn of(pane: &Pane, command: &str) -> Option<Self> {
        if command.len() <= LONG {
            return None;
        }
        let shell = Shell::of_process(&pane.foreground()?.name)?;
        if !matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish | Shell::Posix) {
            return None;
        }
        let name = format!("unterm-run-{}", unterm_mux::random::hex().ok()?);
        let path = std::env::temp_dir().join(name);
        let write = || {
            let mut file = unterm_mux::private::create_file(&path)?;
            file.write_all(command.as_bytes())?;
            file.write_all(b"\n")
        };
        if let Err(error) = write() {
            tracing::debug!(%error, "a long command is typed, since it can't be written to a file");
            let _ = std::fs::remove_file(&path);
            return None;
        }
        Some(Self { path, is_read: false })
    }

    /// The command that reads it.
    fn command(&self) -> String {
        format!(". '{}'", self.path.display())
    }
}

impl Drop for Script {
    /// One that the shell has not come to yet is left for it.
    fn drop(&mut self) {
        if self.is_read {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether the pane's own shell reads a line. Only to be asked when it was just interrupted: a shell that runs one of
/// its own commands, without an editor of lines, looks the same.
fn is_at_prompt(pane: &Pane, shell: Shell) -> bool {
    let has_editor = shell != Shell::Posix;
    pane.foreground().is_some_and(|foreground| foreground.is_root)
        && (!has_editor || pane.process().echo() == Some(false))
}

/// The exit code behind a mark on the live screen, if the mark is there.
fn find_on_screen(pane: &Pane, mark: &str) -> Option<Option<i32>> {
    let term = pane.term();
    let top = term.live_top().0;
    let mut text = String::new();
    // From the bottom: it is the last thing printed but the prompt.
    for row in (0..u64::from(term.size().rows)).rev() {
        text.clear();
        term.row_text(LineId(top + row), &mut text);
        if let Some(at) = text.find(mark) {
            return Some(text[at + mark.len()..].trim().parse().ok());
        }
    }
    None
}

fn end_of_program(pane: &Pane) -> Option<ExitStatus> {
    match pane.state() {
        PaneState::Exited(status) => Some(status),
        PaneState::Running | PaneState::Removed => pane.process().exit_status(),
    }
}

fn ended(pane: &Pane) -> Error {
    Error::Ended { id: pane.id().0, status: end_of_program(pane) }
}
