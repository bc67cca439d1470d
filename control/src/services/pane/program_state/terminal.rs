//! Claims from the state of a terminal: reports of programs (OSC 7501, OSC 9;4), the end of the last long command (OSC
//! 133), and titles with a known mark. Reads no process.

use unterm_term::{BlockedOn, Command, ProgramState, ProgramStatus, Progress, Term};

use super::claim::{Claim, Need, Source, State};
use crate::services::shell::kind::{Runs, as_given};

/// A command that took at least this many milliseconds counts as long: the user has probably turned to something else.
const LONG: u64 = 10_000;
/// Exit code of a command that Ctrl+C ended. It is not reported, because the user pressed the key.
const INTERRUPTED: i32 = 130;

/// The state of the shell, according to its marks in the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether the shell is at its prompt. `None` if it sends no marks.
    pub is_prompting: Option<bool>,
    /// The command line that runs.
    pub line: Option<String>,
    /// The time when the command began or, at the prompt, when it ended. 0 if unknown.
    pub since: u64,
    /// Determines whether a report at a `seq` belongs to an earlier program.
    ended: Ended,
}

/// The part of a terminal's output that belongs to programs that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ended {
    /// No part, because the shell sends no marks.
    #[default]
    Nothing,
    /// The output before this `seq`, at which the running command began.
    Before(u64),
    /// The output up to this `seq`, at which the last command ended or the prompt began.
    Until(u64),
}

impl Marks {
    /// The marks in a terminal.
    pub fn of(term: &Term) -> Self {
        let Some(last) = term.commands().next_back() else { return Self::default() };
        if last.is_running() {
            let line = last.shown().map(|line| as_given(line, &[], Runs::Shown).into_owned());
            let (since, ended) = (last.output_time, Ended::Before(last.output_seq));
            return Self { is_prompting: Some(false), line, since, ended };
        }
        let since = ended_last(term).map_or(0, |command| command.end_time);
        let ended = Ended::Until(last.end_seq.max(last.prompt_seq));
        Self { is_prompting: Some(true), line: None, since, ended }
    }

    /// Whether a program that reported something at this `seq` has ended.
    fn is_over(&self, seq: u64) -> bool {
        match self.ended {
            Ended::Nothing => false,
            Ended::Before(start) => seq < start,
            Ended::Until(end) => seq <= end,
        }
    }
}

fn ended_last(term: &Term) -> Option<&Command> {
    term.commands().rev().find(|command| command.end_seq != 0)
}

/// The claims that do not need the pane's processes: reports, the last long command, and progress.
pub fn of_term(term: &Term, marks: &Marks) -> Vec<Claim> {
    let reports = term.program_statuses().iter().map(|status| of_report(term, status, marks));
    let command = ended_last(term).and_then(of_command);
    reports.chain(command).chain(of_progress(term, marks)).collect()
}

/// The claims of the programs themselves, which the pane's tab shows: reports and progress.
pub fn reported(term: &Term) -> Vec<Claim> {
    let marks = Marks::of(term);
    let reports = term.program_statuses().iter().map(|status| of_report(term, status, &marks));
    reports.chain(of_progress(term, &marks)).collect()
}

fn of_report(term: &Term, status: &ProgramStatus, marks: &Marks) -> Claim {
    let (state, need, name) = match status.state {
        ProgramState::Idle => (State::Idle, None, "idle"),
        ProgramState::Working => (State::Working, None, "working"),
        ProgramState::Blocked(on) => {
            let need = on.map(|on| match on {
                BlockedOn::Permission => Need::Permission,
                BlockedOn::Question => Need::Question,
                BlockedOn::Auth => Need::Login,
            });
            (State::NeedsYou, need, "blocked")
        }
        ProgramState::Done => (State::Done, None, "done"),
        ProgramState::Error => (State::Failed, None, "error"),
    };
    let app = term.status_app(&status.id).unwrap_or("the program");
    let mut text = format!("OSC 7501;state={name}");
    let kind = match status.state {
        ProgramState::Blocked(Some(BlockedOn::Permission)) => Some("permission"),
        ProgramState::Blocked(Some(BlockedOn::Question)) => Some("question"),
        ProgramState::Blocked(Some(BlockedOn::Auth)) => Some("auth"),
        _ => None,
    };
    let id = Some(status.id.as_str()).filter(|id| !id.is_empty());
    let texts = [("title", &status.title), ("msg", &status.message)];
    let fields = [("kind", kind), ("id", id), ("app", status.app.as_deref())];
    let texts = texts.into_iter().map(|(key, text)| (key, text.as_deref()));
    for (key, value) in fields.into_iter().chain(texts) {
        if let Some(value) = value {
            text.push_str(&format!(":{key}={value}"));
        }
    }
    Claim {
        task: status.id.clone(),
        need,
        message: status.message.clone().or_else(|| status.title.clone()),
        progress: status.progress,
        since: status.since,
        text,
        is_over: marks.is_over(status.seq),
        ..Claim::new(Source::Report, state, format!("{app} reported its state"))
    }
}

/// The claim about a command that has ended. `None` if it was short.
fn of_command(command: &Command) -> Option<Claim> {
    let took = command.duration().filter(|took| *took >= LONG)?;
    let code = command.exit_code.unwrap_or(0);
    if code == INTERRUPTED {
        return None;
    }
    let (state, how) = match code {
        0 => (State::Done, "ended".to_owned()),
        code => (State::Failed, format!("failed with exit code {code}")),
    };
    let line = command.shown().map(|line| as_given(line, &[], Runs::Shown).into_owned());
    let line = line.unwrap_or_else(|| "a command".to_owned());
    let reporter = if command.is_authentic { "the shell" } else { "a program" };
    let (seconds, least) = (took / 1000, LONG / 1000);
    Some(Claim {
        message: Some(format!("{line} {how} after {seconds} s")),
        since: command.end_time,
        text: format!("OSC 133;D;{code}: {line}"),
        is_over: true,
        ..Claim::new(
            Source::Command,
            state,
            format!("{reporter} marked the end of a command that ran for at least {least} s"),
        )
    })
}

fn of_progress(term: &Term, marks: &Marks) -> Option<Claim> {
    let (state, percent, number) = match term.progress() {
        Progress::None => return None,
        Progress::Percent(percent) => (State::Working, Some(percent), 1),
        Progress::Error(percent) => (State::Failed, percent, 2),
        Progress::Indeterminate => (State::Working, None, 3),
        Progress::Paused(percent) => (State::NeedsYou, percent, 4),
    };
    let digits = percent.map_or_else(String::new, |percent| format!(";{percent}"));
    Some(Claim {
        progress: percent,
        since: term.progress_time(),
        text: format!("OSC 9;4;{number}{digits}"),
        is_over: marks.is_over(term.progress_seq()),
        ..Claim::new(Source::Progress, state, "the program reported its progress")
    })
}

/// The claim of a title that the running program has set. `None` if the title has no known mark.
///
/// Claude Code begins its title with a spinner while it works: braille patterns, since version 2.1.228 half circles. Its
/// title begins with `✳` while it waits. Codex sets a title with the words `Action Required`.
pub fn of_title(title: &str, since: u64) -> Option<Claim> {
    let mut chars = title.chars();
    let (first, second) = (chars.next()?, chars.next());
    let is_mark = second == Some(' ');
    let claim = match first {
        '\u{2800}'..='\u{28ff}' | '◐'..='◓' if is_mark => {
            Claim::new(Source::Title, State::Working, "the title begins with a spinner")
        }
        '✳' if is_mark => Claim::new(
            Source::Title,
            State::Idle,
            "the title begins with Claude Code's mark for waiting",
        ),
        _ if title.contains("Action Required") => {
            Claim::needs(Source::Title, None, "the title contains Codex's words for a request")
        }
        _ => return None,
    };
    Some(Claim { since, text: title.to_owned(), ..claim })
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;
    use crate::services::pane::program_state::decide::{Verdict, decide};

    /// Applies steps, each at its time in seconds, and returns the claim that decides.
    fn after(steps: &[(u64, &str)]) -> Option<Claim> {
        seen_after(steps, 0)
    }

    fn seen_after(steps: &[(u64, &str)], seen: u64) -> Option<Claim> {
        let mut term = Term::new(Size::cells(40, 5), Options::default());
        let mut parser = Parser::new();
        for (second, bytes) in steps {
            term.set_time(second * 1000);
            parser.advance(&mut term, bytes.as_bytes());
        }
        let mut claims = of_term(&term, &Marks::of(&term));
        let verdicts = decide(&mut claims, seen * 1000);
        let decides = verdicts.iter().position(|verdict| *verdict == Verdict::Decides);
        decides.map(|at| claims.swap_remove(at))
    }

    const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";
    const START: &str = "make\x1b]133;C\x07\r\n";
    const WORKING: &str = "\x1b]7501;state=working:progress=40:app=cargo\x07";
    const BLOCKED: &str = "\x1b]7501;state=blocked:kind=permission:msg=UnVuIGl0Pw==\x07";
    const DONE: &str = "\x1b]7501;state=done:msg=QWxsIHdlbGw=\x07";

    fn is(claim: &Option<Claim>) -> Option<(Source, State)> {
        claim.as_ref().map(|claim| (claim.source, claim.state))
    }

    #[test]
    fn a_report_overrides_progress() {
        let both = after(&[(1, "\x1b]9;4;2\x07"), (2, WORKING)]).unwrap();
        assert_eq!((both.source, both.state), (Source::Report, State::Working));
        assert_eq!((both.progress, both.since), (Some(40), 2000));
        assert_eq!(both.rule, "cargo reported its state");
        assert_eq!(both.text, "OSC 7501;state=working:app=cargo");
        let alone = after(&[(1, WORKING), (2, "\x1b]7501;state=clear\x07\x1b]9;4;4;7\x07")]);
        assert_eq!(is(&alone), Some((Source::Progress, State::NeedsYou)));
        assert_eq!(alone.unwrap().text, "OSC 9;4;4;7");
    }

    #[test]
    fn the_most_urgent_task_is_the_state_of_the_pane() {
        let task = "\x1b]7501;state=blocked:kind=question:id=a/b\x07";
        let claim = after(&[(1, WORKING), (2, task), (3, "\x1b]7501;state=error:id=c\x07")]);
        let claim = claim.unwrap();
        assert_eq!((claim.task.as_str(), claim.need), ("a/b", Some(Need::Question)));
    }

    #[test]
    fn work_and_needs_end_with_the_prompt_and_results_do_not() {
        for (report, there, at_prompt) in [
            (WORKING, State::Working, None),
            (BLOCKED, State::NeedsYou, None),
            (DONE, State::Done, Some(State::Done)),
        ] {
            let steps =
                [(1, PROMPT), (2, START), (3, report), (4, "\x1b]133;D;0\x07"), (5, PROMPT)];
            assert_eq!(after(&steps[..3]).map(|it| it.state), Some(there), "{report}");
            assert_eq!(after(&steps).map(|it| it.state), at_prompt, "{report}");
            assert_eq!(seen_after(&steps, 6).map(|it| it.state), None, "{report}");
        }
        let message = after(&[(1, BLOCKED)]).unwrap().message;
        assert_eq!(message.as_deref(), Some("Run it?"));
    }

    #[test]
    fn progress_that_is_left_behind_ends_with_its_command() {
        let steps = [(1, PROMPT), (2, START), (3, "\x1b]9;4;1;50\x07"), (4, "\x1b]133;D;0\x07")];
        assert_eq!(is(&after(&steps[..3])), Some((Source::Progress, State::Working)));
        assert_eq!(after(&steps), None);
    }

    #[test]
    fn a_long_command_is_a_result_until_it_is_seen() {
        let end = |code: &'static str| [(1, PROMPT), (2, START), (30, code), (31, PROMPT)];
        let done = after(&end("\x1b]133;D;0\x07")).unwrap();
        assert_eq!((done.source, done.state), (Source::Command, State::Done));
        assert_eq!(done.message.as_deref(), Some("make ended after 28 s"));
        let failed = after(&end("\x1b]133;D;2\x07")).unwrap();
        assert_eq!(failed.state, State::Failed);
        assert_eq!(failed.message.as_deref(), Some("make failed with exit code 2 after 28 s"));
        assert_eq!(failed.text, "OSC 133;D;2: make");
        assert_eq!(after(&end("\x1b]133;D;130\x07")), None, "Ctrl+C");
        assert_eq!(seen_after(&end("\x1b]133;D;2\x07"), 30), None);
        let short = [(1, PROMPT), (2, START), (3, "\x1b]133;D;2\x07"), (4, PROMPT)];
        assert_eq!(after(&short), None);
    }

    #[test]
    fn a_title_says_what_its_mark_means() {
        let state = |title: &str| of_title(title, 0).map(|claim| claim.state);
        assert_eq!(state("⠂ fix the tests"), Some(State::Working));
        assert_eq!(state("◐ fix the tests"), Some(State::Working));
        assert_eq!(state("✳ fix the tests"), Some(State::Idle));
        assert_eq!(state("[ ! ] Action Required | codex"), Some(State::NeedsYou));
        for plain in ["", "vim", "⠂", "✳fix", "me@host: ~"] {
            assert_eq!(state(plain), None, "{plain}");
        }
    }
}
