//! Claims about a pane's processes: whether they ask for a secret, ask a question, work, wait or have ended.

use std::time::Duration;

use unterm_mux::{ExitStatus, Pane, PaneState};

use super::{
    claim::{Claim, Need, Source, State},
    terminal::Marks,
};
use crate::services::{
    clock,
    shell::{
        awaited::{Awaited, awaited},
        kind::Activity,
        question_line::{line_to_cursor, question},
        secret,
    },
};

/// The claims about a pane's processes. `marks`: the marks in the pane's terminal.
pub fn of_pane(pane: &Pane, marks: &Marks) -> Vec<Claim> {
    let end = match pane.state() {
        PaneState::Running => None,
        PaneState::Exited(status) => Some(Some(status)),
        PaneState::Removed => Some(pane.process().exit_status()),
    };
    if let Some(status) = end {
        return ended(pane, status).into();
    }
    let asks_secret = secret::is_asked(pane);
    let awaited = awaited(pane);
    let password = asks_secret.then(|| Claim {
        since: changed_at(pane),
        text: line_to_cursor(&pane.term()),
        ..Claim::needs(
            Source::Password,
            Some(Need::Password),
            "the program reads a line that the terminal does not echo, or a field with a label for a secret",
        )
    });
    let asked = (awaited == Some(Awaited::Answer)).then(|| {
        let text = question(&pane.term()).unwrap_or_default();
        Claim {
            message: Some(text.trim().to_owned()),
            since: changed_at(pane),
            text,
            ..Claim::needs(
                Source::Input,
                Some(Need::Question),
                "the program reads its terminal, and its last line looks like a question",
            )
        }
    });
    let front = of_front(pane, marks, awaited.is_some() || asks_secret);
    password.into_iter().chain(asked).chain([front]).collect()
}

/// Whether the shell of a pane is at its prompt: according to its marks or, without marks, because a shell is in the
/// foreground.
pub fn is_at_prompt(pane: &Pane, marks: &Marks) -> bool {
    marks.is_prompting.unwrap_or_else(|| Activity::of(pane).idle)
}

/// The time of the pane's last change.
fn changed_at(pane: &Pane) -> u64 {
    ago(pane.silence())
}

/// The time that was this long ago, in milliseconds since 1970.
fn ago(time: Duration) -> u64 {
    clock().saturating_sub(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// The result of the pane's program, and the claim that counts once the user has seen the result.
fn ended(pane: &Pane, status: Option<ExitStatus>) -> [Claim; 2] {
    let (state, text) = match status {
        Some(ExitStatus::Code(0)) => (State::Done, "exit code 0".to_owned()),
        Some(ExitStatus::Code(code)) => (State::Failed, format!("exit code {code}")),
        Some(ExitStatus::Signal(signal)) => (State::Failed, format!("signal {signal}")),
        Some(ExitStatus::Lost) | None => (State::Failed, "its exit status was lost".to_owned()),
    };
    const RULE: &str = "the pane's program has ended";
    let since = changed_at(pane);
    let idle =
        Claim { since, text: text.clone(), ..Claim::new(Source::Process, State::Idle, RULE) };
    let message = Some(format!("The pane's program has ended: {text}"));
    let result = Claim::new(Source::Process, state, RULE);
    [Claim { message, since, text, is_over: true, ..result }, idle]
}

/// The claim about the program in the foreground.
fn of_front(pane: &Pane, marks: &Marks, waits: bool) -> Claim {
    let since = match marks.is_prompting {
        Some(_) => marks.since,
        None => pane.process().front_age().map_or(0, ago),
    };
    let (state, rule) = match (is_at_prompt(pane, marks), waits) {
        (true, _) => (State::Idle, "the shell is at its prompt"),
        (false, true) => (State::Idle, "the program reads its terminal"),
        (false, false) => (State::Working, "a program runs in the foreground"),
    };
    let text = marks.line.clone().unwrap_or_else(|| Activity::of(pane).process);
    Claim { since, text, ..Claim::new(Source::Process, state, rule) }
}
