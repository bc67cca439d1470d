//! Typing a command into a pane's shell, where and when it may be.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};
use unterm_mux::{AtPrompt, Foreground, Pane, Tap, is_carrier};

use super::block::Block;
use crate::{
    error::{Error, Result},
    services::shell::{Marks, Shell},
};

/// How long a shell may take to its first prompt before it is taken for one without integration.
pub(super) const START: Duration = Duration::from_secs(2);
/// The most that a shell may take which can be seen to work: which does not read its terminal.
const WORKING: Duration = Duration::from_secs(30);
/// A prompt that has not changed for so long is drawn.
const SETTLED: Duration = Duration::from_millis(200);
/// A command whose output has been waited for has ended, and its shell is at a prompt again, after so long.
const ENDING: Duration = Duration::from_millis(500);
/// What runs as far as anybody knows, while a shell has not begun what was entered.
const ENTERED: &str = "what was entered at its prompt";

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

/// A command that was typed.
pub(super) struct Begun {
    /// What passes through the pane from then on.
    pub(super) tap: Tap,
    /// The command, where the shell's integration marks it.
    pub(super) block: Option<Block>,
    /// Else the command that the shell ran as, as the terminal counts them, if another one marks such: once it is over that
    /// shell is gone, and the mark with it. Read before anything was typed, since a fast shell is gone right behind that.
    pub(super) around: Option<u64>,
}

/// What kept a command from being typed at a prompt.
enum Attempt {
    /// A line stands there already.
    Line { line: String, by_person: bool },
    /// The shell is not at a prompt. `what` runs in it, if that is known, and `is_working` if it is not waiting for input.
    Elsewhere { what: Option<String>, is_working: bool },
}

/// How long a failed attempt waits for a change of the terminal, after which it is made again.
#[derive(Debug, PartialEq, Eq)]
enum Patience {
    /// Until what changes at a prompt has been drawn.
    Settled,
    /// Until a command that is ending has ended.
    Ending,
    /// Until a shell that works has come to its prompt.
    Starting,
    /// Until the prompt comes that is about to come.
    Prompt,
}

impl Attempt {
    /// How long to wait before the next attempt, and the refusal if nothing changes until then.
    fn failed(self, id: u64) -> (Patience, Error) {
        match self {
            // A prompt that is just being drawn may look like a line.
            Self::Line { line, by_person } => {
                (Patience::Settled, Error::begun(id, &line, by_person))
            }
            // It may be about to end: then the shell works, and no other program is in front.
            Self::Elsewhere { what: Some(what), is_working: true } => {
                (Patience::Starting, Error::busy(id, &what))
            }
            Self::Elsewhere { what: Some(what), is_working: false } => {
                (Patience::Ending, Error::busy(id, &what))
            }
            // A line that was entered has yet to begin to run, or the prompt behind it has to come.
            Self::Elsewhere { what: None, .. } => (Patience::Prompt, Error::busy(id, ENTERED)),
        }
    }
}

/// Types a command, which is shown as the one that was `given`. `is_careful` as in `run`; `until`: how long a prompt may take
/// that is about to come.
pub(super) async fn begin(
    pane: &Arc<Pane>,
    shell: Shell,
    (given, command): (&str, &str),
    marks: &Marks,
    is_careful: bool,
    until: Instant,
    typist: &dyn Typist,
) -> Result<Begun> {
    let id = pane.id().0;
    let write_error = |error| Error::Write { id, error };
    // An editor (readline, zle) has turned the echo off and takes lines of any length.
    let wrapped = || {
        let cooked = pane.process().echo().unwrap_or(false);
        format!("{}\r", shell.wrap(command, marks, cooked))
    };
    let own = pane.nonce().cloned().zip(shell.line(command));
    let begun_at = Instant::now();
    let mut changes = pane.watch();
    while (is_careful || own.is_some()) && pane.term().commands().next_back().is_some() {
        changes.borrow_and_update();
        typist.admit()?;
        let tap = pane.tap();
        let leader = pane.foreground().map(|foreground| foreground.pid);
        let typed = own.as_ref().map_or_else(wrapped, |(_, line)| format!("{line}\r"));
        let attempt = match pane.write_at_prompt(typed.as_bytes()).map_err(write_error)? {
            AtPrompt::Typed(id) => {
                typist.typed(marks);
                pane.term().give_command(id, typed.trim_end(), given);
                let block = own.map(|(nonce, line)| Block { line, nonce, id, shell: leader });
                return Ok(Begun { tap, block, around: None });
            }
            AtPrompt::Begun(line) => {
                Attempt::Line { line, by_person: pane.persons_line().is_some() }
            }
            AtPrompt::Elsewhere if !is_careful => break,
            AtPrompt::Elsewhere => {
                let what = under_way(pane);
                Attempt::Elsewhere { is_working: what.is_some() && is_working(pane), what }
            }
        };
        let (patience, refusal) = attempt.failed(id);
        let patience = match patience {
            Patience::Settled => Instant::now() + SETTLED,
            Patience::Ending => begun_at + ENDING,
            Patience::Starting => begun_at + START,
            Patience::Prompt => until,
        };
        let patience = patience.min(until);
        if !matches!(timeout_at(patience, changes.changed()).await, Ok(Ok(()))) {
            return Err(refusal);
        }
    }
    if is_careful && let Some(what) = reader(pane) {
        return Err(Error::busy(id, &what));
    }
    typist.admit()?;
    let tap = pane.tap();
    let around = running(pane);
    pane.write(wrapped().as_bytes()).map_err(write_error)?;
    typist.typed(marks);
    Ok(Begun { tap, block: None, around })
}

/// The command that runs in a pane now, as the terminal counts them, where a shell marks such.
pub(super) fn running(pane: &Pane) -> Option<u64> {
    let term = pane.term();
    term.commands().next_back().filter(|last| last.is_running()).map(|last| last.id)
}

/// What has the pane's terminal, where its shell marks commands: one that has begun and not ended, whatever it does with it.
fn under_way(pane: &Pane) -> Option<String> {
    let line = {
        let term = pane.term();
        let last = term.commands().next_back().filter(|last| last.is_running())?;
        last.shown().map(|line| line.trim().to_owned())
    };
    let name = || pane.foreground().map(|process| process.name);
    Some(line.or_else(name).unwrap_or_else(|| "a command".to_owned()))
}

/// What runs in a pane whose shell marks nothing, and would read what is typed there. What the pane was opened for is no
/// shell's command.
fn reader(pane: &Pane) -> Option<String> {
    let Foreground { name, is_root, .. } = pane.foreground()?;
    let is_shell = Shell::of_process(&name).is_some() || is_carrier(&name);
    (!is_root && !is_shell).then_some(name)
}

/// Whether a shell is in the foreground that does not read its terminal: it reads its start-up files, or is on its way from a
/// command to the next prompt. On a busy machine both take long.
fn is_working(pane: &Pane) -> bool {
    pane.foreground().is_some_and(|process| Shell::of_process(&process.name).is_some())
        && pane.process().awaits_input() == Some(false)
}

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
        // An editor that reads a line behind a prompt without marks has no integration, and some shells can have none.
        let is_plain = || Shell::of_pane(pane) == Some(Shell::Posix);
        if !is_due || is_silent && (pane.process().echo() == Some(false) || is_plain()) {
            return;
        }
        if !matches!(timeout_at(deadline, changes.changed()).await, Ok(Ok(()))) {
            return;
        }
    }
}

/// The same for as long as a shell may take to its first prompt: longer where it can be seen to work.
pub(super) async fn wait_for_start(pane: &Pane, deadline: Instant) {
    let longest = deadline.min(Instant::now() + WORKING);
    loop {
        let until = longest.min(Instant::now() + START);
        wait_for_prompt(pane, until).await;
        let is_late = Instant::now() >= until && pane.term().commands().next_back().is_none();
        if until == longest || !is_late || !is_working(pane) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_is_waited_for_longest_and_a_line_shortest() {
        let failed = |attempt: Attempt| {
            let (patience, refusal) = attempt.failed(7);
            (patience, refusal.to_string())
        };
        let (patience, why) = failed(Attempt::Line { line: "ls -l".to_owned(), by_person: true });
        assert_eq!(patience, Patience::Settled);
        assert!(
            why.contains("a person is typing a line at the prompt of session 7: “ls -l”"),
            "{why}"
        );
        let (_, why) = failed(Attempt::Line { line: "ls -l".to_owned(), by_person: false });
        assert!(why.contains("an unfinished line"), "{why}");
        let busy = |what: Option<&str>, is_working| {
            failed(Attempt::Elsewhere { what: what.map(str::to_owned), is_working })
        };
        let (patience, why) = busy(Some("less F"), false);
        assert_eq!(patience, Patience::Ending);
        assert!(why.contains("session 7 runs “less F”"), "{why}");
        assert_eq!(busy(Some("make"), true).0, Patience::Starting);
        let (patience, why) = busy(None, false);
        assert_eq!(patience, Patience::Prompt);
        assert!(why.contains(ENTERED), "{why}");
    }
}
