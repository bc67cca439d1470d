//! `session.history`: the rows above the screen.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::Pane;
use unterm_term::{Command, CommandAlias, LineId};

use super::blocking;
use crate::{
    methods::{Caller, Context, Group, Method, Result, Subjects, params::session_params},
    services::shell::kind::{Runs, TypedRuns, as_given},
};

/// `session.history`.
pub struct History;

session_params! {
    /// A session, and how many rows of its history to read.
    HistoryParams {
        /// How many of the last rows to read. Default: 100.
        #[serde(default)]
        limit: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct HistoryReply {
    pub entries: Vec<HistoryEntry>,
    pub count: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct HistoryEntry {
    pub text: String,
}

impl Method for History {
    const NAME: &'static str = "session.history";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "The last rows of the history above the screen, without empty rows.";
    type Params<'a> = HistoryParams<'a>;
    type Reply = HistoryReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: HistoryParams<'a>,
    ) -> Result<HistoryReply> {
        let pane = context.pane(params.target())?;
        let limit = params.limit.number("limit", 0..=u64::MAX)?.unwrap_or(100);
        let runs = context.lines.runs.clone();
        let texts = blocking(move || history(&pane, limit, &runs)).await?;
        let filled = texts.into_iter().filter(|text| !text.is_empty());
        let entries: Vec<_> = filled.map(|text| HistoryEntry { text }).collect();
        Ok(HistoryReply { count: entries.len(), entries })
    }
}

/// The last rows above the screen. A line that a caller typed is replaced by its original command: its rows become one
/// text per line of the command.
fn history(pane: &Pane, limit: u64, runs: &TypedRuns) -> Vec<String> {
    let (mut lines, start, end, typed) = {
        let term = pane.term();
        let end = term.live_top().0;
        let start = term.oldest().0.max(end.saturating_sub(limit));
        let is_there = |command: &&Command| command.end.is_none_or(|end| end.line.0 >= start);
        let there = term.commands().filter(is_there);
        let at = |it: &Command| Some((it.input?.line, it.ran_as_given()?.clone()));
        let typed: Vec<(LineId, CommandAlias)> = there.filter_map(at).collect();
        (term.lines(), start, end, typed)
    };
    let mut typed = typed.into_iter().peekable();
    let mut texts = Vec::new();
    let mut rows: Vec<String> = Vec::new();
    for line in (start..end).map(LineId) {
        let mut text = String::new();
        lines.row_text(line, &mut text);
        rows.push(text);
        if lines.is_wrapped(line) && line.0 + 1 < end {
            continue;
        }
        let whole = rows.concat();
        // Each command is searched for only in the line where it was typed.
        let here = std::iter::from_fn(|| typed.next_if(|(at, _)| *at <= line));
        let here: Vec<CommandAlias> = here.map(|(_, given)| given).collect();
        match as_given(&whole, &here, Runs::Typed(runs)) {
            Cow::Borrowed(_) => texts.append(&mut rows),
            Cow::Owned(text) => texts.extend(text.lines().map(str::to_owned)),
        }
        rows.clear();
    }
    texts
}
