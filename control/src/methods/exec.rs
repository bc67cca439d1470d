//! `exec.*`: commands in a session's shell.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::Pane;

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{SessionOnly, session_params},
    session::{Done, InputParams, input},
};
use crate::{
    caller::Capabilities,
    error::Error,
    services::{
        audit::Outcome,
        echoes::Place,
        run::{self, Ending, ExitSource, Typist},
        shell::{Activity, BEGIN, Marks},
    },
};

/// Ctrl+C.
const INTERRUPT: &[u8] = b"\x03";

/// `exec.run`.
pub struct Run;

session_params! {
    /// A command, and where to run it.
    RunParams {
        /// The command, as one would type it.
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
    const DOC: &'static str = "Types a command and Enter, and does not wait.";
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

/// `exec.send`, another name of `session.input`.
pub struct Send;

impl Method for Send {
    const NAME: &'static str = "exec.send";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "The same as session.input.";
    type Params<'a> = InputParams<'a>;
    type Reply = Done;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: InputParams<'a>,
    ) -> Result<Done> {
        input(context, caller, &params)
    }
}

/// `exec.run_wait`.
pub struct RunWait;

session_params! {
    /// A command, where to run it, and how long to wait for it.
    RunWaitParams {
        /// The command, as one would type it; may have several lines.
        command: String,
        /// How long to wait, in milliseconds; 30,000.
        #[serde(default)]
        timeout_ms: u64,
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
    /// What the command printed, without its last line end.
    pub output: String,
    /// `completed` or `timeout`.
    pub exit_status: ExitStatus,
    /// The command still runs.
    pub timed_out: bool,
    /// What the shell prints behind the output.
    pub marker: String,
    /// The command's exit code, where somebody tells.
    pub exit_code: Option<i32>,
    /// Who told: `block`, the shell's integration; `marker`, the shell, behind the output; `process`, the system, since
    /// the command ended the shell.
    pub exit_source: Option<ExitSource>,
    /// Ctrl+C ended the command. Without an exit code, the shell gave up the whole line.
    pub interrupted: bool,
    /// Why nobody will tell of the command's end, where the shell is back at a prompt without having told of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Word>,
    /// There was too much output; its beginning is missing.
    pub truncated: bool,
    /// The command as block.get knows it, where the shell's integration marks it.
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
            // The shell would run the part before it.
            return Err(Error::Invalid {
                name: "command",
                expected: "text without a NUL character".to_owned(),
                got: "one at byte ".to_owned()
                    + &command.find('\0').unwrap_or_default().to_string(),
            });
        }
        let timeout = params.timeout_ms.number("timeout_ms", 0..=u64::MAX)?.unwrap_or(30_000);
        let typist = ForCaller::new(context, caller, &pane, &command);
        typist.admit()?;
        // Scripts type ahead into what runs, as documented; agents are promised a command of their own.
        let is_careful = caller.has(Capabilities::GIVES_WAY);
        let timeout = Duration::from_millis(timeout);
        let outcome = run::run(&pane, &command, timeout, is_careful, &typist).await;
        typist.is_typed.store(false, Ordering::Relaxed);
        let outcome = outcome?;
        Ok(RunWaitReply {
            output: outcome.output,
            exit_status: match outcome.ending {
                Ending::Completed | Ending::Interrupted | Ending::Lost(_) => ExitStatus::Completed,
                Ending::TimedOut => ExitStatus::Timeout,
            },
            timed_out: outcome.ending == Ending::TimedOut,
            interrupted: outcome.interrupted,
            reason: match outcome.ending {
                Ending::Lost(lost) => Some(lost.reason().into()),
                _ => None,
            },
            marker: outcome.marker,
            exit_code: outcome.exit_code,
            exit_source: outcome.exit_source,
            truncated: outcome.truncated,
            block: outcome.block,
        })
    }
}

/// A caller whose command is typed into a pane. If its call is taken back while the command runs, the command is interrupted.
struct ForCaller<'a> {
    context: &'a Context,
    caller: &'a Caller,
    pane: &'a Pane,
    command: &'a str,
    /// The command was typed and has not ended.
    is_typed: AtomicBool,
    /// Where the program would show it.
    place: Mutex<Option<Place>>,
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
        *self.place.lock() = Place::of(self.pane);
        self.context.authority.command(self.caller, self.pane, self.command)
    }

    fn typed(&self, marks: &Marks) {
        self.is_typed.store(true, Ordering::Relaxed);
        self.context.runs.add(marks);
        if let Some(place) = *self.place.lock() {
            self.context.echoes.add_line(self.pane, place, BEGIN);
        }
        self.context.typed(self.caller, self.pane);
    }
}

impl Drop for ForCaller<'_> {
    fn drop(&mut self) {
        if !self.is_typed.load(Ordering::Relaxed) || !self.caller.cancel.is_set() {
            return;
        }
        let typed = self.context.type_in(self.caller, self.pane, INTERRUPT);
        let outcome = typed.as_ref().err().map_or(Outcome::Done, Error::outcome);
        let (session, client) = (self.pane.id().0.to_string(), self.caller.client.clone());
        self.context.audit.add(Cancel::NAME, session, "its call was cancelled", outcome, client);
    }
}

/// `exec.status`.
pub struct Status;

/// Whether a session's shell waits for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum State {
    Idle,
    Running,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StatusReply {
    /// `idle` or `running`.
    pub status: State,
    pub foreground_process: String,
}

impl Method for Status {
    const NAME: &'static str = "exec.status";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Whether a session is idle or running, and what is in its foreground.";
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
