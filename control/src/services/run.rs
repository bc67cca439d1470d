//! Runs a command in a pane's shell and waits for its end.

mod begin;
mod block;
mod follow;
mod outcome;

use std::{io::Write, path::PathBuf, sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};
use unterm_mux::{ExitStatus, Pane, PaneState, TapDirection, TapItem};
use unterm_term::LineId;

use self::{
    begin::Begun,
    follow::{Effect, Event, Finish, Follow, Look, Reported, Sight},
};
use super::{
    shell::{Marks, Shell},
    wait,
};
use crate::error::{Error, Result};

pub use self::{
    begin::{Typist, wait_for_prompt},
    outcome::{Ending, ExitSource, Outcome},
};

/// Output of this size or more, in bytes, is converted to text off the async workers.
const INLINE: usize = 64 << 10;

/// Types `command` into the pane's shell and waits for its end, at most for `timeout`. Waits for events and never polls, so
/// any number of commands can run at once. If `is_careful`, refuses unless a shell or ssh waits for a command. Otherwise the
/// command is typed ahead, as `exec.run_wait` documents.
///
/// # Errors
/// The typist may not type, the prompt is not empty, or (if careful) another program would read the command. In these cases
/// nothing was typed. Also if the program ends meanwhile or does not accept input.
pub async fn run(
    pane: &Arc<Pane>,
    command: &str,
    timeout: Duration,
    is_careful: bool,
    typist: &dyn Typist,
) -> Result<Outcome> {
    if pane.state() != PaneState::Running {
        return Err(Error::Over { id: pane.id().0, status: end_of_program(pane) });
    }
    let deadline = wait::deadline(Instant::now(), timeout);
    let marks = Marks::new().map_err(|error| Error::Panicked(error.to_string()))?;
    let shell = Shell::of_pane(pane).unwrap_or(Shell::Posix);
    if let Some(needs) = shell.missing(command) {
        return Err(Error::Unfinished(needs));
    }
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
        // The shell will never read it.
        script.is_read = true;
    }
    let Begun { mut tap, block, around, mut occupied } = begun?;
    let mut follow = Follow::new(match &block {
        Some(block) => Reported::Block { nonce: block.nonce.clone(), line: block.line.clone() },
        None => Reported::Marker {
            marks: marks.clone(),
            is_around: around.is_some(),
            nonce: pane.nonce().cloned(),
        },
    });
    let look = |look| match (look, &block) {
        (Look::Leader, Some(block)) => Sight::Leader(block.may_lead(pane)),
        (Look::Leader, None) => Sight::Leader(true),
        (Look::Prompt, _) => Sight::Prompt(is_at_prompt(pane, shell)),
        (Look::Kept, Some(block)) => Sight::Kept(block.find_end(pane)),
        (Look::Kept, None) => Sight::Kept(find_on_screen(pane, &marks.end())),
        (Look::Around, _) => Sight::Around(around.and_then(|around| end_around(pane, around))),
        (Look::Silence, block) => {
            Sight::Silence(block.as_ref().and_then(|block| block.silence(pane)))
        }
    };
    let mut last_output = Instant::now();
    let mut effect = Effect::Poll;
    loop {
        // During a flood this loop never waits, so it yields to other calls on the worker.
        tokio::task::coop::consume_budget().await;
        let item = match effect {
            Effect::Finish => break,
            Effect::Fail => return Err(ended(pane)),
            Effect::Look(at) => {
                effect = follow.step(Event::Seen(look(at)));
                continue;
            }
            Effect::Poll => match tap.try_next() {
                Some(item) => item,
                None => {
                    effect = follow.step(Event::Empty);
                    continue;
                }
            },
            Effect::Wait { for_quiet } => {
                let quiet = for_quiet.then(|| last_output + QUIET).filter(|at| *at < deadline);
                let next = async {
                    tokio::select! {
                        item = tap.next() => Some(item.unwrap_or(TapItem::End)),
                        Ok(()) = changes.changed() => None,
                    }
                };
                match timeout_at(quiet.unwrap_or(deadline), next).await {
                    Ok(Some(item)) => item,
                    other => {
                        effect = follow.step(match other {
                            Ok(_) => Event::Advanced(*changes.borrow_and_update()),
                            Err(_) if quiet.is_some() => Event::Quiet,
                            Err(_) => Event::Deadline,
                        });
                        continue;
                    }
                }
            }
        };
        effect = follow.step(match &item {
            TapItem::Bytes { seq, direction: TapDirection::Output, bytes, .. } => {
                last_output = Instant::now();
                Event::Output { seq: *seq, bytes }
            }
            TapItem::Bytes { bytes, .. } => Event::Input(bytes),
            TapItem::Gap { .. } => Event::Gap,
            TapItem::End => Event::Exited(end_of_program(pane)),
        });
    }
    if let Some(script) = &mut script {
        script.is_read = follow.has_begun();
    }
    let finish = follow.into_finish();
    if let (Some(occupied), true) = (&mut occupied, finish.exit_code.is_some()) {
        occupied.has_ended = true;
    }
    let Finish { ending, exit_code, exit_source, is_interrupted, end, capture } = finish;
    let truncated = capture.is_cut();
    let is_shell_over = block.is_none() && exit_source == Some(ExitSource::Block);
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
        // Bash prints this when it exits.
        for farewell in ["exit", "logout"] {
            if let Some(rest) = output.strip_suffix(farewell)
                && (rest.is_empty() || rest.ends_with('\n'))
            {
                output.truncate(rest.trim_end_matches('\n').len());
            }
        }
    }
    Ok(Outcome {
        output,
        exit_code,
        exit_source,
        ending,
        interrupted: is_interrupted,
        truncated,
        marker: marks.end(),
        block: block.map(|block| block.id),
    })
}

/// After this much silence, checks whether the shell is back at its prompt without having reported the command's end. A shell
/// that has another line to run begins it sooner.
const QUIET: Duration = Duration::from_secs(2);

/// Longer commands, in bytes, are not typed: line editors are slow with long lines, above all those that color them.
const LONG: usize = 8 << 10;

/// A file with a long command. Only its owner can read it, and it is removed once the shell has read it.
struct Script {
    path: PathBuf,
    /// The shell has read the file, or never will.
    is_read: bool,
}

impl Script {
    /// Writes the file if the command is too long to type, and the shell in the foreground runs on this machine and can read
    /// it.
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

    /// The command that reads the file.
    fn command(&self) -> String {
        format!(". '{}'", self.path.display())
    }
}

impl Drop for Script {
    /// Keeps a file that the shell has still to read.
    fn drop(&mut self) {
        if self.is_read {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether the pane's own shell reads a line. Valid only right after an interrupt: a shell without a line editor looks the same
/// while it runs a builtin.
fn is_at_prompt(pane: &Pane, shell: Shell) -> bool {
    let has_editor = shell != Shell::Posix;
    pane.foreground().is_some_and(|foreground| foreground.is_root)
        && (!has_editor || pane.process().echo() == Some(false))
}

/// The exit code of the command `around`, inside which another command was typed, once it has ended. Unknown if a later
/// command has begun: that one may be the typed command, which the shell had not read before.
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
    // From the bottom, because only the prompt is printed after it.
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
