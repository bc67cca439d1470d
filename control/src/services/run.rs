//! Running a command in a pane's shell and waiting for its end.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};
use unterm_mux::{ExitStatus, Pane, PaneState, TAP_CAPACITY, TapDirection, TapItem};
use unterm_term::LineId;

use super::{
    output::Capture,
    shell::{Marks, Shell},
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

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// What it printed.
    pub output: String,
    /// Its exit code, where the shell told.
    pub exit_code: Option<i32>,
    /// How the wait for it ended.
    pub ending: Ending,
    /// The beginning of its output is missing, since there was too much of it.
    pub truncated: bool,
    /// The mark that the shell printed, or will print, behind its output.
    pub marker: String,
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
    // A time past the end of the clock is never reached.
    let now = Instant::now();
    let deadline =
        now.checked_add(timeout).unwrap_or(now + Duration::from_secs(60 * 60 * 24 * 365));
    let marks = Marks::new().map_err(|error| Error::Panicked(error.to_string()))?;
    let shell = Shell::of_pane(pane).unwrap_or(Shell::Posix);
    // An editor (readline, zle) has turned the echo off and takes lines of any length.
    let cooked = pane.process().echo().unwrap_or(false);
    let typed = format!("{}\r", shell.wrap(command, &marks, cooked));

    let size = pane.term().size();
    let mut capture = Capture::new(&marks);
    let mut tap = pane.tap();
    let mut changes = pane.watch();
    pane.write(typed.as_bytes()).map_err(|error| Error::Write { id, error })?;
    // The terminal's `seq` after the bytes that came by the tap, and as it was told to waiters.
    let (mut seen, mut told) = (0, 0);
    // What was in the tap since it was last empty, in bytes.
    let mut backlog = 0;
    let mut is_cancelled = false;
    let (ending, exit_code, end) = loop {
        let ready = tap.try_next();
        // The tap has bytes before waiters are told of them. Told without bytes for us, after the tap was rather full:
        // we were too slow for it, and the end mark may have been in what we missed. It is still on the screen then.
        if ready.is_none() && told > seen {
            if backlog > TAP_CAPACITY / 2
                && let Some(code) = find_on_screen(pane, &marks.end())
            {
                capture.gap();
                break (Ending::Completed, code, None);
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
                if let Some(end) = capture.push(&bytes) {
                    break (Ending::Completed, end.exit_code, Some(end));
                }
                if is_cancelled && is_at_prompt(pane, shell) {
                    break (Ending::Interrupted, None, None);
                }
            }
            TapItem::Bytes { bytes, .. } => {
                is_cancelled |= capture.has_begun() && bytes.contains(&INTERRUPT);
            }
            TapItem::Gap { .. } => capture.gap(),
            TapItem::End => return Err(ended(pane)),
        }
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
    Ok(Outcome { output, exit_code, ending, truncated, marker: marks.end() })
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

fn ended(pane: &Pane) -> Error {
    let status: Option<ExitStatus> = match pane.state() {
        PaneState::Exited(status) => Some(status),
        PaneState::Running | PaneState::Removed => pane.process().exit_status(),
    };
    Error::Ended { id: pane.id().0, status }
}
