//! Running a command in a pane's shell and waiting for its end.

mod begin;

use std::{io::Write, path::PathBuf, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};
use unterm_mux::{ExitStatus, Pane, PaneState, TAP_CAPACITY, TapDirection, TapItem};
use unterm_term::{LineId, Modes};

use super::{
    output::{Capture, Framing},
    shell::{Marks, Shell},
    wait,
};
use crate::error::{Error, Result};

use begin::Begun;

pub use begin::wait_for_prompt;

/// How the wait for a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has ended.
    Completed,
    /// It still ran when the time was over; it was left running.
    TimedOut,
    /// Somebody typed Ctrl+C and the shell is back at its prompt: it gave up the whole line, mark and all.
    Interrupted,
    /// The shell waits for a line again, and nobody will tell of the end.
    Lost(Lost),
}

/// Why nobody tells of a command's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// What was typed became part of another line.
    OtherLine,
    /// The shell that would have reported it has been replaced, or reported nothing.
    NotTold,
}

impl Lost {
    /// In words, for whoever began the command.
    pub fn reason(self) -> &'static str {
        match self {
            Self::OtherLine => {
                "The shell ran another line than the command, and is back at its prompt: see the screen"
            }
            Self::NotTold => {
                "The shell waits for a line again without having reported the command's end: another program replaced it (exec), or its integration was removed"
            }
        }
    }
}

/// Who said what the exit code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ExitSource {
    /// The shell's integration, at the end of the command's block (OSC 133 D with the pane's nonce).
    Block,
    /// The mark that was typed behind the command.
    Marker,
    /// The command ended the shell itself, and the system told how.
    Process,
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
    /// Ctrl+C was typed while it ran, and ended it.
    pub interrupted: bool,
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

/// The exit code of a command that SIGINT ended: 128 and the signal's number.
const ENDED_BY_SIGINT: i32 = 130;

/// For whom a command is typed.
pub trait Typist: Sync {
    /// Whether it may be typed now: asked right before, since what it waited for took its time.
    ///
    /// # Errors
    /// Why it may not; it is not typed then.
    fn admit(&self) -> Result<()>;
    /// It was typed, with these marks.
    fn typed(&self, marks: &Marks);
}

/// Types `command` into the pane's shell and waits until it has ended, for as long as `timeout`. Waits for output only:
/// nothing is polled, and any number of commands may be waited for. `is_careful`: a shell that marks its prompts has to wait
/// at one; otherwise the command is typed ahead where something runs, as documented of `exec.run_wait`.
///
/// # Errors
/// Nothing was typed where the typist may not, where a line was begun at the prompt, or, if that matters, where something else
/// would read it. The program may end meanwhile, or not take input.
pub async fn run(
    pane: &Arc<Pane>,
    command: &str,
    timeout: Duration,
    is_careful: bool,
    typist: &dyn Typist,
) -> Result<Outcome> {
    if pane.state() != PaneState::Running {
        return Err(ended(pane));
    }
    let deadline = wait::deadline(Instant::now(), timeout);
    let marks = Marks::new().map_err(|error| Error::Panicked(error.to_string()))?;
    let shell = Shell::of_pane(pane).unwrap_or(Shell::Posix);
    let mut script = Script::of(pane, command);
    let sourced = script.as_ref().map(Script::command);
    let command = (command, sourced.as_deref().unwrap_or(command));
    if pane.nonce().is_some() {
        begin::wait_for_start(pane, deadline).await;
    }
    let size = pane.term().size();
    let until = deadline.min(Instant::now() + begin::START);
    let mut changes = pane.watch();
    let begun = begin::begin(pane, shell, command, &marks, is_careful, until, typist).await;
    if let (Err(_), Some(script)) = (&begun, &mut script) {
        // Nobody comes to it.
        script.is_read = true;
    }
    let Begun { mut tap, block, around } = begun?;
    let mut capture = Capture::new(match &block {
        Some(block) => Framing::Block { nonce: block.nonce.clone(), line: block.line.clone() },
        None => Framing::Marker(marks.clone()),
    });
    let mut is_shell_over = false;
    // The terminal's `seq` after the bytes that came by the tap, and as it was told to waiters.
    let (mut seen, mut told) = (0, 0);
    // Waiters were told since the tap was last empty: the terminal may know something new.
    let mut is_news = false;
    // What was in the tap since it was last empty, in bytes.
    let mut backlog = 0;
    let mut cancelled_at = None;
    // When to look whether the shell is back without a word, if nothing comes until then.
    let mut look_at = None;
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
        if ready.is_none()
            && std::mem::take(&mut is_news)
            && capture.has_begun()
            && let Some(code) = around.and_then(|around| end_around(pane, around))
        {
            is_shell_over = true;
            let end = pane.nonce().and_then(|nonce| capture.outer_end(nonce));
            break (Ending::Completed, code, end);
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
        let until = look_at.map_or(deadline, |at: Instant| at.min(deadline));
        let item = match timeout_at(until, next).await {
            Err(_) if until < deadline => {
                look_at = None;
                match block.as_ref().and_then(|block| block.find_lost(pane, &capture)) {
                    Some((ending, exit_code)) => break (ending, exit_code, None),
                    None => continue,
                }
            }
            Err(_) => break (Ending::TimedOut, None, None),
            Ok(Some(item)) => item,
            Ok(None) => {
                told = *changes.borrow_and_update();
                is_news = true;
                continue;
            }
        };
        if was_empty {
            backlog = 0;
        }
        match item {
            TapItem::Bytes { seq, direction: TapDirection::Output, bytes, .. } => {
                seen = seq;
                look_at = block.is_some().then(|| Instant::now() + QUIET);
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
        _ if is_shell_over => Some(ExitSource::Block),
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
    if (is_shell_over || exit_source == Some(ExitSource::Process)) && shell == Shell::Bash {
        // What bash itself says when it goes.
        for farewell in ["exit", "logout"] {
            if let Some(rest) = output.strip_suffix(farewell)
                && (rest.is_empty() || rest.ends_with('\n'))
            {
                output.truncate(rest.trim_end_matches('\n').len());
            }
        }
    }
    let is_ended_by_it = cancelled_at.is_some() && exit_code == Some(ENDED_BY_SIGINT);
    Ok(Outcome {
        output,
        exit_code,
        exit_source,
        ending,
        interrupted: ending == Ending::Interrupted || is_ended_by_it,
        truncated,
        marker: marks.end(),
        block: block.map(|block| block.id),
    })
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
    /// Whether the end of a block is that of the command, and not of one in a shell that the command runs.
    fn is_end(&self, pane: &Pane, capture: &Capture) -> bool {
        !capture.is_nested()
            || pane.foreground().is_none_or(|foreground| Some(foreground.pid) == self.shell)
    }

    /// How it ended, where the shell is back and no end of the command has come: with an exit code if the terminal knows of one.
    fn find_lost(&self, pane: &Pane, capture: &Capture) -> Option<(Ending, Option<i32>)> {
        let leader = pane.foreground().map(|foreground| foreground.pid);
        let edits = pane.process().echo() == Some(false) && !pane.process().reads_secret();
        // The foreground of a shell inside the command is that shell's.
        if leader.is_none() || leader != self.shell || !edits {
            return None;
        }
        let is_replaced = pane.is_shell_replaced() != Some(false);
        let term = pane.term();
        let own = term.command(self.id);
        let exit_code = own.and_then(|own| own.exit_code);
        let last = term.commands().next_back();
        let has_prompt = last.is_some_and(|last| last.id > self.id && last.is_prompting());
        // Without marks its editor gives it away: it asks that pastes be marked while it reads a line, and only then. A shell
        // that nothing replaced reads a line for the command (`read -e`, `vared`).
        let has_editor = term.modes().contains(Modes::BRACKETED_PASTE);
        let is_back = has_prompt || has_editor && capture.has_begun() && is_replaced;
        let has_run = own.is_none_or(|own| own.output_seq != 0);
        match (is_back, capture.has_begun()) {
            (true, true) if exit_code.is_some() => Some((Ending::Completed, exit_code)),
            (true, true) => Some((Ending::Lost(Lost::NotTold), None)),
            (true, false) if has_run => Some((Ending::Lost(Lost::OtherLine), None)),
            _ => None,
        }
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

/// How long nothing comes before a shell is looked at that may be back at a prompt without having told of the end of a
/// command: one that has another line to run begins it sooner.
const QUIET: Duration = Duration::from_secs(2);

/// A longer command is not typed, in bytes: editors of lines are slow with such, and those that colour them very.
const LONG: usize = 8 << 10;

/// A long command in a file of its own, which only its owner reads; it is gone once the shell has it.
struct Script {
    path: PathBuf,
    /// The shell has opened it, or never will.
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

/// The command that runs in a pane now, as the terminal counts them, where a shell marks such.
fn running(pane: &Pane) -> Option<u64> {
    let term = pane.term();
    term.commands().next_back().filter(|last| last.is_running()).map(|last| last.id)
}

/// The exit code of a command that another ran within, once it is over. One that has begun since may be that other one, which
/// its shell was not there to read before.
fn end_around(pane: &Pane, around: u64) -> Option<Option<i32>> {
    let term = pane.term();
    let mut later = term.commands().rev().take_while(|later| later.id > around);
    if later.any(|later| later.output_seq != 0) {
        return None;
    }
    let around = term.command(around)?;
    (around.end_seq != 0).then_some(around.exit_code)
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

#[cfg(test)]
mod tests;
