//! Waiting for what a pane shows or does. Every wait is woken by events of the pane, and looks again; nothing is polled.

use std::{sync::Arc, time::Duration};

use regex_automata::meta::Regex;
use tokio::time::{Instant, sleep_until};
use unterm_mux::{Pane, PaneState};
use unterm_term::LineId;

use super::{
    events::{CommandEnd, Hub},
    secret,
};

/// What can be waited for. With a `since`, what was there at that `seq` already does not count.
#[derive(Debug)]
pub enum Condition {
    /// A line holds this text.
    Text(String),
    /// A line matches this expression.
    Regex(Box<Regex>),
    /// Nothing has changed for so long.
    Stable(Duration),
    /// The program has ended.
    Exit,
    /// The shell waits for a line.
    Prompt,
    /// A command has ended (shell integration).
    CommandDone,
    /// A bell rang.
    Bell,
    /// The title has changed, to one that holds this text.
    Title(String),
    /// The pane's `seq` is at least this.
    Seq(u64),
    /// The program asks for a secret ([`secret::is_asked`]).
    Secret,
}

/// How a condition came true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The line, by its name for as long as it is kept.
    pub line_id: Option<u64>,
    /// Its text, or the title.
    pub text: Option<String>,
    /// The command's end.
    pub command: Option<CommandEnd>,
}

/// What came of a wait.
#[derive(Debug)]
pub struct Outcome {
    /// What is true of each condition, in their order.
    pub found: Vec<Option<Found>>,
    /// Enough of them are.
    pub matched: bool,
    /// The pane's `seq` at the last look.
    pub seq: u64,
}

/// The most rows looked at after one change; of more, the older ones are passed over.
const MOST_ROWS: u64 = 50_000;
/// When a terminal's settings are looked at after a change of its screen, beside at once: nothing tells when they change,
/// and some programs ask for a password before they turn the echo off.
const LOOKS: [Duration; 2] = [Duration::from_millis(30), Duration::from_millis(300)];
/// Rows above a line that may belong to it, wrapped.
const WRAPPED: u64 = 64;

/// When a wait ends; a time past the end of the clock is never reached.
pub fn deadline(now: Instant, timeout: Duration) -> Instant {
    now.checked_add(timeout).unwrap_or(now + Duration::from_secs(60 * 60 * 24 * 365))
}

/// Waits until any, or all, of the conditions are true; a text or a sign that was seen once counts from then on.
pub async fn wait(
    hub: &Hub,
    pane: &Arc<Pane>,
    conditions: &[Condition],
    all: bool,
    since: Option<u64>,
    timeout: Duration,
) -> Outcome {
    let start = Instant::now();
    let deadline = deadline(start, timeout);
    let mut changes = pane.watch();
    let mut events = hub.watch();
    let mut found: Vec<Option<Found>> = conditions.iter().map(|_| None).collect();
    // What was told before this counts only with a `since`.
    let from = since.unwrap_or_else(|| pane.term().seq());
    let mut looked = None;
    let mut changed_at = start;
    loop {
        events.borrow_and_update();
        changes.borrow_and_update();
        let seq = pane.term().seq();
        if looked.is_some_and(|looked| looked != seq) {
            changed_at = Instant::now();
        }
        let lines = Lines { pane, since: looked.or(since), read: None };
        look(hub, pane, conditions, &mut found, lines, from, since.is_some(), seq);
        looked = Some(seq);
        let now = Instant::now();
        let mut due = deadline;
        for (condition, found) in conditions.iter().zip(&mut found) {
            if let (Condition::Secret, None) = (condition, &found) {
                let looks = LOOKS.into_iter().map(|after| changed_at + after);
                due = looks.filter(|look| *look > now).min().map_or(due, |look| due.min(look));
            }
            if let Condition::Stable(quiet) = condition {
                let until = changed_at.checked_add(*quiet).unwrap_or(deadline);
                *found = (until <= now).then(Found::default);
                due = due.min(if found.is_some() { deadline } else { until });
            }
        }
        let is_true = |found: &Option<Found>| found.is_some();
        let matched = if all { found.iter().all(is_true) } else { found.iter().any(is_true) };
        if matched || now >= deadline {
            return Outcome { found, matched, seq };
        }
        // The end of a pane comes with its last event; a channel that has closed says nothing more.
        tokio::select! {
            Ok(()) = changes.changed() => {}
            Ok(()) = events.changed() => {}
            () = sleep_until(due) => {}
        }
    }
}

/// Tests what is not found yet.
#[allow(clippy::too_many_arguments, reason = "one caller, and each is another thing")]
fn look(
    hub: &Hub,
    pane: &Pane,
    conditions: &[Condition],
    found: &mut [Option<Found>],
    mut lines: Lines<'_>,
    from: u64,
    is_since: bool,
    seq: u64,
) {
    let told = hub.told(pane.id());
    let some = |is_true: bool| is_true.then(Found::default);
    for (condition, found) in conditions.iter().zip(found).filter(|(_, found)| found.is_none()) {
        *found = match condition {
            Condition::Text(text) => lines.find(|line| line.contains(text.as_str())),
            Condition::Regex(regex) => lines.find(|line| regex.is_match(line)),
            Condition::Stable(_) => None,
            Condition::Exit => some(pane.state() != PaneState::Running),
            Condition::Prompt => {
                some((!is_since || told.prompt > from) && is_prompting(pane, told.prompt > 0))
            }
            Condition::CommandDone => (told.command > from)
                .then(|| Found { command: told.command_end, ..Found::default() }),
            Condition::Bell => some(told.bell > from),
            Condition::Title(text) => {
                let title = pane.title();
                let is_new = !is_since || told.title > from;
                (is_new && title.contains(text.as_str()))
                    .then(|| Found { text: Some(title), ..Found::default() })
            }
            Condition::Seq(least) => some(seq >= *least),
            Condition::Secret => some(secret::is_asked(pane)),
        };
    }
}

/// Whether a shell waits for a line in the pane: as its marks say, or, where it never made any, as its editor's terminal
/// settings do.
fn is_prompting(pane: &Pane, has_marks: bool) -> bool {
    let last = pane.term().commands().next_back().map(|last| last.is_prompting());
    match last {
        Some(is_prompting) => is_prompting,
        // Erased, and the next is not there yet.
        None if has_marks => false,
        // Behind a prompt that is there: its marks would have come before it.
        None => {
            pane.term().cursor().col > 0
                && pane.foreground().is_some_and(|foreground| foreground.is_root)
                && pane.process().echo() == Some(false)
        }
    }
}

/// The lines that changed, read when somebody wants them.
struct Lines<'a> {
    pane: &'a Pane,
    /// After this; `None`: the live screen is looked at whole.
    since: Option<u64>,
    read: Option<Vec<(u64, String)>>,
}

impl Lines<'_> {
    fn find(&mut self, is_it: impl Fn(&str) -> bool) -> Option<Found> {
        let lines = self.read.get_or_insert_with(|| changed_lines(self.pane, self.since));
        let (line, text) = lines.iter().find(|(_, text)| is_it(text))?;
        Some(Found { line_id: Some(*line), text: Some(text.clone()), command: None })
    }
}

/// The rows that changed after `since`, or those of the live screen: the first of them and the one behind the last.
pub fn changed_rows(term: &unterm_term::Term, since: Option<u64>) -> (LineId, LineId) {
    let (oldest, top) = (term.oldest().0, term.live_top().0);
    let rows = u64::from(term.size().rows);
    let end = top + rows;
    let Some(since) = since else { return (LineId(top), LineId(end)) };
    let is_new = |line: u64| term.revision(LineId(line)).is_some_and(|revision| revision > since);
    let mut first = end;
    let mut line = end;
    // Rows that left the screen together: between two that changed there may be as many others as a screen has.
    while line > oldest && end - line < MOST_ROWS && (line > top || first - line <= rows) {
        line -= 1;
        if is_new(line) {
            first = line;
        }
    }
    (LineId(first), LineId(end))
}

/// The lines that changed, whole where they are wrapped.
fn changed_lines(pane: &Pane, since: Option<u64>) -> Vec<(u64, String)> {
    let (first, end, mut lines) = {
        let term = pane.term();
        let (mut first, end) = changed_rows(&term, since);
        let oldest = first.0.saturating_sub(WRAPPED).max(term.oldest().0);
        while first.0 > oldest && term.is_wrapped(LineId(first.0 - 1)) {
            first.0 -= 1;
        }
        (first, end, term.lines())
    };
    let mut all: Vec<(u64, String)> = Vec::new();
    let mut goes_on = false;
    for line in first.0..end.0 {
        if !goes_on {
            all.push((line, String::new()));
        }
        let Some((_, text)) = all.last_mut() else { continue };
        lines.row_text(LineId(line), text);
        goes_on = lines.is_wrapped(LineId(line));
    }
    all
}
