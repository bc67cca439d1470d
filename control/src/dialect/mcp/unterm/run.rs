//! Runs commands and waits for conditions. Calls that last longer than one request continue, and return a handle.

use std::{borrow::Cow, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use unterm_mux::PaneId;

use super::{
    conditions::{self, AnObject, Conditions},
    many_panes::Panes,
    screen_part::{self, ScreenPart, read_new},
    shown::{MOST_CHARACTERS, line, safe},
};
use crate::{
    dialect::mcp::{
        jobs::{Asking, Job, JobKind, Pending, SLICE, WEEK, Waited},
        last_seen::Screen,
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
    services::shell::run::ExitSource,
};

/// Whether a flag is false. Replies leave out such flags.
fn is_false(value: &bool) -> bool {
    !value
}

/// What to do with a command whose call is canceled: type Ctrl+C, or let it run.
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
    /// As typed at the prompt; may have several lines.
    command: String,
    /// The pane; in every tool, optional if there is only one.
    pane: Option<u64>,
    /// The longest wait; default 50,000. More may end earlier, with a handle.
    timeout_ms: Option<u64>,
    /// Most characters of output; default 20,000. The middle is left out.
    max_chars: Option<usize>,
    /// Do not escape invisible characters, here and in other tools.
    raw: Option<bool>,
    /// If it still runs, return the whole screen, not only changed rows.
    whole: Option<bool>,
    /// If this call is canceled; default interrupt.
    on_cancel: Option<OnCancel>,
}

/// The result of a command. Fields with their default are left out.
#[derive(Default, Serialize, JsonSchema)]
pub struct RunReply {
    /// False: the command still runs. Call wait with the handle.
    ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    /// While the command runs: pass it to wait as since_seq to match only the command's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// Source of the exit code, if not shell integration: marker (printed by the shell after the output) or process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    exit_source: Option<ExitSource>,
    /// The command is a new shell, now at its prompt: run the next commands there.
    #[serde(skip_serializing_if = "is_false")]
    new_shell: bool,
    /// Ctrl+C ended the command.
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    /// Why the exit code is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The part of the output that was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped: Option<Clipped>,
    /// The start of the output is gone: there was too much, or the command erased it.
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    /// The command's number, for block.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// The command asks for a password. Only the user may type it.
    #[serde(skip_serializing_if = "is_false")]
    awaiting_secret: bool,
    /// The command waits for input: answer with `input`, then call `wait` with the handle.
    #[serde(skip_serializing_if = "is_false")]
    awaiting_input: bool,
    /// The command reads the terminal, and asks nothing or nothing that was recognized.
    #[serde(skip_serializing_if = "is_false")]
    reads_input: bool,
    /// A full-screen program, such as an editor or pager, waits for keys.
    #[serde(skip_serializing_if = "is_false")]
    full_screen: bool,
    /// The part of the screen that is new, while the command runs.
    #[serde(flatten)]
    screen: ScreenPart,
}

/// The maximum time until a command is typed or refused, unless its shell is still starting. A call waits at least this
/// long, even if its timeout is shorter.
const DECIDED: Duration = Duration::from_millis(2500);

/// The refusal of a command that could not be typed in time.
const UNTYPED: &str = "Nothing was typed in time: another caller's command runs in the pane, or its shell is still starting. \
    Try again, or use another pane";

/// The maximum value of `max_chars`.
const MOST_ASKED: usize = 200_000;

/// The options for returning a command's output and a screen.
#[derive(Clone, Default)]
pub struct View {
    pub raw: bool,
    pub most: Option<usize>,
    /// Whether to return the whole screen.
    pub is_whole: bool,
    /// Whether to return no part of the screen.
    pub hides_screen: bool,
    /// The screen that changes are computed from if the client never saw the pane.
    pub before: Option<Arc<Screen>>,
}

/// The reply for a command that has ended.
async fn ended(ask: &Ask<'_>, pane: u64, outcome: RunWaitReply, view: View) -> RunReply {
    let View { raw, most, .. } = view;
    // The client receives the command's output in this reply, so the screen counts as seen.
    let _ = screen_part::seen(ask, pane).await;
    let text = safe(outcome.output, raw);
    let most = most.unwrap_or(MOST_CHARACTERS).clamp(1, MOST_ASKED);
    let mut block = outcome.block;
    let mut hint = String::new();
    if let Some(number) = block.filter(|_| is_longer(&text, most)) {
        // If the beginning of the output is gone, the hint would be wrong.
        let params = GetParams { block: number.into(), max_lines: 1.into(), ..GetParams::of(pane) };
        match ask.call::<Get>(params).await {
            Ok(found) if !found.block.cut => hint = format!("; block {number} has them"),
            Ok(_) => {}
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

/// The number of inputs that a pane's program has received.
fn inputs(ask: &Ask<'_>, pane: u64) -> u64 {
    let pane = ask.server.dispatcher.context().mux.pane(PaneId(pane));
    pane.map_or(0, |pane| pane.inputs())
}

/// The reply for a running command.
async fn running(ask: &Ask<'_>, job: &Job, view: View) -> ToolResult<RunReply> {
    job.send_inputs(inputs(ask, job.pane));
    let (state, screen) = read_new(ask, job.pane, view.before, view.is_whole).await?;
    job.send_state(state.seq);
    if state.reads_input && !state.awaiting_input {
        job.send_reads();
    }
    let last = ListParams { limit: 1.into(), ..ListParams::of(job.pane) };
    let last = ask.call::<List>(last).await.ok();
    let last = last.as_ref().and_then(|list| list.blocks.first());
    let begun = last.filter(|block| block.state == State::Running).and_then(|block| block.start);
    // Return `seq` before the start mark, because the first output may have arrived together with the mark. The command
    // line itself does not count for the tool `wait`.
    let begun = begun.map(|seq| seq.saturating_sub(1));
    job.signals.report_left_running();
    Ok(RunReply {
        new_shell: job.signals.take_new_shell(),
        handle: Some(job.send_handle()),
        seq: begun.or(Some(state.seq)),
        awaiting_secret: state.awaiting_secret,
        awaiting_input: state.awaiting_input,
        reads_input: state.reads_input && !state.awaiting_input,
        full_screen: state.full_screen,
        screen,
        ..RunReply::default()
    })
}

tool! {
    Run "run" "Run a command" Acts
    "Run a command in a pane's shell until it ends or waits for input; returns its output and exit code. If ended is false, the command still runs: answer its question with input, then call wait with the handle. Directory and variables persist. Refused if another program would read the command or the prompt holds text."
    example r#"{"command": "make test"}"#
    untrusted ["output", "screen", "changed"]
    (ask, arguments: RunArguments) -> RunReply {
        let RunArguments { command, pane, timeout_ms, max_chars, raw, whole, on_cancel } = arguments;
        let pane = ask.pane(pane).await?;
        let before = screen_part::before(ask, pane).await?;
        let (raw, is_whole) = (raw == Some(true), whole == Some(true));
        let view = View { raw, most: max_chars, is_whole, before, ..View::default() };
        let within = ask.slice(timeout_ms);
        let state = ask.call::<Status>(SessionOnly::of(pane)).await?;
        let (command, timeout_ms) = (command.into(), WEEK.into());
        let params = RunWaitParams { command, timeout_ms, ..RunWaitParams::of(pane) };
        let (job, pending) = ask.begin::<RunWait>(JobKind::Run, pane, params)?;
        let _asking = match on_cancel.unwrap_or_default() {
            OnCancel::Interrupt => Asking::ending(&ask.server.jobs, &job, ask.gone),
            OnCancel::Leave => Asking::new(&ask.server.jobs, &job),
        };
        job.send_state(state.seq);
        // Wait until the command is typed or refused, so that a refusal is reported.
        let begun = Instant::now();
        tokio::select! {
            () = job.signals.typed() => {}
            outcome = ask.finish(&job, &pending, within.max(DECIDED)) => {
                if outcome.is_none() && !job.signals.has_typed() {
                    return Err(UNTYPED.to_owned());
                }
            }
        }
        job.send_inputs(inputs(ask, pane));
        let within = within.saturating_sub(begun.elapsed());
        Ok(state_of(ask, &job, &pending, within, &state, view).await?.into())
    }
}

/// The reply for a command, once it has ended or asks for something, or when `within` has passed.
async fn state_of(
    ask: &Ask<'_>,
    job: &Job,
    pending: &Pending<RunWaitReply>,
    within: Duration,
    state: &StatusReply,
    view: View,
) -> ToolResult<RunReply> {
    let outcome = match finish_or_ask(ask, job, pending, within, state).await {
        Some(outcome) => outcome,
        None => {
            let reply = running(ask, job, view.clone()).await?;
            // The command may have ended while its screen was read. Then the screen already shows the next prompt.
            match ask.finish(job, pending, Duration::ZERO).await {
                Some(outcome) => outcome,
                None => return Ok(reply),
            }
        }
    };
    ask.server.jobs.forget(job);
    Ok(ended(ask, job.pane, outcome?, view).await)
}

/// Starts a command in a pane's shell. Returns the job's handle once the command is typed.
///
/// # Errors
/// The command is refused.
pub async fn start(ask: &Ask<'_>, pane: u64, command: String) -> ToolResult<String> {
    let params = RunWaitParams {
        command: command.into(),
        timeout_ms: WEEK.into(),
        ..RunWaitParams::of(pane)
    };
    let (job, pending) = ask.begin::<RunWait>(JobKind::Run, pane, params)?;
    let asking = Asking::ending(&ask.server.jobs, &job, ask.gone);
    tokio::select! {
        () = job.signals.typed() => {}
        ended = ask.finish(&job, &pending, SLICE) => {
            if let Some(Err(why)) = ended {
                return Err(why);
            }
        }
    }
    let handle = job.send_handle();
    drop(asking);
    Ok(handle)
}

/// The outcome of a command, if it ends in time and before it asks for something. `None` if it asks for something, so
/// that the client can be notified at once. A question that the client has already seen does not count again.
async fn finish_or_ask(
    ask: &Ask<'_>,
    job: &Job,
    pending: &Pending<RunWaitReply>,
    within: Duration,
    state: &StatusReply,
) -> Option<ToolResult<RunWaitReply>> {
    let asks = async {
        let mut since = job.seen(inputs(ask, job.pane));
        loop {
            let mut asked = vec![Awaited::Input(true)];
            if !state.awaiting_secret {
                asked.push(Awaited::Secret(true));
            }
            let asks = WatchParams {
                any: asked.into(),
                since_seq: since.into(),
                timeout_ms: WEEK.into(),
                ..WatchParams::of(job.pane)
            };
            match ask.call::<Watch>(asks).await {
                Ok(seen) if seen.matched => {}
                // The pane has ended, and the command has ended with it.
                _ => std::future::pending().await,
            }
            // The state is checked again, because for a moment, a program that sets up its terminal may look as if it
            // asks for a secret.
            match ask.call::<Status>(SessionOnly::of(job.pane)).await {
                Ok(now)
                    if now.awaiting_input
                        || now.awaiting_secret && !state.awaiting_secret
                        || now.reads_input && !job.sent_reads(inputs(ask, job.pane)) =>
                {
                    return;
                }
                Ok(now) => {
                    // A program that continues to print without input is not waiting, although it reads its terminal.
                    if now.reads_input {
                        since = now.seq;
                    }
                    tokio::task::yield_now().await;
                }
                Err(_) => return,
            }
        }
    };
    tokio::select! {
        biased;
        outcome = ask.finish(job, pending, within) => outcome,
        () = asks => None,
        () = job.signals.new_shell() => None,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitArguments {
    /// The handle from an earlier call; needs no other field.
    handle: Option<String>,
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// Several panes, of which the first wins; [] means all.
    panes: Option<Vec<u64>>,
    /// Until any of these holds.
    #[schemars(with = "Option<Vec<super::conditions::Condition>>")]
    any: Option<Conditions>,
    /// Until each of these has held.
    all: Option<Conditions>,
    /// Match only output after this seq; default: also the screen.
    since_seq: Option<u64>,
    /// Also match prompts and typed command lines.
    include_typed: Option<bool>,
    /// The longest wait; default 50,000.
    timeout_ms: Option<u64>,
    /// If `run` returned the handle: as in `run`.
    max_chars: Option<usize>,
    /// If `run` returned the handle: as in `run`.
    raw: Option<bool>,
    /// Return the whole screen, not only changed rows.
    whole: Option<bool>,
}

/// A condition that held.
#[derive(Serialize, JsonSchema)]
pub struct Met {
    /// The condition's index in the list.
    index: u64,
    /// The matching line or title.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The ended command's number, for `block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// The command's exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// True: the pane's shell reported the command. False: another program did.
    #[serde(skip_serializing_if = "Option::is_none")]
    authentic: Option<bool>,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct WaitReply {
    /// The wait's conditions held.
    matched: bool,
    /// Pass it to wait to continue waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
    /// Of several panes, the pane where the conditions held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pane: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Met>,
    /// Pass it as since_seq to count only later output.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// The pane's program has ended: no other condition can hold.
    #[serde(skip_serializing_if = "is_false")]
    ended: bool,
    /// The program reads the terminal.
    #[serde(skip_serializing_if = "is_false")]
    reads_input: bool,
    #[serde(flatten)]
    screen: ScreenPart,
    /// If `run` returned the handle: the reply of `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnObject>")]
    run: Option<RunReply>,
}

impl WaitReply {
    /// Whether the conditions held.
    pub fn is_matched(&self) -> bool {
        self.matched
    }

    /// Why the conditions did not hold.
    pub fn missing(&self) -> String {
        match self.ended {
            true => "The program has ended".to_owned(),
            false => "The wait timed out".to_owned(),
        }
    }
}

/// Continues to wait for a job, for the time of one more request.
pub async fn go_on(
    ask: &Ask<'_>,
    job: &Job,
    within: Duration,
    view: View,
) -> ToolResult<WaitReply> {
    let _asking = Asking::new(&ask.server.jobs, job);
    let unfinished = || WaitReply { handle: Some(job.send_handle()), ..WaitReply::default() };
    match &job.kind {
        JobKind::Run(pending) => {
            let state = ask.call::<Status>(SessionOnly::of(job.pane)).await?;
            let run = state_of(ask, job, pending, within, &state, view).await?;
            let reply = if run.ended { WaitReply::default() } else { unfinished() };
            Ok(WaitReply { matched: run.ended, run: Some(run), ..reply })
        }
        JobKind::Wait(pending) => {
            let ended = ask.finish(job, pending, within).await;
            if ended.is_some() {
                ask.server.jobs.forget(job);
            }
            let Some(Waited { pane, reply: outcome }) = ended.transpose()? else {
                return match job.others {
                    0 => with_screen(ask, job.pane, view, unfinished()).await,
                    _ => Ok(unfinished()),
                };
            };
            let conditions = outcome.conditions.iter().map(|met| Met {
                index: met.index as u64,
                text: met.text.as_deref().map(line),
                block: met.block,
                exit_code: met.exit_code.map(i64::from),
                authentic: met.authentic,
            });
            let reply = WaitReply {
                matched: outcome.matched,
                pane: (job.others > 0).then_some(pane),
                conditions: conditions.collect(),
                seq: Some(outcome.seq),
                ended: outcome.is_dead,
                ..WaitReply::default()
            };
            with_screen(ask, pane, view, reply).await
        }
        JobKind::Question(_) => Err(of_another_tool(job)),
    }
}

/// Adds the new part of a pane's screen to a reply.
async fn with_screen(
    ask: &Ask<'_>,
    pane: u64,
    view: View,
    reply: WaitReply,
) -> ToolResult<WaitReply> {
    if view.hides_screen {
        return Ok(reply);
    }
    match read_new(ask, pane, view.before, view.is_whole).await {
        Ok((state, screen)) => Ok(WaitReply { reads_input: state.reads_input, screen, ..reply }),
        // The pane was closed.
        Err(_) => Ok(reply),
    }
}

tool! {
    Wait "wait" "Wait" Looks
    "Wait for conditions in a pane, or for a handle's command to end. Returns a handle if the wait is not over in time."
    example r#"{"any": [{"text": "ready"}, {"exit": true}]}"#
    untrusted ["text", "output", "screen", "changed"]
    (ask, arguments: WaitArguments) -> WaitReply {
        let WaitArguments { handle, pane, panes, any, all, since_seq, include_typed, timeout_ms, max_chars, raw, whole } =
            arguments;
        let within = ask.slice(timeout_ms);
        let (raw, is_whole) = (raw == Some(true), whole == Some(true));
        let mut view = View { raw, most: max_chars, is_whole, ..View::default() };
        if let Some(handle) = handle {
            let job = ask.server.jobs.find(ask.caller.connection, &handle);
            let job = job.ok_or_else(|| no_handle(&handle))?;
            return Ok(go_on(ask, &job, within, view).await?.into());
        }
        if any.is_none() && all.is_none() {
            return Err("Give the conditions in `any` or `all`, such as [{\"text\": \"ready\"}], or the `handle` of an earlier call".to_owned());
        }
        let panes = Panes::named(ask, pane, panes).await?;
        if let [pane] = panes.panes[..] {
            view.before = screen_part::before(ask, pane).await?;
        } else if since_seq.is_some() {
            return Err("`since_seq` is of one pane; leave it out with `panes`".to_owned());
        }
        let params = panes.panes.iter().map(|pane| {
            let mut params = conditions::params(*pane, ("any", any.clone()), ("all", all.clone()))?;
            params.since_seq = since_seq.into();
            params.include_typed = (include_typed == Some(true)).into();
            Ok((*pane, params))
        });
        let (job, _) = panes.wait(ask, params.collect::<ToolResult<_>>()?)?;
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

/// The error if a handle belongs to another tool.
pub(super) fn of_another_tool(job: &Job) -> String {
    format!("Call {} with the handle {} to get its result", job.kind.tool(), job.send_handle())
}
