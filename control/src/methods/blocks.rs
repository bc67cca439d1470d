//! `block.*`: commands as shell integration reports them, from the prompt to the end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Pane, normalize_file_uri};
use unterm_term::{Command, ScreenKind, Term};

use super::{
    Caller, Context, Group, Method, Result, Subjects, explain::ReplyTexts, params::session_params,
    session::blocking,
};
use crate::{
    error::Error,
    services::{
        at_time,
        line_diff::diff,
        shell::kind::{Runs, TypedRuns, as_given},
    },
};

/// The default number of lines of output in a reply.
const LINES: u64 = 10_000;

/// The state of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum State {
    Prompt,
    Running,
    Done,
    Unknown,
}

/// A command and its place.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Block {
    /// The block's number in its session, from 1.
    pub block: u64,
    /// The block's command line; for exec.run_wait, the command as given. Absent until a line is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The directory in which the command started, in the form that session.cwd returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `prompt`, `running`, `done` or `unknown` (the shell did not report the end).
    pub state: State,
    /// The exit code that the shell reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the pane's shell reported the exit code. Programs can't forge this by their output.
    pub authentic: bool,
    /// The session's `seq` when the prompt began.
    pub prompt_seq: u64,
    /// The session's `seq` when the command began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// The session's `seq` when the command ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// When the command began (RFC 3339, UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// When the command ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// How long the command ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The id of the line in which the prompt begins, valid as long as the line is kept. Absent if the prompt is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_id: Option<u64>,
    /// The beginning of the output is gone: the command erased it, or it is older than the history. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl Block {
    fn of(term: &Term, command: &Command) -> Self {
        let seq = |seq: u64| (seq != 0).then_some(seq);
        Self {
            block: command.id,
            command: command.shown().map(|line| as_given(line, &[], Runs::Shown).into_owned()),
            cwd: command.cwd.as_deref().map(normalize_file_uri),
            state: match command {
                command if command.end_seq != 0 => State::Done,
                command if command.is_running() => State::Running,
                command if command.is_prompting() => State::Prompt,
                _ => State::Unknown,
            },
            exit_code: command.exit_code,
            authentic: command.is_authentic,
            prompt_seq: command.prompt_seq,
            start: seq(command.output_seq),
            end: seq(command.end_seq),
            started_at: at_time(command.output_time),
            ended_at: at_time(command.end_time),
            duration_ms: command.duration(),
            line_id: term.prompt_line(command).map(|line| line.0),
            cut: term.is_cut(command),
        }
    }
}

/// `block.list`.
pub struct List;

session_params! {
    /// A session, and the blocks to list.
    ListParams {
        /// How many of the last blocks to return at most. Default: 50.
        #[serde(default)]
        limit: u64,
        /// Return only blocks that began or ended after this `seq` of the session.
        #[serde(default)]
        since_seq: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    /// The blocks, oldest first.
    pub blocks: Vec<Block>,
    /// The session's current `seq`.
    pub seq: u64,
}

impl Method for List {
    const NAME: &'static str = "block.list";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Lists the last commands of a session. Needs shell integration.";
    type Params<'a> = ListParams<'a>;
    type Reply = ListReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ListParams<'a>,
    ) -> Result<ListReply> {
        let pane = context.pane(params.target())?;
        let limit = params.limit.number("limit", 0..=u64::MAX)?.unwrap_or(50);
        let since = params.since_seq.number("since_seq", 0..=u64::MAX)?.unwrap_or(0);
        let term = pane.term();
        let newest = |command: &&Command| {
            command.prompt_seq.max(command.output_seq).max(command.end_seq) > since
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut blocks: Vec<_> = term
            .commands()
            .rev()
            .filter(newest)
            .take(limit)
            .map(|it| Block::of(&term, it))
            .collect();
        blocks.reverse();
        Ok(ListReply { blocks, seq: term.seq() })
    }
}

/// `block.get`.
pub struct Get;

session_params! {
    /// A session, and one of its blocks.
    GetParams {
        /// The block's number. Default: the last block that has ended.
        #[serde(default)]
        block: u64,
        /// How many of the last lines of output to return at most. Default: 10,000.
        #[serde(default)]
        max_lines: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct GetReply {
    #[serde(flatten)]
    pub block: Block,
    /// The block's output, as the screen shows it. Absent while a full-screen program hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The beginning of the output is missing.
    pub truncated: bool,
}

impl Method for Get {
    const NAME: &'static str = "block.get";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns a command of a session with its output.";
    type Params<'a> = GetParams<'a>;
    type Reply = GetReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: GetParams<'a>,
    ) -> Result<GetReply> {
        let pane = context.pane(params.target())?;
        let block = params.block.number("block", 1..=u64::MAX)?;
        let most = params.max_lines.number("max_lines", 1..=u64::MAX)?.unwrap_or(LINES);
        let runs = context.lines.runs.clone();
        blocking(move || get(&pane, block, most, &runs)).await?
    }
}

/// `block.diff`.
pub struct Diff;

session_params! {
    /// A session, and two of its blocks.
    DiffParams {
        /// The newer block's number. Default: the last block that has ended.
        #[serde(default)]
        block: u64,
        /// The older block's number. Default: the previous block with the same command line.
        #[serde(default)]
        with: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct DiffReply {
    /// The newer block.
    pub block: Block,
    /// The older block.
    pub with: Block,
    /// The differences between their outputs, with secrets removed. Each line begins with a blank (in both outputs), `-`
    /// (only in the older one) or `+` (only in the newer one). `@@` stands for lines that are left out. Empty: the
    /// outputs are equal.
    pub lines: Vec<String>,
    /// The beginning of an output is missing, so it was not compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Method for Diff {
    const NAME: &'static str = "block.diff";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Compares the output of a command with the output of its previous run in the session.";
    type Params<'a> = DiffParams<'a>;
    type Reply = DiffReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: DiffParams<'a>,
    ) -> Result<DiffReply> {
        let pane = context.pane(params.target())?;
        let block = params.block.number("block", 1..=u64::MAX)?;
        let with = params.with.number("with", 1..=u64::MAX)?;
        let (runs, home) = (context.lines.runs.clone(), context.registration.home().to_owned());
        blocking(move || {
            let newer = get(&pane, block, LINES, &runs)?;
            let with = match with {
                Some(with) => with,
                None => previous_run(&pane, &newer.block)?,
            };
            let older = get(&pane, Some(with), LINES, &runs)?;
            let mut shown = ReplyTexts::of(&home)?;
            let text = |output: Option<String>, shown: &mut ReplyTexts| {
                output.map(|text| shown.text(&text)).ok_or_else(|| {
                    Error::Failed("A full-screen program hides the output".to_owned())
                })
            };
            let (old, new) = (text(older.output, &mut shown)?, text(newer.output, &mut shown)?);
            Ok(DiffReply {
                lines: diff(&old, &new),
                truncated: older.truncated || newer.truncated,
                block: newer.block,
                with: older.block,
            })
        })
        .await?
    }
}

/// The number of the last block before `block` that has ended and has the same command line.
fn previous_run(pane: &Pane, block: &Block) -> Result<u64> {
    let term = pane.term();
    let is_same = |command: &&Command| {
        let line = command.shown().map(|line| as_given(line, &[], Runs::Shown));
        command.id < block.block
            && command.end_seq != 0
            && line.as_deref() == block.command.as_deref()
    };
    let found = term.commands().rev().find(is_same).map(|command| command.id);
    found.ok_or_else(|| {
        let (id, number) = (pane.id().0, block.block);
        Error::Failed(format!("Session {id} has no earlier run of the command of block {number}"))
    })
}

fn get(pane: &Pane, block: Option<u64>, most: u64, runs: &TypedRuns) -> Result<GetReply> {
    let (block, (output, truncated)) = {
        let term = pane.term();
        let command = match block {
            Some(block) => term.command(block),
            None => term.commands().rev().find(|command| command.end_seq != 0),
        };
        let missing = || Error::NoBlock { id: pane.id().0, block };
        let command = command.ok_or_else(missing)?;
        (Block::of(&term, command), output(&term, command, most))
    };
    // Converting a long text takes time, so first unlock the terminal: the program can then write output meanwhile.
    let output = output.map(|text| as_given(&text, &[], Runs::Typed(runs)).into_owned());
    Ok(GetReply { block, output, truncated })
}

/// The last rows of a command's output, at most `most` of them, and whether earlier rows are missing.
fn output(term: &Term, command: &Command, most: u64) -> (Option<String>, bool) {
    if term.screen() == ScreenKind::Alternate {
        return (None, false);
    }
    let mut truncated = term.is_cut(command);
    let Some(mut range) = term.output_range(command.id) else {
        return (Some(String::new()), truncated);
    };
    let first = range.end.line.0.saturating_sub(most - 1);
    if range.start.line.0 < first {
        range.start.line.0 = first;
        range.start.col = 0;
        truncated = true;
    }
    (Some(term.text(range)), truncated)
}
