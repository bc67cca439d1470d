//! `session.list`, `session.get` and its other name: what is known of sessions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{ExitStatus, Pane, PaneState};

use super::scrollback_rows;
use crate::{
    methods::{
        Caller, Context, Group, Method, Result, Subjects, Word,
        params::{NoParams, SessionOnly},
    },
    services::{
        awaited::{Awaited, awaited},
        reports::{ProgramReport, ProgressReport},
        secret,
        shell::{Activity, Shell},
    },
};

/// Where the cursor is on the live screen.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CursorState {
    /// Column from the left.
    pub x: u16,
    /// Row from the top.
    pub y: u16,
    /// Whether it is shown.
    pub visible: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ShellState {
    /// `powershell`, `cmd`, `bash`, `zsh`, `fish`, `nushell` or `unknown`.
    pub shell_type: Word,
    pub process_name: String,
    /// A `file://` URI, empty when nobody knows.
    pub cwd: String,
}

impl ShellState {
    fn of(pane: &Pane) -> Self {
        let process_name = Activity::of(pane).process;
        Self {
            shell_type: Shell::kind(Shell::of_process(&process_name)).into(),
            process_name,
            cwd: pane.cwd_uri(),
        }
    }
}

/// `session.list`.
pub struct List;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    pub sessions: Vec<Listed>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Listed {
    pub id: u64,
    pub title: String,
    pub cols: u16,
    pub rows: u16,
    pub cursor: CursorState,
    pub is_dead: bool,
    pub domain_id: u32,
    pub shell: ShellState,
    /// Its terminal's device, such as `/dev/pts/3`; empty where there is none.
    pub tty: String,
    /// Its program asks for a secret, as for a password; absent: it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaiting_secret: bool,
    /// Its program waits for input; absent: it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaiting_input: bool,
}

impl Method for List {
    const NAME: &'static str = "session.list";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::REACHED;
    const DOC: &'static str = "Every session, in the order they were opened.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = ListReply;

    async fn call<'a>(context: &'a Context, caller: &'a Caller, _: NoParams) -> Result<ListReply> {
        let panes = context.mux.panes();
        let reached = panes.iter().filter(|pane| caller.reaches(pane.id().0));
        let sessions = reached.map(|pane| {
            let (size, cursor) = {
                let term = pane.term();
                (term.size(), term.cursor())
            };
            Listed {
                id: pane.id().0,
                title: pane.title(),
                cols: size.cols,
                rows: size.rows,
                cursor: CursorState { x: cursor.col, y: cursor.row, visible: cursor.visible },
                is_dead: pane.state() != PaneState::Running,
                domain_id: 0,
                shell: ShellState::of(pane),
                tty: pane.process().tty().map_or(String::new(), |tty| tty.display().to_string()),
                awaiting_secret: secret::is_asked(pane),
                awaiting_input: awaited(pane).is_some(),
            }
        });
        Ok(ListReply { sessions: sessions.collect() })
    }
}

/// `session.get`, and by another name `session.status`.
pub struct Get;
/// See [`Get`].
pub struct Status;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StatusReply {
    pub id: u64,
    pub title: String,
    pub cols: u16,
    pub rows: u16,
    /// Rows of history above the screen, and the screen's.
    pub scrollback_rows: usize,
    pub cursor: CursorState,
    /// The program has ended.
    pub is_dead: bool,
    pub domain_id: u32,
    pub shell: ShellState,
    /// The program ended by itself, with this code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The program was ended by the signal of this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i32>,
    /// Its program asks for a secret, as for a password.
    pub awaiting_secret: bool,
    /// Its program waits for input: for the answer to a question, or, if it shows a full screen, for keys. False where the
    /// system does not tell.
    pub awaiting_input: bool,
    /// It shows a full screen, and waits for keys; absent: it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_screen: bool,
    /// What its programs set by OSC 1337 SetUserVar, if they did: text of theirs, to be trusted as little as its output.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub user_vars: BTreeMap<String, String>,
    /// How far something is, by OSC 9;4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<ProgressReport>,
    /// What its programs say they do, by OSC 7501, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramReport>,
    /// How far its output has got: what `since_seq` counts in.
    pub seq: u64,
}

fn status(pane: &Pane) -> StatusReply {
    let (size, cursor, scrollback_rows, user_vars, reports, seq) = {
        let term = pane.term();
        let user_vars = term.user_vars().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let reports = (ProgressReport::of(&term), ProgramReport::all(&term));
        (
            term.size(),
            term.cursor(),
            scrollback_rows(&term),
            user_vars.collect(),
            reports,
            term.seq(),
        )
    };
    let (progress, programs) = reports;
    let state = pane.state();
    let status = match state {
        PaneState::Running => None,
        PaneState::Exited(status) => Some(status),
        PaneState::Removed => pane.process().exit_status(),
    };
    let (exit_code, exit_signal) = match status {
        Some(ExitStatus::Code(code)) => (Some(code), None),
        Some(ExitStatus::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let awaited = awaited(pane);
    StatusReply {
        id: pane.id().0,
        title: pane.title(),
        cols: size.cols,
        rows: size.rows,
        scrollback_rows,
        cursor: CursorState { x: cursor.col, y: cursor.row, visible: cursor.visible },
        is_dead: state != PaneState::Running,
        domain_id: 0,
        shell: ShellState::of(pane),
        exit_code,
        exit_signal,
        awaiting_secret: secret::is_asked(pane),
        awaiting_input: awaited.is_some(),
        full_screen: awaited == Some(Awaited::Keys),
        user_vars,
        progress,
        programs,
        seq,
    }
}

impl Method for Get {
    const NAME: &'static str = "session.get";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "The whole state of a session, with its exit status once it is dead.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = StatusReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<StatusReply> {
        Ok(status(&*context.pane(params.session())?))
    }
}

impl Method for Status {
    const NAME: &'static str = "session.status";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "The same as session.get.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = StatusReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<StatusReply> {
        Get::call(context, caller, params).await
    }
}
