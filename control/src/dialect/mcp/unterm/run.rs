//! Running commands, and waiting: what takes longer than one request goes on, and is asked for again by its handle.

use std::{borrow::Cow, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    conditions::{self, AnObject, Conditions},
    screen,
    shown::{MOST_CHARACTERS, line, safe},
};
use crate::{
    dialect::mcp::{
        jobs::{Asking, Job, Kind, Pending, WEEK, slice},
        tool::{Ask, ToolResult, tool},
        untrusted::{Clipped, clipped, is_longer},
    },
    methods::{
        blocks::{Get, GetParams, List, ListParams, State},
        exec::{RunWait, RunWaitParams, RunWaitReply},
        params::SessionOnly,
        session::{Status, StatusReply},
        wait::{Awaited, Watch, WatchParams},
    },
    services::run::ExitSource,
};

/// Whether a flag has its usual value, with which replies leave it out.
fn is_false(value: &bool) -> bool {
    !value
}

/// What becomes of a command whose call is cancelled: Ctrl+C is typed, or it goes on.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnCancel {
    #[default]
    Interrupt,
    Leave,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunArguments {
    /// As one types it at the prompt; may have several lines.
    command: String,
    /// The pane; in every tool not needed when there is only one.
    pane: Option<u64>,
    /// How long this call waits; 50,000, the most. The command goes on.
    timeout_ms: Option<u64>,
    /// The most characters of output; 20,000. Of more, both ends are given.
    max_chars: Option<usize>,
    /// Give invisible characters as they are, not as escapes.
    raw: Option<bool>,
    /// What cancelling this call does to the command; interrupt.
    on_cancel: Option<OnCancel>,
}

/// The result of a command. Fields with their usual value are left out.
#[derive(Default, Serialize, JsonSchema)]
pub struct RunReply {
    /// False: it still runs; ask again by wait with the handle.
    ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    /// While it runs: a since_seq for wait, from which on its output counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// Source of the exit code, if not the shell's integration: marker (printed by the shell behind the output) or process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    exit_source: Option<ExitSource>,
    /// Ctrl+C ended it.
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    /// Why its end is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What is missing of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped: Option<Clipped>,
    /// The output's beginning is lost: there was too much of it.
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    /// Its number, for block.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// It asks for a password, which only the person may type.
    #[serde(skip_serializing_if = "is_false")]
    awaiting_secret: bool,
    /// It waits for input: answer by `input`, then `wait` with the handle.
    #[serde(skip_serializing_if = "is_false")]
    awaiting_input: bool,
    /// It shows a full screen (an editor, a pager) and waits for keys.
    #[serde(skip_serializing_if = "is_false")]
    full_screen: bool,
    /// While it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
}

/// The most characters of output that may be asked for.
const MOST_ASKED: usize = 200_000;

/// How a command's output is given.
#[derive(Clone, Copy, Default)]
pub struct View {
    raw: bool,
    most: Option<usize>,
}

/// The reply for a command that has ended.
async fn ended(ask: &Ask<'_>, pane: u64, outcome: RunWaitReply, view: View) -> RunReply {
    let View { raw, most } = view;
    let text = safe(outcome.output, raw);
    let most = most.unwrap_or(MOST_CHARACTERS).clamp(1, MOST_ASKED);
    let mut block = outcome.block;
    let mut hint = String::new();
    if let Some(number) = block.filter(|_| is_longer(&text, most)) {
        // What was longer than the history is there no more.
        let params = GetParams { block: number.into(), max_lines: 1.into(), ..GetParams::of(pane) };
        match ask.call::<Get>(params).await {
            Ok(_) => hint = format!("; block {number} has them"),
            Err(_) => block = None,
        }
    }
    let (output, clipped) = clipped(text, most, &hint);
    RunReply {
        ended: true,
        output: Some(output),
        exit_code: outcome.exit_code.map(i64::from),
        exit_source: outcome.exit_source.filter(|source| *source != ExitSource::Block),
        interrupted: outcome.interrupted,
        reason: outcome.reason.map(Cow::into_owned),
        clipped,
        truncated: outcome.truncated,
        block,
        ..RunReply::default()
    }
}

/// The reply for a command that still runs.
async fn running(ask: &Ask<'_>, job: &Job) -> ToolResult<RunReply> {
    let (state, text) = screen::state(ask, job.pane).await?;
    job.tell_state(state.seq);
    let last = ListParams { limit: 1.into(), ..ListParams::of(job.pane) };
    let last = ask.call::<List>(last).await.ok();
    let last = last.as_ref().and_then(|list| list.blocks.first());
    let begun = last.filter(|block| block.state == State::Running).and_then(|block| block.start);
    // Its first output may have come together with its beginning. Its command line does not count for wait.
    let begun = begun.map(|seq| seq.saturating_sub(1));
    Ok(RunReply {
        handle: Some(job.tell_handle()),
        seq: begun.or(Some(state.seq)),
        awaiting_secret: state.awaiting_secret,
        awaiting_input: state.awaiting_input,
        full_screen: state.full_screen,
        screen: Some(text),
        ..RunReply::default()
    })
}

tool! {
    Run "run" "Run a command" Acts
    "Run a command in a pane's shell until it ends or waits for input; gives its output and exit code. If ended is false, it goes on: answer what it asks by input, then call wait with the handle. The shell stays: directories and variables last. Refused, with nothing typed, while a program would read it or a line stands at the prompt."
    example r#"{"command": "make test"}"#
    untrusted ["output", "screen"]
    (ask, arguments: RunArguments) -> RunReply {
        let RunArguments { command, pane, timeout_ms, max_chars, raw, on_cancel } = arguments;
        let pane = ask.pane(pane).await?;
        let within = slice(timeout_ms);
        let state = ask.call::<Status>(SessionOnly::of(pane)).await?;
        let (command, timeout_ms) = (command.into(), WEEK.into());
        let params = RunWaitParams { command, timeout_ms, ..RunWaitParams::of(pane) };
        let (job, pending) = ask.begin::<RunWait>(Kind::Run, pane, params)?;
        let ends = on_cancel.unwrap_or_default() == OnCancel::Interrupt;
        let _asking = Asking { jobs: &ask.server.jobs, job: &job, ends };
        job.tell_state(state.seq);
        match finish_or_ask(ask, &job, &pending, within, &state).await {
            Some(outcome) => {
                ask.server.jobs.forget(&job);
                let view = View { raw: raw == Some(true), most: max_chars };
                Ok(ended(ask, pane, outcome?, view).await.into())
            }
            None => Ok(running(ask, &job).await?.into()),
        }
    }
}

/// The outcome of a command, if it ends in time and before it asks for something. `None` lets the client report the question
/// at once. A question that stood in the pane's state when the client last received it does not count again.
async fn finish_or_ask(
    ask: &Ask<'_>,
    job: &Job,
    pending: &Pending<RunWaitReply>,
    within: Duration,
    state: &StatusReply,
) -> Option<ToolResult<RunWaitReply>> {
    let asks = async {
        loop {
            let mut asked = vec![Awaited::Input(true)];
            if !state.awaiting_secret {
                asked.push(Awaited::Secret(true));
            }
            let asks = WatchParams {
                any: asked.into(),
                since_seq: job.seen().into(),
                timeout_ms: WEEK.into(),
                ..WatchParams::of(job.pane)
            };
            match ask.call::<Watch>(asks).await {
                Ok(seen) if seen.matched => {}
                // The pane has ended, and the command with it.
                _ => std::future::pending().await,
            }
            // A program that sets up its terminal may look for a moment as if it read a secret.
            match ask.call::<Status>(SessionOnly::of(job.pane)).await {
                Ok(now) if now.awaiting_input || now.awaiting_secret && !state.awaiting_secret => {
                    return;
                }
                Ok(_) => tokio::task::yield_now().await,
                Err(_) => return,
            }
        }
    };
    tokio::select! {
        biased;
        outcome = ask.finish(job, pending, within) => outcome,
        () = asks => None,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitArguments {
    /// What an earlier call gave, to go on waiting for that; nothing else is needed then.
    handle: Option<String>,
    /// The pane; not needed when there is only one.
    pane: Option<u64>,
    /// Conditions of which one has to be true.
    #[schemars(with = "Option<Vec<super::conditions::Condition>>")]
    any: Option<Conditions>,
    /// Conditions as in any that have to be true all, each at some time.
    all: Option<Conditions>,
    /// Only what came after this seq of the pane counts. Absent: what is on the screen counts too.
    since_seq: Option<u64>,
    /// Texts count in prompts and typed command lines too; false.
    include_typed: Option<bool>,
    /// How long this call waits; 50,000, the most.
    timeout_ms: Option<u64>,
    /// For a handle of run, as there.
    max_chars: Option<usize>,
    /// For a handle of run, as there.
    raw: Option<bool>,
}

/// A condition that came true.
#[derive(Serialize, JsonSchema)]
pub struct Met {
    /// Its place in the list, from 0.
    index: u64,
    /// The line, or the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The command that ended, for `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// True: the pane's shell reported it. False: a program did, for a command of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    authentic: Option<bool>,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct WaitReply {
    /// What was waited for has come.
    matched: bool,
    /// To go on waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Met>,
    /// A since_seq for what comes after.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// The pane's program has ended: what has not come never comes.
    #[serde(skip_serializing_if = "is_false")]
    ended: bool,
    /// For a handle of run: as its reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnObject>")]
    run: Option<RunReply>,
}

/// Goes on with a wait or a command for one more slice.
pub async fn go_on(
    ask: &Ask<'_>,
    job: &Job,
    within: Duration,
    view: View,
) -> ToolResult<WaitReply> {
    let _asking = Asking::new(&ask.server.jobs, job);
    let unfinished = || WaitReply { handle: Some(job.tell_handle()), ..WaitReply::default() };
    match &job.kind {
        Kind::Run(pending) => {
            let state = ask.call::<Status>(SessionOnly::of(job.pane)).await?;
            let Some(outcome) = finish_or_ask(ask, job, pending, within, &state).await else {
                let reply = unfinished();
                return Ok(WaitReply { run: Some(running(ask, job).await?), ..reply });
            };
            ask.server.jobs.forget(job);
            let run = ended(ask, job.pane, outcome?, view).await;
            Ok(WaitReply { matched: true, run: Some(run), ..WaitReply::default() })
        }
        Kind::Wait(pending) => {
            let Some(outcome) = ask.finish(job, pending, within).await else {
                return Ok(unfinished());
            };
            ask.server.jobs.forget(job);
            let outcome = outcome?;
            let conditions = outcome.conditions.iter().map(|met| Met {
                index: met.index as u64,
                text: met.text.as_deref().map(line),
                block: met.block,
                exit_code: met.exit_code.map(i64::from),
                authentic: met.authentic,
            });
            Ok(WaitReply {
                matched: outcome.matched,
                conditions: conditions.collect(),
                seq: Some(outcome.seq),
                ended: outcome.is_dead,
                ..WaitReply::default()
            })
        }
        Kind::Question(_) => Err(of_another_tool(job)),
    }
}

tool! {
    Wait "wait" "Wait" Looks
    "Wait until a pane shows or does something, or until what a handle stands for has ended. Returns after 50 seconds at the latest, then with a handle to call again with."
    example r#"{"any": [{"text": "ready"}, {"exit": true}]}"#
    untrusted ["text", "output", "screen"]
    (ask, arguments: WaitArguments) -> WaitReply {
        let WaitArguments { handle, pane, any, all, since_seq, include_typed, timeout_ms, max_chars, raw } =
            arguments;
        let within = slice(timeout_ms);
        let view = View { raw: raw == Some(true), most: max_chars };
        if let Some(handle) = handle {
            let job = ask.server.jobs.find(ask.caller.connection, &handle);
            let job = job.ok_or_else(|| no_handle(&handle))?;
            return Ok(go_on(ask, &job, within, view).await?.into());
        }
        if any.is_none() && all.is_none() {
            return Err("Say in `any` or `all` what to wait for, such as [{\"text\": \"ready\"}], or give a `handle` to go on waiting".to_owned());
        }
        let pane = ask.pane(pane).await?;
        let mut params = conditions::params(pane, ("any", any), ("all", all))?;
        params.since_seq = since_seq.into();
        params.include_typed = (include_typed == Some(true)).into();
        let (job, _) = ask.begin::<Watch>(Kind::Wait, pane, params)?;
        Ok(go_on(ask, &job, within, view).await?.into())
    }
}

/// The error for an unknown handle.
fn no_handle(handle: &str) -> String {
    format!(
        "There is no handle {}: its result was already returned, or its call never began. `block` reads what a command printed, `screen` what the pane shows",
        line(&format!("{handle:?}"))
    )
}

/// The error for a handle that another tool gave and takes.
pub(super) fn of_another_tool(job: &Job) -> String {
    format!("{} takes the handle {}, and gives the result", job.kind.tool(), job.tell_handle())
}
