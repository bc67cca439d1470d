//! `exec.*`: commands in a session's shell.

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use unterm_mux::Pane;

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{SessionOnly, session_params},
    session::{Acknowledged, InputParams, input},
};
use crate::{
    caller::Capabilities,
    error::Error,
    services::{
        pane::wait,
        records::audit::CallOutcome,
        shell::{
            echoes::BeforeTyping,
            kind::{Activity, Marks},
            run::{self, Ending, ExitSource, Typist},
        },
    },
};

/// Ctrl+C.
const INTERRUPT: &[u8] = b"\x03";

/// `exec.run`.
pub struct Run;

session_params! {
    /// A command and its session.
    RunParams {
        /// The command, as typed at the prompt.
        command: String,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RunReply {
    pub sent: bool,
}

impl Method for Run {
    const NAME: &'static str = "exec.run";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Types a command and Enter. Does not wait for its end.";
    type Params<'a> = RunParams<'a>;
    type Reply = RunReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: RunParams<'a>,
    ) -> Result<RunReply> {
        let pane = context.pane(params.target())?;
        let command = params.command.required("command")?;
        context.enter(caller, &pane, &command)?;
        Ok(RunReply { sent: true })
    }
}

/// `exec.send`, an alias of `session.input`.
pub struct Send;

impl Method for Send {
    const NAME: &'static str = "exec.send";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "An alias of session.input.";
    type Params<'a> = InputParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: InputParams<'a>,
    ) -> Result<Acknowledged> {
        input(context, caller, &params)
    }
}

/// `exec.run_wait`.
pub struct RunWait;

session_params! {
    /// A command, its session, and how long to wait for its end.
    RunWaitParams {
        /// The command, as typed at the prompt. May have several lines.
        command: String,
        /// How long to wait, in milliseconds, for other callers' commands in the session and for this one. Default: 30,000.
        #[serde(default)]
        timeout_ms: u64,
        /// `true`: if a program runs, types the command ahead, so that the program may read it. `false`: refuses unless a shell
        /// or ssh waits for a command. Default: true; for agents always false.
        #[serde(default)]
        type_ahead: bool,
    }
}

/// Whether a command ended in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ExitStatus {
    Completed,
    Timeout,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunWaitReply {
    /// The command's output, without the last line end.
    pub output: String,
    /// `completed` or `timeout`.
    pub exit_status: ExitStatus,
    /// Whether the command was still running when the wait timed out.
    pub timed_out: bool,
    /// The mark that the shell prints after the output.
    pub marker: String,
    /// The command's exit code, if it was reported.
    pub exit_code: Option<i32>,
    /// The source of the exit code: `block`, the shell's integration; `marker`, the mark after the output; `process`, the
    /// system, because the command ended the shell.
    pub exit_source: Option<ExitSource>,
    /// Ctrl+C ended the command. If there is no exit code, the shell dropped the whole line.
    pub interrupted: bool,
    /// Why the wait ended before the command's end was reported: the shell is back at a prompt, or a new shell is at
    /// its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Word>,
    /// `true`: the command started a new shell, which is at its prompt. Further commands run in the new shell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_shell: bool,
    /// The beginning of the output is missing: the output was too long, or the command erased it.
    pub truncated: bool,
    /// The number of the command for block.get, if the shell's integration marks commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
}

impl Method for RunWait {
    const NAME: &'static str = "exec.run_wait";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::SESSION;
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Runs a command in a session's shell, waits for its end and returns its output.";
    const LASTS: bool = true;
    type Params<'a> = RunWaitParams<'a>;
    type Reply = RunWaitReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: RunWaitParams<'a>,
    ) -> Result<RunWaitReply> {
        let pane = context.pane(params.target())?;
        let command = params.command.required("command")?;
        if command.contains('\0') {
            // The shell would run only the part before the NUL.
            return Err(Error::Invalid {
                name: "command",
                expected: "text without a NUL character".to_owned(),
                got: "one at byte ".to_owned()
                    + &command.find('\0').unwrap_or_default().to_string(),
            });
        }
        let timeout = params.timeout_ms.number("timeout_ms", 0..=u64::MAX)?.unwrap_or(30_000);
        let type_ahead = params.type_ahead.value("type_ahead", "true or false")?.unwrap_or(true);
        let typist = ForCaller::new(context, caller, &pane, &command);
        typist.admit()?;
        // Scripts may type ahead into a running program. Agents may not: each of their commands runs by itself.
        let is_careful = !type_ahead || caller.has(Capabilities::GIVES_WAY);
        let deadline = wait::deadline(Instant::now(), Duration::from_millis(timeout));
        let turn = context.lines.run_turns.turn(pane.id(), deadline).await;
        let turn = turn.ok_or_else(|| Error::busy(pane.id().0, run::OTHERS))?;
        let outcome = {
            let mut run = pin!(run::run(&pane, &command, deadline, is_careful, &typist));
            tokio::select! {
                outcome = &mut run => outcome,
                () = caller.signals.left_running() => {
                    drop(turn);
                    run.await
                }
            }
        };
        typist.is_typed.store(false, Ordering::Relaxed);
        let outcome = outcome?;
        Ok(RunWaitReply {
            output: outcome.output,
            exit_status: match outcome.ending {
                Ending::TimedOut => ExitStatus::Timeout,
                _ => ExitStatus::Completed,
            },
            timed_out: outcome.ending == Ending::TimedOut,
            interrupted: outcome.interrupted,
            reason: outcome.ending.reason().map(Into::into),
            new_shell: outcome.ending == Ending::NewShell,
            marker: outcome.marker,
            exit_code: outcome.exit_code,
            exit_source: outcome.exit_source,
            truncated: outcome.truncated,
            block: outcome.block,
        })
    }
}

/// The caller of a command that is typed into a pane. If the caller cancels its call while the command runs, Ctrl+C is
/// typed.
struct ForCaller<'a> {
    context: &'a Context,
    caller: &'a Caller,
    pane: &'a Pane,
    command: &'a str,
    /// Whether the command was typed and has not ended.
    is_typed: AtomicBool,
    /// The state of the pane before the command was typed, to recognize the command's echo.
    place: Mutex<Option<BeforeTyping>>,
}

impl<'a> ForCaller<'a> {
    fn new(context: &'a Context, caller: &'a Caller, pane: &'a Pane, command: &'a str) -> Self {
        Self {
            context,
            caller,
            pane,
            command,
            is_typed: AtomicBool::new(false),
            place: Mutex::default(),
        }
    }
}

impl Typist for ForCaller<'_> {
    fn admit(&self) -> Result<()> {
        *self.place.lock() = BeforeTyping::of(self.pane);
        self.context.authority.command(self.caller, self.pane, self.command)
    }

    fn goes_on_in_new_shell(&self) -> bool {
        self.caller.signals.report_new_shell()
    }

    fn typed(&self, marks: &Marks, text: &str) {
        self.is_typed.store(true, Ordering::Relaxed);
        self.context.lines.runs.add(marks);
        if let Some(place) = self.place.lock().take() {
            self.context.lines.echoes.add_lines(self.pane, place, text);
        }
        self.context.lines.refused_lines.entered(self.pane.id());
        self.context.typed(self.caller, self.pane);
        self.caller.signals.report_typed();
    }
}

impl Drop for ForCaller<'_> {
    fn drop(&mut self) {
        if !self.is_typed.load(Ordering::Relaxed) || !self.caller.signals.is_canceled() {
            return;
        }
        let typed = self.context.type_in(self.caller, self.pane, INTERRUPT);
        let outcome = typed.as_ref().err().map_or(CallOutcome::Done, Error::outcome);
        let (session, client) = (self.pane.id().0.to_string(), self.caller.client.clone());
        self.context.records.audit.add(
            Cancel::NAME,
            session,
            "its call was canceled",
            outcome,
            client,
        );
    }
}

/// `exec.status`.
pub struct Status;

/// Whether a session's shell is waiting for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum State {
    Idle,
    Running,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StatusReply {
    /// `idle`, if `session.idle` is true: a shell of any kind is in the foreground, or the program has ended. Else `running`.
    pub status: State,
    pub foreground_process: String,
}

impl Method for Status {
    const NAME: &'static str = "exec.status";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Whether a session is idle or running, and its foreground program.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = StatusReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<StatusReply> {
        let Activity { idle, process } = Activity::of(&*context.pane(params.session())?);
        let status = if idle { State::Idle } else { State::Running };
        Ok(StatusReply { status, foreground_process: process })
    }
}

/// `exec.cancel`.
pub struct Cancel;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CancelReply {
    pub cancelled: bool,
}

impl Method for Cancel {
    const NAME: &'static str = "exec.cancel";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Types Ctrl+C.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = CancelReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<CancelReply> {
        context.type_in(caller, &*context.pane(params.session())?, INTERRUPT)?;
        Ok(CancelReply { cancelled: true })
    }
}
