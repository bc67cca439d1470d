//! Waits for conditions of a pane, such as a text on its screen. Events of the pane wake the wait, which then checks
//! its conditions again.

use std::{sync::Arc, time::Duration};

use regex_automata::meta::Regex;
use tokio::time::{Instant, sleep_until, timeout_at};
use unterm_mux::{Pane, PaneState, is_carrier};
use unterm_term::LineId;

use super::{
    events::{CommandEnd, Hub},
    program_state::{ProgramStates, claim::State},
};
use crate::{
    error::{Error, Result},
    services::{
        limits::search_limiter::{Budget, Searches, too_long},
        shell::{
            awaited::{Awaited, SILENT, awaited},
            echoes::{Echoes, Search},
            kind::Shell,
            plain_prompt, secret,
        },
    },
};

/// A condition to wait for. If the wait has a `since`, only changes after that `seq` count.
pub enum Condition {
    /// A line contains this text.
    Text(String),
    /// A line matches this expression.
    Regex(Box<Regex>),
    /// The pane has not changed for this time.
    Stable(Duration),
    /// The program has ended.
    Exit,
    /// The shell is at a prompt: the shell marks a prompt or, without shell integration, the screen shows a prompt.
    Prompt,
    /// A command has ended. Needs shell integration.
    CommandDone,
    /// A bell rang.
    Bell,
    /// The title contains this text. If the wait has a `since`, the title must also have changed after it.
    Title(String),
    /// The pane's `seq` has reached this value.
    Seq(u64),
    /// The program asks for a secret ([`secret::is_asked`]).
    Secret,
    /// The program waits for input ([`awaited`]).
    Input,
    /// The program is in this state, whichever source reports it ([`ProgramStates::explain`]).
    State(State, Arc<ProgramStates>),
}

/// The parameters of a wait.
pub struct Sought {
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Whether all conditions must come true rather than one of them. They need not be true at the same time.
    pub is_all: bool,
    /// Ignore everything that was already there at this `seq`.
    pub since: Option<u64>,
    /// If set, texts are not searched in these echoes, nor in prompts and command lines that the shell marks. `None`:
    /// all text is searched.
    pub without_typed: Option<Arc<Echoes>>,
}

/// Details of a condition that came true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundCondition {
    /// The id of the line, valid as long as the line is kept.
    pub line_id: Option<u64>,
    /// The text of the line, or the title.
    pub text: Option<String>,
    /// The command that ended.
    pub command: Option<CommandEnd>,
}

/// The result of a wait.
#[derive(Debug)]
pub struct WaitOutcome {
    /// The result for each condition, in order.
    pub found: Vec<Option<FoundCondition>>,
    /// Whether enough conditions came true.
    pub matched: bool,
    /// Whether the pane has ended, so that the missing conditions can't come true any longer.
    pub is_over: bool,
    /// The pane's `seq` when the conditions were last checked.
    pub seq: u64,
}

/// The maximum numbers of rows and of cells that are searched after one change. Older rows are skipped.
const MOST_ROWS: u64 = 50_000;
const MOST_CELLS: u64 = 16 << 20;
/// The maximum number of bytes of text that are matched per condition after one change. A cell may contain several
/// bytes.
const MOST_BYTES: u64 = 64 << 20;
/// The maximum length in bytes of a line that is matched as a whole. Longer lines are matched in parts.
const LONGEST_LINE: usize = 64 << 10;
/// The times after a change of the screen when the program is checked again. For later checks, see [`next_look`]. The
/// repetition is needed because some programs print a password prompt before they turn off echo.
const LOOKS: [Duration; 3] = [Duration::from_millis(30), SETTLED, SILENT];
/// A program counts as waiting for an answer or for keys only after it was silent for this long, because it may still
/// be printing the question or drawing its screen.
const SETTLED: Duration = Duration::from_millis(300);
/// A full-screen program that is never silent counts as waiting for keys after this time.
const RESTLESS: Duration = Duration::from_secs(1);
/// The maximum number of wrapped rows above a row that are joined to the row's line.
const WRAPPED: u64 = 64;

/// The maximum time of the first search for texts, regardless of the deadline.
const LOOK: Duration = Duration::from_secs(1);

/// A pane must be silent for `QUIET` before its screen is shown to a caller. `LONGEST_UNQUIET` is the maximum time to
/// wait for that.
const QUIET: Duration = Duration::from_millis(50);
const LONGEST_UNQUIET: Duration = Duration::from_millis(300);

/// Waits until a pane's program has probably drawn its whole screen: until the pane is silent for a moment, or a short
/// time limit passes.
pub async fn until_quiet(pane: &Pane) {
    let end = Instant::now() + LONGEST_UNQUIET;
    loop {
        let missing = QUIET.saturating_sub(pane.silence());
        let now = Instant::now();
        if missing.is_zero() || now >= end || pane.state() != PaneState::Running {
            return;
        }
        sleep_until(end.min(now + missing)).await;
    }
}

/// The time of the next check of a program. No event reports that a program changes the terminal's settings or begins
/// to read. So after the first checks, the next check follows after half of the time for which the screen has been
/// unchanged.
fn next_look(changed_at: Instant, now: Instant) -> Instant {
    let looks = LOOKS.into_iter().map(|after| changed_at + after);
    looks.filter(|look| *look > now).min().unwrap_or_else(|| now + (now - changed_at) / 2)
}

/// The end of a wait. If the sum overflows the clock, a time in the far future.
pub fn deadline(now: Instant, timeout: Duration) -> Instant {
    now.checked_add(timeout).unwrap_or(now + Duration::from_secs(60 * 60 * 24 * 365))
}

/// Waits until one or all of the conditions are true. Once a text or an event was seen, its condition stays true. Ends
/// early if the pane has ended and the missing conditions can't come true any longer.
///
/// # Errors
/// A regular expression takes too long, or the conditions need shell integration, which the pane lacks.
pub async fn wait(
    hub: &Hub,
    searches: Searches<'_>,
    pane: &Arc<Pane>,
    sought: Sought,
    timeout: Duration,
) -> Result<WaitOutcome> {
    let Sought { conditions, is_all, since, without_typed } = sought;
    let conditions: Arc<[Condition]> = conditions.into();
    let start = Instant::now();
    let deadline = deadline(start, timeout);
    let mut changes = pane.watch();
    let mut events = hub.watch();
    let mut found: Vec<Option<FoundCondition>> = conditions.iter().map(|_| None).collect();
    // Without a `since`, only events from now on count.
    let from = since.unwrap_or_else(|| pane.term().seq());
    let mut looked = None;
    let mut searched = None;
    let mut changed_at = start;
    let mut keys_since = None;
    loop {
        events.borrow_and_update();
        changes.borrow_and_update();
        // This check must come before the search, because a pane reports its end after its last output.
        let has_ended = pane.state() != PaneState::Running;
        let seq = pane.term().seq();
        if looked.is_some_and(|looked| looked != seq) {
            changed_at = Instant::now();
        }
        if looked != Some(seq) {
            let since = searched.or(since);
            let look = look_for_text(
                searches,
                pane,
                &conditions,
                &mut found,
                since,
                without_typed.as_ref(),
            );
            // Searches of other callers may delay this one beyond the deadline. A wait with a timeout of 0 still
            // searches once.
            if let Ok(is_unsure) = timeout_at(deadline.max(start + LOOK), look).await
                && !is_unsure?
            {
                searched = Some(seq);
            }
        }
        look(hub, pane, &conditions, &mut found, from, since.is_some(), seq);
        let is_first = looked.replace(seq).is_none();
        let now = Instant::now();
        // The pane may have changed during the search.
        let is_newest = pane.term().seq() == seq;
        let mut due = deadline;
        for (condition, found) in conditions.iter().zip(&mut found) {
            let is_looked_for = matches!(
                condition,
                Condition::Secret | Condition::Input | Condition::Prompt | Condition::State(..)
            );
            if is_looked_for && found.is_none() {
                due = due.min(next_look(changed_at, now));
            }
            if matches!(condition, Condition::Input) && found.is_none() {
                // A line that looks like a question may be the first half of a longer line, or the program may be about
                // to read further input.
                let is_settled = pane.silence() >= SETTLED;
                let is_due = |awaited| match awaited {
                    Awaited::Keys => is_settled || now >= *keys_since.get_or_insert(now) + RESTLESS,
                    Awaited::Answer => is_settled,
                    Awaited::Input => true,
                };
                let is_new = since.is_none_or(|since| seq > since);
                *found = (is_new && is_newest && awaited(pane).is_some_and(is_due))
                    .then(FoundCondition::default);
            }
            if let Condition::Stable(quiet) = condition {
                let until = changed_at.checked_add(*quiet).unwrap_or(deadline);
                *found = (until <= now && is_newest).then(FoundCondition::default);
                due = due.min(if found.is_some() { deadline } else { until });
            }
        }
        let is_true = |found: &Option<FoundCondition>| found.is_some();
        let matched = if is_all { found.iter().all(is_true) } else { found.iter().any(is_true) };
        // Whether enough conditions can still come true, apart from the conditions for which `never` returns true.
        let still_open = |never: &dyn Fn(&Condition) -> bool| {
            let mut open = conditions.iter().zip(&found).filter(|(_, found)| found.is_none());
            match is_all {
                true => !open.any(|(condition, _)| never(condition)),
                false => open.any(|(condition, _)| !never(condition)),
            }
        };
        let is_over =
            has_ended && !still_open(&|condition| !matches!(condition, Condition::Stable(_)));
        let is_end = matched || is_over;
        let is_marks =
            |condition: &Condition| matches!(condition, Condition::Prompt | Condition::CommandDone);
        if is_first && !is_end && !still_open(&is_marks) {
            refuse_markless(hub, pane, still_open)?;
        }
        if is_end || now >= deadline {
            return Ok(WaitOutcome { found, matched, is_over: is_over && !matched, seq });
        }
        // A pane's last event reports its end. After that event, the channels are closed and no longer wake this wait.
        tokio::select! {
            Ok(()) = changes.changed() => {}
            Ok(()) = events.changed() => {}
            () = sleep_until(due) => {}
        }
    }
}

/// Whether a condition on marks can still come true in a pane whose shell has sent no mark so far.
fn may_come(pane: &Pane, condition: &Condition, program: &str) -> bool {
    // A shell at the other end of a connection may send marks.
    if is_carrier(program) {
        return true;
    }
    let is_script = Shell::of_process(program).is_some() && Shell::reading_commands(pane).is_none();
    let is_shell = !is_script && Shell::of_pane(pane).is_some();
    match condition {
        Condition::Prompt => is_shell,
        // A shell with integration sends its first mark with the first prompt, which has not appeared yet.
        Condition::CommandDone => is_shell && pane.nonce().is_some() && !plain_prompt::stands(pane),
        _ => true,
    }
}

/// If too many conditions need shell integration and the pane lacks it, refuses the wait.
fn refuse_markless(
    hub: &Hub,
    pane: &Pane,
    still_open: impl Fn(&dyn Fn(&Condition) -> bool) -> bool,
) -> Result<()> {
    let has_marks =
        hub.last_reported(pane.id()).prompt > 0 || pane.term().commands().next_back().is_some();
    if has_marks {
        return Ok(());
    }
    let program = pane.foreground().map(|process| process.name).unwrap_or_default();
    if still_open(&|condition| !may_come(pane, condition, &program)) {
        return Ok(());
    }
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    Err(Error::NoMarks { id: pane.id().0, program })
}

/// Checks the conditions that are not true yet, except conditions on texts.
fn look(
    hub: &Hub,
    pane: &Pane,
    conditions: &[Condition],
    found: &mut [Option<FoundCondition>],
    from: u64,
    is_since: bool,
    seq: u64,
) {
    let reported = hub.last_reported(pane.id());
    let some = |is_true: bool| is_true.then(FoundCondition::default);
    for (condition, found) in conditions.iter().zip(found).filter(|(_, found)| found.is_none()) {
        *found = match condition {
            Condition::Text(_) | Condition::Regex(_) | Condition::Stable(_) | Condition::Input => {
                None
            }
            Condition::Exit => some(pane.state() != PaneState::Running),
            Condition::Prompt => some(is_prompting(
                pane,
                reported.prompt > 0,
                !is_since || reported.prompt > from,
                !is_since || seq > from,
            )),
            Condition::CommandDone => (reported.command > from).then(|| FoundCondition {
                command: reported.command_end,
                ..FoundCondition::default()
            }),
            Condition::Bell => some(reported.bell > from),
            Condition::Title(text) => {
                let title = pane.title();
                let is_new = !is_since || reported.title > from;
                (is_new && title.contains(text.as_str()))
                    .then(|| FoundCondition { text: Some(title), ..FoundCondition::default() })
            }
            Condition::Seq(least) => some(seq >= *least),
            // Input that the program has not received yet may be the answer.
            Condition::Secret => some(secret::is_asked(pane) && !pane.process().is_in_transit()),
            Condition::State(state, programs) => {
                some((!is_since || seq > from) && programs.is_in(pane, *state))
            }
        };
    }
}

/// Whether the pane's shell is at a prompt, according to its marks. If the shell in the foreground has sent no marks,
/// the screen decides. `is_new`: whether the last mark of a prompt counts. `has_changed`: whether the screen counts.
fn is_prompting(pane: &Pane, has_marks: bool, is_new: bool, has_changed: bool) -> bool {
    let last = pane.term().commands().next_back().map(|last| last.is_prompting());
    match last {
        Some(true) => is_new,
        Some(false) => has_changed && plain_prompt::is_inner(pane) && plain_prompt::stands(pane),
        // The last command was erased, and the next prompt has not appeared yet.
        None if has_marks => false,
        None => has_changed && plain_prompt::stands(pane),
    }
}

/// Searches for the texts that were not found yet: in the lines that changed after `since`, or on the screen if there
/// is no `since`. Returns whether these lines must be searched again.
async fn look_for_text(
    searches: Searches<'_>,
    pane: &Arc<Pane>,
    conditions: &Arc<[Condition]>,
    found: &mut [Option<FoundCondition>],
    since: Option<u64>,
    without_typed: Option<&Arc<Echoes>>,
) -> Result<bool> {
    let is_open = |(index, condition): (usize, &Condition)| {
        let is_text = matches!(condition, Condition::Text(_) | Condition::Regex(_));
        (is_text && found[index].is_none()).then_some(index)
    };
    let open: Vec<usize> = conditions.iter().enumerate().filter_map(is_open).collect();
    if open.is_empty() {
        return Ok(false);
    }
    let echoes = without_typed.cloned();
    let (pane, conditions) = (pane.clone(), conditions.clone());
    let bytes = MOST_BYTES * open.len() as u64;
    let work = move |budget: &mut Budget| {
        let mut open = open;
        let mut found = Vec::new();
        let is_unsure = for_each_line(&pane, since, echoes.as_deref(), |line, text| {
            open.retain(|&index| {
                let holds = budget.take(text.len())
                    && match &conditions[index] {
                        Condition::Text(wanted) => has_text(text, wanted),
                        Condition::Regex(regex) => regex.is_match(text),
                        _ => false,
                    };
                if holds {
                    let text = Some(text.to_owned());
                    found
                        .push((index, FoundCondition { line_id: Some(line), text, command: None }));
                }
                !holds
            });
            !open.is_empty() && !budget.is_spent()
        });
        (found, is_unsure, budget.is_late())
    };
    let (all, is_unsure, is_late) = searches.run(bytes, work).await?;
    if is_late {
        return Err(too_long());
    }
    for (index, it) in all {
        found[index] = Some(it);
    }
    Ok(is_unsure)
}

/// Whether a line contains a text. The terminal drops blanks at the end of a line, so a text that ends in blanks, such
/// as `name: `, also matches at the line's end without them.
fn has_text(line: &str, wanted: &str) -> bool {
    let bare = wanted.trim_end_matches(' ');
    line.contains(wanted) || !bare.is_empty() && bare != wanted && line.ends_with(bare)
}

/// The rows that changed after `since`, or the rows of the live screen if there is no `since`. A half-open range.
pub fn changed_rows(term: &unterm_term::Term, since: Option<u64>) -> (LineId, LineId) {
    let (oldest, top) = (term.oldest().0, term.live_top().0);
    let rows = u64::from(term.size().rows);
    let end = top + rows;
    let Some(since) = since else { return (LineId(top), LineId(end)) };
    let is_new = |line: u64| term.revision(LineId(line)).is_some_and(|revision| revision > since);
    let mut first = end;
    let mut line = end;
    // Several rows can leave the screen at once, so there may be up to a screenful of unchanged rows between two
    // changed rows.
    while line > oldest && end - line < MOST_ROWS && (line > top || first - line <= rows) {
        line -= 1;
        if is_new(line) {
            first = line;
        }
    }
    (LineId(first), LineId(end))
}

/// Calls `look` with each changed line, until `look` returns false. Wrapped rows are joined. With `echoes`, the text
/// lacks these echoes and everything that the shell marks as a prompt or as typed. Returns whether the lines must be
/// searched again after the next change, because removed text may turn out to be output.
fn for_each_line(
    pane: &Pane,
    since: Option<u64>,
    echoes: Option<&Echoes>,
    mut look: impl FnMut(u64, &str) -> bool,
) -> bool {
    let (first, top, revisions, mut lines, mut search) = {
        let term = pane.term();
        let search = echoes.map(|echoes| echoes.search(pane.id(), &term));
        let (mut first, end) = changed_rows(&term, since);
        if let Some(open) = search.as_ref().and_then(Search::since) {
            first = first.min(changed_rows(&term, Some(open)).0);
        }
        let size = term.size();
        let most = (MOST_CELLS / u64::from(size.cols)).max(u64::from(size.rows));
        first.0 = first.0.max(end.0.saturating_sub(most));
        let oldest = first.0.saturating_sub(WRAPPED).max(term.oldest().0);
        while first.0 > oldest && term.is_wrapped(LineId(first.0 - 1)) {
            first.0 -= 1;
        }
        let revision = |line: u64| term.revision(LineId(line)).unwrap_or_default();
        let revisions: Vec<u64> = (first.0..end.0).map(revision).collect();
        (first, term.live_top().0, revisions, term.lines(), search)
    };
    let end = first.0 + revisions.len() as u64;
    let mut text = String::new();
    let (mut start, mut changed) = (first.0, 0);
    for (line, revision) in (first.0..).zip(revisions) {
        changed = changed.max(revision);
        let is_wrapped = lines.line_text(LineId(line), search.is_some(), &mut text);
        if line + 1 < end && text.len() < LONGEST_LINE && is_wrapped {
            continue;
        }
        if let Some(search) = &mut search {
            search.remove_from(&mut lines, start..line + 1, changed, &mut text);
        }
        let is_new = since.map_or(line >= top, |since| changed > since);
        if is_new && !look(start, text.trim_end_matches(' ')) {
            return false;
        }
        text.clear();
        (start, changed) = (line + 1, 0);
    }
    let is_unsure = search.as_ref().is_some_and(|search| search.is_unsure);
    if let (Some(echoes), Some(search)) = (echoes, search) {
        echoes.keep(search, &mut pane.term());
    }
    is_unsure
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::{sync::oneshot, time::timeout};
    use unterm_mux::{Mux, MuxOptions, OnExit, Spawn};

    use super::*;
    use crate::caller::TokenKind;
    use crate::services::limits::search_limiter::SearchLimiter;

    const TOKEN: TokenKind = TokenKind::Instance;

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
        Sought { conditions, is_all: false, since, without_typed: None }
    }

    #[test]
    fn blanks_at_the_end_of_a_line_are_found() {
        assert!(has_text("name:", "name: ") && has_text("name: x", "name: "));
        assert!(!has_text("name:x", "name: ") && !has_text("x", " "));
    }

    #[tokio::test]
    async fn texts_are_looked_for_in_turns_outside_of_the_workers() {
        let (mux, hub, pane) = pane("here it is").await;
        let limiter = Arc::new(SearchLimiter::default());
        // These tasks occupy both slots until they are released.
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(parking_lot::Mutex::new(released));
        let mut holding = Vec::new();
        for _ in 0..2 {
            let (limiter, released) = (limiter.clone(), released.clone());
            let (begun, has_begun) = oneshot::channel();
            holding.push(tokio::spawn(async move {
                let hold = move |_: &mut Budget| {
                    begun.send(()).unwrap();
                    released.lock().recv().unwrap();
                };
                limiter.of(TOKEN).run(0, hold).await
            }));
            // The second task has its slot, and waits for the lock.
            has_begun.await.unwrap();
        }
        let long = Duration::from_secs(60);
        let waiting = wait(&hub, limiter.of(TOKEN), &pane, regex("h.re", None), long);
        let mut waiting = std::pin::pin!(waiting);
        assert!(timeout(Duration::from_millis(1), &mut waiting).await.is_err());
        // A wait whose time is over does not wait for a slot.
        let short = Duration::from_millis(1);
        let late = wait(&hub, limiter.of(TOKEN), &pane, regex("h.re", None), short).await.unwrap();
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
        // The script prints 200,000 characters without a line end.
        let script = "begin%0200000dend";
        let (mux, hub, pane) = pane(script).await;
        let limiter = SearchLimiter::default();
        let long = Duration::from_secs(60);
        let wait =
            |pattern: &str| wait(&hub, limiter.of(TOKEN), &pane, regex(pattern, Some(0)), long);
        let found = wait("0end$").await.unwrap().found.remove(0).unwrap().text.unwrap();
        assert!(found.len() <= LONGEST_LINE + 200, "{}", found.len());
        assert!(wait("^begin0+$").await.unwrap().matched);
        mux.shutdown();
    }
}
