//! Waiting for what a pane shows or does. Every wait is woken by events of the pane, and looks again; nothing is polled.

use std::{sync::Arc, time::Duration};

use regex_automata::meta::Regex;
use tokio::time::{Instant, sleep_until, timeout_at};
use unterm_mux::{Pane, PaneState, is_carrier};
use unterm_term::LineId;

use super::awaited::{Awaited, awaited};
use super::{
    events::{CommandEnd, Hub},
    matching::{Budget, Matching, too_long},
    secret,
    shell::Shell,
};
use crate::error::{Error, Result};

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
    /// The program waits for input ([`awaited`]).
    Input,
}

/// What a wait is for.
#[derive(Debug)]
pub struct Sought {
    /// What has to come true.
    pub conditions: Vec<Condition>,
    /// All of them have to, each at some time; else one.
    pub is_all: bool,
    /// What was there at this `seq` already does not count.
    pub since: Option<u64>,
    /// Texts count in prompts and in what was typed at them too, where a shell marks these.
    pub includes_typed: bool,
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
    /// The pane has ended, so that what has not come never comes.
    pub is_over: bool,
    /// The pane's `seq` at the last look.
    pub seq: u64,
}

/// The most rows, and cells, looked at after one change; of more, the older ones are passed over.
const MOST_ROWS: u64 = 50_000;
const MOST_CELLS: u64 = 16 << 20;
/// The most bytes of text matched after one change, for each condition. A cell may hold several.
const MOST_BYTES: u64 = 64 << 20;
/// The longest line that is matched as one, in bytes; a longer one is in parts.
const LONGEST_LINE: usize = 64 << 10;
/// When a program is looked at after a change of its screen, beside at once: nothing tells when it changes the terminal's
/// settings or begins to read, and some ask for a password before they turn the echo off.
const LOOKS: [Duration; 4] =
    [Duration::from_millis(30), SETTLED, Duration::from_secs(1), Duration::from_secs(3)];
/// How long a question stands before its program waits for an answer.
const SETTLED: Duration = Duration::from_millis(300);
/// Rows above a line that may belong to it, wrapped.
const WRAPPED: u64 = 64;

/// How long the first look for texts may take, whatever the deadline.
const LOOK: Duration = Duration::from_secs(1);

/// When a wait ends; a time past the end of the clock is never reached.
pub fn deadline(now: Instant, timeout: Duration) -> Instant {
    now.checked_add(timeout).unwrap_or(now + Duration::from_secs(60 * 60 * 24 * 365))
}

/// Waits until any, or all, of the conditions are true; a text or a sign that was seen once counts from then on. Ends early
/// where the pane has ended and enough of them can't come any more.
///
/// # Errors
/// A regular expression takes too long, or only the marks of a shell could tell what is waited for, and there are none.
pub async fn wait(
    hub: &Hub,
    matching: &Matching,
    pane: &Arc<Pane>,
    sought: Sought,
    timeout: Duration,
) -> Result<Outcome> {
    let Sought { conditions, is_all, since, includes_typed } = sought;
    let conditions: Arc<[Condition]> = conditions.into();
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
        // Before the look: the end of a pane comes behind the last of its output.
        let has_ended = pane.state() != PaneState::Running;
        let seq = pane.term().seq();
        if looked.is_some_and(|looked| looked != seq) {
            changed_at = Instant::now();
        }
        if looked != Some(seq) {
            let since = looked.or(since);
            let look =
                look_for_text(matching, pane, &conditions, &mut found, since, includes_typed);
            // Others' patterns may keep it from its turn past the deadline. A wait without time still looks once.
            if let Ok(looked) = timeout_at(deadline.max(start + LOOK), look).await {
                looked?;
            }
        }
        look(hub, pane, &conditions, &mut found, from, since.is_some(), seq);
        let is_first = looked.replace(seq).is_none();
        let now = Instant::now();
        // While texts were looked for something may have come.
        let is_newest = pane.term().seq() == seq;
        let mut due = deadline;
        for (condition, found) in conditions.iter().zip(&mut found) {
            if let (Condition::Secret | Condition::Input, None) = (condition, &found) {
                let looks = LOOKS.into_iter().map(|after| changed_at + after);
                due = looks.filter(|look| *look > now).min().map_or(due, |look| due.min(look));
            }
            if matches!(condition, Condition::Input) && found.is_none() {
                // A line that ends as a question does may be half of one, and a program is about to read it.
                let is_due = |awaited| match awaited {
                    Awaited::Keys => true,
                    Awaited::Answer => now >= changed_at + SETTLED,
                };
                let is_new = since.is_none_or(|since| seq > since);
                *found =
                    (is_new && is_newest && awaited(pane).is_some_and(is_due)).then(Found::default);
            }
            if let Condition::Stable(quiet) = condition {
                let until = changed_at.checked_add(*quiet).unwrap_or(deadline);
                *found = (until <= now && is_newest).then(Found::default);
                due = due.min(if found.is_some() { deadline } else { until });
            }
        }
        let is_true = |found: &Option<Found>| found.is_some();
        let matched = if is_all { found.iter().all(is_true) } else { found.iter().any(is_true) };
        // Whether enough may still come, if these can't.
        let may_come = |never: &dyn Fn(&Condition) -> bool| {
            let mut open = conditions.iter().zip(&found).filter(|(_, found)| found.is_none());
            match is_all {
                true => !open.any(|(condition, _)| never(condition)),
                false => open.any(|(condition, _)| !never(condition)),
            }
        };
        let is_over =
            has_ended && !may_come(&|condition| !matches!(condition, Condition::Stable(_)));
        if matched || is_over || now >= deadline {
            return Ok(Outcome { found, matched, is_over: is_over && !matched, seq });
        }
        let is_marks =
            |condition: &Condition| matches!(condition, Condition::Prompt | Condition::CommandDone);
        if is_first && !may_come(&is_marks) {
            let told = hub.told(pane.id());
            refuse_markless(pane, told.prompt > 0, since.is_some())?;
        }
        // The end of a pane comes with its last event; a channel that has closed says nothing more.
        tokio::select! {
            Ok(()) = changes.changed() => {}
            Ok(()) = events.changed() => {}
            () = sleep_until(due) => {}
        }
    }
}

/// Refuses a wait for what only the marks of a shell's integration tell, in a pane where none come.
fn refuse_markless(pane: &Pane, has_marks: bool, is_since: bool) -> Result<()> {
    if has_marks || pane.term().commands().next_back().is_some() {
        return Ok(());
    }
    let shell = Shell::of_pane(pane);
    let is_plain = shell.is_none_or(|shell| shell == Shell::Posix);
    let foreground = pane.foreground().map(|process| process.name);
    // A shell at the other end of a connection may have marks of its own.
    let may_come = foreground.as_deref().is_some_and(is_carrier)
        // Its first prompt is still to come, or its editor's settings tell of it.
        || !is_plain && (pane.nonce().is_some() || !is_since);
    if may_come {
        return Ok(());
    }
    let program = foreground.unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    Err(Error::NoMarks { id: pane.id().0, program })
}

/// Tests what is not found yet, but for texts.
fn look(
    hub: &Hub,
    pane: &Pane,
    conditions: &[Condition],
    found: &mut [Option<Found>],
    from: u64,
    is_since: bool,
    seq: u64,
) {
    let told = hub.told(pane.id());
    let some = |is_true: bool| is_true.then(Found::default);
    for (condition, found) in conditions.iter().zip(found).filter(|(_, found)| found.is_none()) {
        *found = match condition {
            Condition::Text(_) | Condition::Regex(_) | Condition::Stable(_) | Condition::Input => {
                None
            }
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
            // A statement of its own: the terminal is locked to its end.
            let is_behind_text = pane.term().cursor().col > 0;
            is_behind_text
                && pane.foreground().is_some_and(|foreground| foreground.is_root)
                && pane.process().echo() == Some(false)
        }
    }
}

/// Looks for the texts that are not found yet in the lines that changed after `since`; without it, in those of the screen.
async fn look_for_text(
    matching: &Matching,
    pane: &Arc<Pane>,
    conditions: &Arc<[Condition]>,
    found: &mut [Option<Found>],
    since: Option<u64>,
    includes_typed: bool,
) -> Result<()> {
    let is_open = |(index, condition): (usize, &Condition)| {
        let is_text = matches!(condition, Condition::Text(_) | Condition::Regex(_));
        (is_text && found[index].is_none()).then_some(index)
    };
    let open: Vec<usize> = conditions.iter().enumerate().filter_map(is_open).collect();
    if open.is_empty() {
        return Ok(());
    }
    let (pane, conditions) = (pane.clone(), conditions.clone());
    let bytes = MOST_BYTES * open.len() as u64;
    let work = move |budget: &mut Budget| {
        let mut open = open;
        let mut found = Vec::new();
        for_each_line(&pane, since, includes_typed, |line, text| {
            open.retain(|&index| {
                let holds = budget.take(text.len())
                    && match &conditions[index] {
                        Condition::Text(wanted) => text.contains(wanted.as_str()),
                        Condition::Regex(regex) => regex.is_match(text),
                        _ => false,
                    };
                if holds {
                    let text = Some(text.to_owned());
                    found.push((index, Found { line_id: Some(line), text, command: None }));
                }
                !holds
            });
            !open.is_empty() && !budget.is_spent()
        });
        (found, budget.is_late())
    };
    let (all, is_late) = matching.run(bytes, work).await?;
    if is_late {
        return Err(too_long());
    }
    for (index, it) in all {
        found[index] = Some(it);
    }
    Ok(())
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

/// Hands over the lines that changed, whole where they are wrapped, until `look` has enough.
fn for_each_line(
    pane: &Pane,
    since: Option<u64>,
    includes_typed: bool,
    mut look: impl FnMut(u64, &str) -> bool,
) {
    let (first, changed, mut lines) = {
        let term = pane.term();
        let (mut first, end) = changed_rows(&term, since);
        let size = term.size();
        let most = (MOST_CELLS / u64::from(size.cols)).max(u64::from(size.rows));
        first.0 = first.0.max(end.0.saturating_sub(most));
        let oldest = first.0.saturating_sub(WRAPPED).max(term.oldest().0);
        while first.0 > oldest && term.is_wrapped(LineId(first.0 - 1)) {
            first.0 -= 1;
        }
        let is_new = |line: u64| {
            since.is_none_or(|since| term.revision(LineId(line)).is_some_and(|seq| seq > since))
        };
        let changed: Vec<bool> = (first.0..end.0).map(is_new).collect();
        (first, changed, term.lines())
    };
    let end = first.0 + changed.len() as u64;
    let mut text = String::new();
    let (mut start, mut is_new) = (first.0, false);
    for (line, is_changed) in (first.0..).zip(changed) {
        is_new |= is_changed;
        match includes_typed {
            true => lines.row_text(LineId(line), &mut text),
            false => lines.output_text(LineId(line), &mut text),
        };
        let goes_on = line + 1 < end && text.len() < LONGEST_LINE && lines.is_wrapped(LineId(line));
        if !goes_on {
            if is_new && !look(start, &text) {
                return;
            }
            text.clear();
            (start, is_new) = (line + 1, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::{sync::oneshot, time::timeout};
    use unterm_mux::{Mux, MuxOptions, OnExit, Spawn};

    use super::*;

    /// A pane that shows a text.
    async fn pane(text: &str) -> (Arc<Mux>, Arc<Hub>, Arc<Pane>) {
        let mux = Mux::new(MuxOptions::default());
        let hub = Hub::new(&mux);
        let spawn = Spawn {
            program: Some("sh".to_owned()),
            args: vec!["-c".to_owned(), format!("printf '{text}'; exec cat")],
            ..Spawn::default()
        };
        let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
        (mux, hub, pane)
    }

    fn regex(pattern: &str, since: Option<u64>) -> Sought {
        let regex = Box::new(crate::services::regex(pattern).unwrap());
        let conditions = vec![Condition::Regex(regex)];
        Sought { conditions, is_all: false, since, includes_typed: true }
    }

    #[tokio::test]
    async fn texts_are_looked_for_in_turns_outside_of_the_workers() {
        let (mux, hub, pane) = pane("here it is").await;
        let matching = Arc::new(Matching::default());
        // Who has the turns lets them go when told.
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(parking_lot::Mutex::new(released));
        let mut holding = Vec::new();
        for _ in 0..2 {
            let (matching, released) = (matching.clone(), released.clone());
            let (begun, has_begun) = oneshot::channel();
            holding.push(tokio::spawn(async move {
                let hold = move |_: &mut Budget| {
                    begun.send(()).unwrap();
                    released.lock().recv().unwrap();
                };
                matching.run(0, hold).await
            }));
            // The other waits for the lock, in a turn of its own.
            has_begun.await.unwrap();
        }
        let long = Duration::from_secs(60);
        let waiting = wait(&hub, &matching, &pane, regex("h.re", None), long);
        let mut waiting = std::pin::pin!(waiting);
        assert!(timeout(Duration::from_millis(1), &mut waiting).await.is_err());
        // One whose time is over does not wait for its turn.
        let short = Duration::from_millis(1);
        let late = wait(&hub, &matching, &pane, regex("h.re", None), short).await.unwrap();
        assert!(!late.matched && !late.is_over);
        release.send(()).unwrap();
        let outcome = waiting.await.unwrap();
        assert!(outcome.matched);
        assert_eq!(outcome.found[0].as_ref().unwrap().text.as_deref(), Some("here it is"));
        release.send(()).unwrap();
        for held in holding {
            held.await.unwrap().unwrap();
        }
        mux.shutdown();
    }

    #[tokio::test]
    async fn a_line_of_any_length_is_matched_in_parts() {
        // 200,000 characters without an end.
        let script = "begin%0200000dend";
        let (mux, hub, pane) = pane(script).await;
        let matching = Matching::default();
        let long = Duration::from_secs(60);
        let wait = |pattern: &str| wait(&hub, &matching, &pane, regex(pattern, Some(0)), long);
        let found = wait("0end$").await.unwrap().found.remove(0).unwrap().text.unwrap();
        assert!(found.len() <= LONGEST_LINE + 200, "{}", found.len());
        assert!(wait("^begin0+$").await.unwrap().matched);
        mux.shutdown();
    }
}
