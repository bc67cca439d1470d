//! Runs a command in a pane's shell and waits for its end.

mod begin;
mod block;
mod follow;
mod outcome;
mod trace;
mod turns;

use std::{
    io::Write,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, timeout_at};
use unterm_mux::{ExitStatus, Pane, PaneState, TapDirection, TapItem};
use unterm_term::LineId;

use self::{
    begin::{Begun, Command, OuterCommand, is_prompting},
    follow::{Effect, Event, Finish, Follow, Look, Reported, Sight, Silence},
    trace::without_traces,
};
use super::{
    kind::{Marks, Shell},
    plain_prompt,
    question_line::line_to_cursor,
};
use crate::error::{Error, Result};

pub use self::{
    begin::{Typist, wait_for_prompt, wait_until_settled},
    outcome::{Ending, ExitSource, RunOutcome},
    turns::RunTurns,
};

/// The name of the running command in errors, if another caller holds the pane's turn.
pub const OTHERS: &str = "another caller's command";

/// Output of at least this size, in bytes, is converted to text on a blocking thread instead of an async worker.
const INLINE: usize = 64 << 10;

/// Types `command` into the pane's shell and waits until the command ends or `deadline` passes. The caller must hold
/// the pane's turn ([`RunTurns`]). Waits for events and never polls, so any number of commands can run at once, each in
/// its own pane.
///
/// `is_careful`: refuses unless a shell or ssh waits for a command. Otherwise, the command is typed ahead, as
/// `exec.run_wait` documents.
///
/// # Errors
/// - The typist may not type, the prompt is not empty, or (if careful) another program would read the command. In these
///   cases, nothing was typed.
/// - The program ends meanwhile, or does not accept input.
pub async fn run(
    pane: &Arc<Pane>,
    command: &str,
    deadline: Instant,
    is_careful: bool,
    typist: &dyn Typist,
) -> Result<RunOutcome> {
    if pane.state() != PaneState::Running {
        return Err(Error::Over { id: pane.id().0, status: end_of_program(pane) });
    }
    let marks = Marks::new().map_err(|error| Error::Panicked(error.to_string()))?;
    let mut script = Script::of(command);
    let from_file = script.as_ref().map(Script::command);
    let command = Command { given: command, from_file, marks: &marks };
    if pane.nonce().is_some() {
        begin::wait_for_start(pane, deadline).await;
    }
    let size = pane.term().size();
    let until = deadline.min(Instant::now() + begin::START);
    let mut changes = pane.watch();
    let begun = begin::begin(pane, &command, is_careful, until, deadline, typist).await;
    if let (Err(_), Some(script)) = (&begun, &mut script) {
        // The shell will never read the script.
        script.is_read = true;
    }
    let Begun { mut tap, block, around, mut occupied, shell, leader, is_from_file } = begun?;
    let mut follow = Follow::new(match &block {
        Some(block) => Reported::Block { nonce: block.nonce.clone(), line: block.line.clone() },
        None => Reported::Marker {
            marks: marks.clone(),
            is_around: around.is_some(),
            nonce: pane.nonce().cloned(),
        },
    });
    let is_known = AtomicBool::new(false);
    let is_new_shell = || {
        let is_new = !is_known.load(Ordering::Relaxed)
            && leader.is_some_and(|shell| plain_prompt::is_new_shell(pane, shell));
        let goes_on = is_new && typist.goes_on_in_new_shell();
        is_known.fetch_or(goes_on, Ordering::Relaxed);
        is_new && !goes_on
    };
    let look = |look| match (look, &block) {
        (Look::Leader, Some(block)) => Sight::Leader(block.may_lead(pane)),
        (Look::Leader, None) => Sight::Leader(true),
        (Look::Prompt, _) => Sight::Prompt(is_at_prompt(pane, shell)),
        (Look::Kept, Some(block)) => Sight::Kept(block.find_end(pane)),
        (Look::Kept, None) => Sight::Kept(find_on_screen(pane, &marks.end())),
        (Look::Around, _) => Sight::Around(around.and_then(|around| end_around(pane, around))),
        (Look::Silence, _) if is_new_shell() => {
            Sight::Silence(Some(Silence { is_new_shell: true, ..Silence::default() }))
        }
        (Look::Silence, None) => match around.and_then(|around| end_around(pane, around)) {
            // A program in between may have dropped the end mark.
            Some(exit_code) if is_prompting(pane) => Sight::Around(Some(exit_code)),
            // The outer shell marks no commands.
            _ if leader.is_some_and(|shell| is_back_in_outer(pane, shell)) => {
                Sight::Around(Some(None))
            }
            _ => Sight::Silence(None),
        },
        (Look::Silence, Some(block)) => Sight::Silence(block.silence(pane)),
        (Look::NewShell, _) => Sight::NewShell(is_new_shell()),
    };
    let mut last_output = Instant::now();
    let mut effect = Effect::Poll;
    loop {
        // During a flood of output, this loop never waits. It yields here, so that the worker can serve other calls.
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
            TapItem::Bytes { bytes, is_echoed, .. } => {
                Event::Input { bytes, is_echoed: *is_echoed }
            }
            TapItem::Gap { .. } => Event::Gap,
            TapItem::End => Event::Exited(end_of_program(pane)),
        });
    }
    if let Some(script) = &mut script {
        script.is_read = !is_from_file || follow.has_begun();
    }
    let finish = follow.into_finish();
    if let (Some(occupied), true) = (&mut occupied, finish.exit_code.is_some()) {
        occupied.has_ended = true;
    }
    let Finish { ending, exit_code, exit_source, is_interrupted, end, capture } = finish;
    let is_dropped = capture.is_cut();
    let is_shell_over = leader.is_some_and(|shell| !pane.process().has_group(shell))
        || block.is_none() && exit_source == Some(ExitSource::Block);
    let shown = if capture.len() < INLINE {
        capture.shown(end.as_ref(), size)
    } else {
        let shown = tokio::task::spawn_blocking(move || capture.shown(end.as_ref(), size));
        shown.await.map_err(|error| Error::Panicked(error.to_string()))?
    };
    let truncated = is_dropped || shown.is_cut;
    let mut output = without_traces(shown.text, command.given, &marks);
    match ending {
        // Only the prompt follows the echo of Ctrl+C.
        Ending::Interrupted => output.truncate(output.rfind("^C").unwrap_or(output.len())),
        // The cursor's line is the shell's prompt. No mark separates it from the output.
        Ending::Lost(_) | Ending::NewShell => {
            let prompt = line_to_cursor(&pane.term());
            let prompt = prompt.trim_end();
            if !prompt.is_empty() && output.trim_end().ends_with(prompt) {
                output.truncate(output.trim_end().len() - prompt.len());
                output.truncate(output.trim_end_matches('\n').len());
            }
        }
        Ending::Completed | Ending::TimedOut => {}
    }
    if (is_shell_over || exit_source == Some(ExitSource::Process))
        && matches!(shell, Shell::Bash | Shell::Unknown)
    {
        // Bash prints one of these words when it exits.
        for farewell in ["exit", "logout"] {
            if let Some(rest) = output.strip_suffix(farewell)
                && (rest.is_empty() || rest.ends_with('\n'))
            {
                output.truncate(rest.trim_end_matches('\n').len());
            }
        }
    }
    Ok(RunOutcome {
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

/// After this much silence, Unterm checks whether the shell is back at its prompt without having reported the command's
/// end. If the shell had another line to run, it would begin sooner.
const QUIET: Duration = Duration::from_secs(2);

/// Commands longer than this, in bytes, are not typed, because line editors are slow with long lines, above all editors
/// that color them.
const LONG: usize = 8 << 10;

/// A file that contains a long command, for a shell on this machine. Only its owner can read it. It is removed once the
/// shell has read it.
struct Script {
    path: PathBuf,
    /// Whether the shell has read the file, or certainly never will.
    is_read: bool,
}

impl Script {
    /// Writes the file if the command is too long to type.
    fn of(command: &str) -> Option<Self> {
        if command.len() <= LONG {
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
    /// Removes the file, unless the shell may still read it.
    fn drop(&mut self) {
        if self.is_read {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether the pane's own shell reads a line. Use this only right after an interrupt: a shell without a line editor
/// looks alike while it runs a builtin.
fn is_at_prompt(pane: &Pane, shell: Shell) -> bool {
    let has_editor = Shell::reading_commands(pane).unwrap_or(shell) != Shell::Posix;
    pane.foreground().is_some_and(|foreground| foreground.is_root)
        && (!has_editor || pane.process().echo() == Some(false))
}

/// If the command `around`, inside which the shell ran, has ended: the shell's exit code, if it is known. `None` if a
/// later command has begun, because that may be the typed command, which the shell had not read before.
fn end_around(pane: &Pane, around: OuterCommand) -> Option<Option<i32>> {
    let term = pane.term();
    let mut later = term.commands().rev().take_while(|later| later.id > around.id);
    if later.any(|later| later.output_seq != 0) {
        return None;
    }
    let ended = term.command(around.id).filter(|command| command.end_seq != 0)?;
    Some(ended.exit_code.filter(|_| around.has_status))
}

/// Whether a shell's process is gone and the outer shell, which started it, is at its prompt.
fn is_back_in_outer(pane: &Pane, shell: i32) -> bool {
    let is_other = pane.foreground().is_some_and(|front| front.pid != shell);
    is_other && !pane.process().has_group(shell) && plain_prompt::shows_prompt(pane)
}

/// The exit code after a mark on the live screen. `None` if the screen does not show the mark.
fn find_on_screen(pane: &Pane, mark: &str) -> Option<Option<i32>> {
    let term = pane.term();
    let top = term.live_top().0;
    let mut text = String::new();
    // The search starts at the bottom, because only the prompt is printed after the mark.
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
