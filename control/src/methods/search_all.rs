//! `screen.search_all`: finds a text in every session, and in the recordings of sessions that have ended.

use std::{path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Mux, Pane, normalize_file_uri};
use unterm_term::{Command, LineId, Lines, Pattern, ScreenKind, SearchOrder, Term};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    explain::ReplyTexts,
    params::Arg,
    screen::{MOST_SEARCHED, Wanted, is_true, pattern_of, yes},
};
use crate::{
    error::Error,
    services::{
        at_time,
        limits::search_limiter::Budget,
        milliseconds_of,
        records::recording::{Recorder, read_page, search::find_lines},
        shell::kind::{Runs, as_given},
    },
};

/// The maximum number of matches in one reply.
const MOST: u64 = 1000;
/// The maximum number of recordings that are searched. Older recordings are left out.
const MOST_RECORDINGS: usize = 500;
/// The maximum number of rows that are read before and after the row of a match, if its line is wrapped.
const WRAPPED: u64 = 16;

/// `screen.search_all`.
pub struct SearchAll;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SearchAllParams<'a> {
    /// The text to find. Case-sensitive.
    #[serde(borrow)]
    pub pattern: Arg<'a, String>,
    /// Treat the text as a regular expression.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub regex: Arg<'a, bool>,
    /// Ignore case.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub ignore_case: Arg<'a, bool>,
    /// How many matches to return; at most 1,000. Default: 50.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub max_results: Arg<'a, u64>,
    /// True: also searches the pages of recordings that have ended, at most the last 500.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub recorded: Arg<'a, bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct SearchAllReply {
    /// The lines with a match, newest first. Lines of commands without a time come last.
    pub matches: Vec<FoundLine>,
    /// True: there are more matches than were returned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// False: there is too much text for the pattern, so some of it was not searched. Otherwise absent.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(with = "bool")]
    pub complete: bool,
}

/// A line with a match. As untrusted as a program's output. Secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct FoundLine {
    /// The session. Absent for a recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub session: Option<u64>,
    /// The id of the recording, for session.recording_read. Absent for a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub recording: Option<String>,
    /// The line. If it is longer than 500 characters, only the part with the match.
    pub text: String,
    /// The id of the row in which the match begins, valid as long as the row is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub line_id: Option<u64>,
    /// The number of the command that printed the line, for block.get and block.diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub block: Option<u64>,
    /// The command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub command: Option<String>,
    /// The exit code of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i32")]
    pub exit_code: Option<i32>,
    /// The directory in which the command started, in the form that session.cwd returns. For a recording: the path of
    /// its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub cwd: Option<String>,
    /// When the command ended, or when it began if it is still running. For a recording: when the recording began (RFC
    /// 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub time: Option<String>,
}

impl Method for SearchAll {
    const NAME: &'static str = "screen.search_all";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSIONS.union(Subjects::FILES);
    const DOC: &'static str = "Finds a text in the output of every session, with the command that printed it, and in recordings. Without shell integration, \
        typed lines count as output.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = SearchAllParams<'a>;
    type Reply = SearchAllReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SearchAllParams<'a>,
    ) -> Result<SearchAllReply> {
        let pattern = pattern_of(&params.pattern, &params.regex, &params.ignore_case)?;
        if params.pattern.required("pattern")?.is_empty() {
            return Err(Error::Missing("pattern"));
        }
        let most = params.max_results.number("max_results", 1..=MOST)?.unwrap_or(50) as usize;
        let recorder =
            params.recorded.is_set("recorded")?.then(|| context.records.recorder.clone());
        let (mux, home) = (context.mux.clone(), context.registration.home().to_owned());
        let search = move |budget: &mut Budget| {
            Search { home: &home, most, budget, has_more: false }.all(
                &mux,
                recorder.as_deref(),
                &pattern,
            )
        };
        context.limits.search_limiter.of(caller.token).run(MOST_SEARCHED, search).await?
    }
}

/// A running search.
struct Search<'a> {
    home: &'a Path,
    most: usize,
    budget: &'a mut Budget,
    has_more: bool,
}

/// A match, and its time in milliseconds since 1970, or 0.
type Dated = (u64, FoundLine);

impl Search<'_> {
    fn all(
        mut self,
        mux: &Mux,
        recorder: Option<&Recorder>,
        wanted: &Wanted,
    ) -> Result<SearchAllReply> {
        let pattern = wanted.ready()?;
        let mut shown = ReplyTexts::of(self.home)?;
        let mut found: Vec<Dated> = Vec::new();
        for pane in mux.panes() {
            found.extend(self.pane(&pane, &pattern, &mut shown));
        }
        if let Some(recorder) = recorder {
            found.extend(self.recordings(recorder, &pattern, &mut shown)?);
        }
        // Lines of one session keep their order, because the sort is stable.
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        self.has_more |= found.len() > self.most;
        let matches = found.into_iter().take(self.most).map(|(_, line)| line).collect();
        let (more, complete) = (self.has_more, !self.budget.is_spent());
        Ok(SearchAllReply { matches, more, complete })
    }

    /// The newest matches in a pane.
    fn pane(&mut self, pane: &Arc<Pane>, pattern: &Pattern, shown: &mut ReplyTexts) -> Vec<Dated> {
        let lines = pane.term().lines();
        let is_main = lines.screen() == ScreenKind::Main;
        let mut texts = lines.clone();
        let mut search = lines.search(pattern, SearchOrder::NewestFirst);
        let mut rows: Vec<u64> = Vec::new();
        while let Some(found) = search.next_while(&mut |bytes| self.budget.take(bytes)) {
            let row = found.range.start.line.0;
            if rows.last() == Some(&row) {
                continue;
            }
            if rows.len() == self.most {
                self.has_more = true;
                break;
            }
            rows.push(row);
        }
        let printed: Vec<(u64, Dated)> = {
            let term = pane.term();
            let commands = if is_main { Commands::of(&term) } else { Commands::default() };
            let of = |row: u64| match commands.at(&term, row) {
                None => Some((row, Dated::default())),
                // Prompts and typed lines are no output.
                Some(command) => is_output(command, row).then(|| (row, described(command))),
            };
            rows.into_iter().filter_map(of).collect()
        };
        let found = printed.into_iter().map(|(row, (time, mut line))| {
            let (text, at) = logical_line(&mut texts, row);
            line.text = shown.part(&text, at);
            line.command = line.command.map(|command| shown.line(&command));
            (time, FoundLine { session: Some(pane.id().0), line_id: Some(row), ..line })
        });
        found.collect()
    }

    /// The newest matches in the pages of recordings.
    fn recordings(
        &mut self,
        recorder: &Recorder,
        pattern: &Pattern,
        shown: &mut ReplyTexts,
    ) -> Result<Vec<Dated>> {
        let rows = recorder.rows().map_err(Error::Failed)?;
        let ended = rows.into_iter().rev().filter(|row| row.ended_at.is_some());
        let mut found = Vec::new();
        for row in ended.take(MOST_RECORDINGS) {
            if found.len() > self.most {
                break;
            }
            let page = match read_page(self.home, &row) {
                Ok(page) => page,
                // A user may remove a project, and its pages with it.
                Err(error) => {
                    tracing::debug!(%error, id = row.unterm_session_id, "a page is not searched");
                    continue;
                }
            };
            if !self.budget.take(page.len()) {
                break;
            }
            let time = milliseconds_of(&row.started_at);
            for line in find_lines(&page, pattern, self.most) {
                let at = line.text[..line.at].chars().count();
                let found_line = FoundLine {
                    recording: Some(row.unterm_session_id.clone()),
                    text: shown.part(&line.text, at.saturating_sub(100)),
                    command: line.command.map(|command| shown.line(&command)),
                    exit_code: line.exit_code,
                    cwd: row.project_path.clone(),
                    time: Some(row.started_at.clone()),
                    ..FoundLine::default()
                };
                found.push((time, found_line));
            }
        }
        Ok(found)
    }
}

/// The rows in which commands begin, oldest first, and the numbers of the commands.
#[derive(Default)]
struct Commands(Vec<(u64, u64)>);

impl Commands {
    fn of(term: &Term) -> Self {
        let begins = |command: &Command| {
            let line = term.prompt_line(command).or(command.output.map(|output| output.line));
            line.map(|line| (line.0, command.id))
        };
        Self(term.commands().filter_map(begins).collect())
    }

    /// The command to which a row belongs. `None` if the row is older than every command.
    fn at<'t>(&self, term: &'t Term, row: u64) -> Option<&'t Command> {
        let index = self.0.partition_point(|(begin, _)| *begin <= row).checked_sub(1)?;
        term.command(self.0[index].1)
    }
}

/// Whether a row of a command belongs to its output.
fn is_output(command: &Command, row: u64) -> bool {
    command.output.is_some_and(|output| output.line.0 <= row)
}

/// A line of a command's output, without its text.
fn described(command: &Command) -> Dated {
    let time = if command.end_time != 0 { command.end_time } else { command.output_time };
    let line = FoundLine {
        block: Some(command.id),
        command: command.shown().map(|line| as_given(line, &[], Runs::Shown).into_owned()),
        exit_code: command.exit_code,
        cwd: command.cwd.as_deref().map(normalize_file_uri),
        time: at_time(time),
        ..FoundLine::default()
    };
    (time, line)
}

/// The logical line to which a row belongs, up to a maximum length, and the number of the line's characters before that
/// row.
fn logical_line(lines: &mut Lines, row: u64) -> (String, usize) {
    let least = row.saturating_sub(WRAPPED).max(lines.oldest().0);
    let mut first = row;
    while first > least && lines.is_wrapped(LineId(first - 1)) {
        first -= 1;
    }
    let (mut text, mut at) = (String::new(), 0);
    for line in first..=row + WRAPPED {
        if line == row {
            at = text.chars().count();
        }
        if !lines.line_text(LineId(line), false, &mut text) {
            break;
        }
    }
    (text, at)
}
