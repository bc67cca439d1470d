//! `session.*`: panes as sessions. A session's id is its pane's number.

mod creation;
mod history;
mod size;
mod state;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Pane, PaneState};

pub(super) use self::creation::create;
pub use self::{
    creation::{Create, CreateParams, CreateReply},
    history::{History, HistoryEntry, HistoryParams, HistoryReply},
    size::{Resize, ResizeParams},
    state::{CursorState, Get, List, ListReply, Listed, ShellState, Status, StatusReply},
};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{SessionOnly, session_params},
};
pub(crate) use crate::offload::blocking;
use crate::{error::Error, services::shell::kind::Activity};

/// The reply of methods that return nothing else.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Acknowledged {
    pub status: Word,
}

impl Acknowledged {
    /// The reply of a call that succeeded.
    pub const OK: Self = Self { status: Word::Borrowed("ok") };
}

/// A pane that work on a blocking thread can own.
pub(in crate::methods) type SharedPane = Arc<Pane>;

/// The number of readable rows: those of the history and of the screen.
pub(super) fn scrollback_rows(term: &unterm_term::Term) -> usize {
    term.history_rows() + usize::from(term.size().rows)
}

/// `session.input`.
pub struct Input;

session_params! {
    /// Text to type, and its session.
    InputParams {
        /// The characters, sent unchanged. Enter is `\r`.
        input: String,
    }
}

/// Executes `session.input` and `exec.send`.
pub(super) fn input(
    context: &Context,
    caller: &Caller,
    params: &InputParams<'_>,
) -> Result<Acknowledged> {
    let pane = context.pane(params.target())?;
    let input = params.input.required("input").map_err(|_| Error::MissingParameter("input"))?;
    context.type_in(caller, &pane, input.as_bytes())?;
    Ok(Acknowledged::OK)
}

impl Method for Input {
    const NAME: &'static str = "session.input";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Types characters into a session unchanged.";
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

/// `session.destroy`.
pub struct Destroy;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct DestroyReply {
    pub status: Word,
    pub destroyed: bool,
}

impl Method for Destroy {
    const NAME: &'static str = "session.destroy";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Ends a session's program and removes the session.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = DestroyReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<DestroyReply> {
        let id = context.pane_for(caller, params.session())?.id();
        let mux = context.mux.clone();
        blocking(move || mux.close_pane(id)).await??;
        Ok(DestroyReply { status: "ok".into(), destroyed: true })
    }
}

/// `session.kill`.
pub struct Kill;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct KillReply {
    /// False: the program had ended already.
    pub killed: bool,
}

impl Method for Kill {
    const NAME: &'static str = "session.kill";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Ends a session's program. A session that was created with a program stays readable.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = KillReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<KillReply> {
        let pane = context.pane_for(caller, params.session())?;
        let killed = pane.state() == PaneState::Running;
        if killed {
            pane.process().kill();
            context.typed(caller, &pane);
        }
        Ok(KillReply { killed })
    }
}

/// `session.idle`.
pub struct Idle;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct IdleReply {
    /// Whether a shell is in the foreground, or the program has ended. All shells that Unterm recognizes count,
    /// including dash, ksh, tcsh and BusyBox's sh. A shell that runs a script in the foreground counts, too;
    /// `session.activity` distinguishes a script from a prompt.
    pub idle: bool,
    pub foreground_process: String,
}

impl Method for Idle {
    const NAME: &'static str = "session.idle";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Whether a session's shell is idle.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = IdleReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<IdleReply> {
        let Activity { idle, process } = Activity::of(&*context.pane(params.session())?);
        Ok(IdleReply { idle, foreground_process: process })
    }
}

/// `session.cwd`.
pub struct Cwd;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CwdReply {
    /// `file:///path`, or `file://host/path` if the shell is on another machine. Empty if unknown.
    pub cwd: String,
}

impl Method for Cwd {
    const NAME: &'static str = "session.cwd";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "The working directory of a session as a file:// URI.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = CwdReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<CwdReply> {
        Ok(CwdReply { cwd: context.pane(params.session())?.cwd_uri() })
    }
}
