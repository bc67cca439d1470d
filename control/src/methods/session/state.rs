//! `session.list`, `session.get` and its alias: the state of sessions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{ExitStatus, Foreground, Pane, PaneState};

use super::scrollback_rows;
use crate::{
    methods::{
        Caller, Context, Group, Method, Result, Subjects, Word,
        params::{NoParams, SessionOnly},
    },
    services::{
        pane::reports::{ProgramReport, ProgressReport},
        shell::{
            awaited::{Awaited, awaited},
            kind::Shell,
            secret,
        },
    },
};

/// The cursor on the live screen.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CursorState {
    /// Column from the left.
    pub x: u16,
    /// Row from the top.
    pub y: u16,
    /// Whether the cursor is visible.
    pub visible: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ShellState {
    /// `powershell`, `cmd`, `bash`, `zsh`, `fish`, `nushell` or `unknown`.
    pub shell_type: Word,
    pub process_name: String,
    /// A `file://` URI. Empty if unknown.
    pub cwd: String,
}

impl ShellState {
    fn of(pane: &Pane, foreground: Option<Foreground>) -> Self {
        let is_running = pane.state() == PaneState::Running;
        let process_name = foreground.filter(|_| is_running).map(|it| it.name).unwrap_or_default();
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
    /// The session's terminal device, such as `/dev/pts/3`. Empty if it has none.
    pub tty: String,
    /// The session's program asks for a secret, such as a password. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaiting_secret: bool,
    /// The session's program waits for input. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaiting_input: bool,
    /// Whether the session's program reads its terminal, as in session.get. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_input: bool,
}

impl Method for List {
    const NAME: &'static str = "session.list";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::REACHED;
    const DOC: &'static str = "All sessions, in the order in which they were opened.";
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
            let awaited = awaited(pane);
            // Read it once, because that needs system calls, and there can be a thousand sessions.
            let foreground = pane.foreground();
            Listed {
                id: pane.id().0,
                title: pane.title_before(foreground.as_ref()),
                cols: size.cols,
                rows: size.rows,
                cursor: CursorState { x: cursor.col, y: cursor.row, visible: cursor.visible },
                is_dead: pane.state() != PaneState::Running,
                domain_id: 0,
                shell: ShellState::of(pane, foreground),
                tty: pane.process().tty().map_or(String::new(), |tty| tty.display().to_string()),
                awaiting_secret: secret::is_asked(pane),
                awaiting_input: awaited.is_some_and(Awaited::is_shown),
                reads_input: awaited.is_some(),
            }
        });
        Ok(ListReply { sessions: sessions.collect() })
    }
}

/// `session.get`, with the alias `session.status`.
pub struct Get;
/// See [`Get`].
pub struct Status;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StatusReply {
    pub id: u64,
    pub title: String,
    pub cols: u16,
    pub rows: u16,
    /// Rows of the history and the screen.
    pub scrollback_rows: usize,
    pub cursor: CursorState,
    /// The program has ended.
    pub is_dead: bool,
    pub domain_id: u32,
    pub shell: ShellState,
    /// The exit code, if the program ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The number of the signal that ended the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i32>,
    /// The program has ended, but its exit status was lost with its parent. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub status_lost: bool,
    /// The session's program asks for a secret, such as a password.
    pub awaiting_secret: bool,
    /// The session's program waits for input: for an answer to a question, or for keys if it shows a full screen. False
    /// if the system does not report it.
    pub awaiting_input: bool,
    /// The session's program reads its terminal: it asks a question, shows a full screen, or has been silent for a
    /// second. Absent if false, if the program asks for a secret, and if the system does not report it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_input: bool,
    /// The session's program shows a full screen and waits for keys. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_screen: bool,
    /// The variables that its programs set by OSC 1337 SetUserVar. As untrusted as its output.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub user_vars: BTreeMap<String, String>,
    /// The progress that its programs reported by OSC 9;4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<ProgressReport>,
    /// The statuses that its programs reported by OSC 7501, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramReport>,
    /// The session's `seq`. Pass it as `since_seq` for later output.
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
        Some(ExitStatus::Lost) | None => (None, None),
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
        shell: ShellState::of(pane, pane.foreground()),
        exit_code,
        exit_signal,
        status_lost: status == Some(ExitStatus::Lost),
        awaiting_secret: secret::is_asked(pane),
        awaiting_input: awaited.is_some_and(Awaited::is_shown),
        reads_input: awaited.is_some(),
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
    const DOC: &'static str = "The state of a session, with the exit status of an ended program.";
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
    const DOC: &'static str = "An alias of session.get.";
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
