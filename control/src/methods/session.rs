//! `session.*`: panes as sessions. A session's id is its pane's number.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use unterm_mux::{ExitStatus, OnExit, Pane, PaneState, Spawn};
use unterm_term::{Command, LineId, Size};

use super::{
    Access, Caller, Context, Group, Method, Result,
    params::{Arg, NoParams, SessionOnly, session_params},
};
use crate::{
    error::Error,
    services::{
        reports::{ProgramReport, ProgressReport},
        secret,
        shell::{Activity, Shell, as_given},
    },
};

/// The most columns, and the most rows, of a grid.
const LONGEST_SIDE: u64 = 10_000;
/// The most cells of a grid: 32 MB of them.
const MOST_CELLS: u32 = 4_000_000;
/// A size that is given by half takes the other half from here, as documented.
const DEFAULT_COLS: u16 = 120;
const DEFAULT_ROWS: u16 = 30;

/// What is done.
#[derive(Serialize, JsonSchema)]
pub struct Done {
    status: &'static str,
}

impl Done {
    /// Without more to say.
    pub const OK: Self = Self { status: "ok" };
}

/// Where the cursor is on the live screen.
#[derive(Serialize, JsonSchema)]
pub struct CursorState {
    /// Column from the left.
    pub x: u16,
    /// Row from the top.
    pub y: u16,
    /// Whether it is shown.
    pub visible: bool,
}

#[derive(Serialize, JsonSchema)]
struct ShellState {
    /// `powershell`, `cmd`, `bash`, `zsh`, `fish`, `nushell` or `unknown`.
    shell_type: &'static str,
    process_name: String,
    /// A `file://` URI, empty when nobody knows.
    cwd: String,
}

impl ShellState {
    fn of(pane: &Pane) -> Self {
        let process_name = Activity::of(pane).process;
        Self {
            shell_type: Shell::kind(Shell::of_process(&process_name)),
            process_name,
            cwd: pane.cwd_uri(),
        }
    }
}

/// `session.list`.
pub struct List;

#[derive(Serialize, JsonSchema)]
pub struct ListReply {
    sessions: Vec<Listed>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    id: u64,
    title: String,
    cols: u16,
    rows: u16,
    cursor: CursorState,
    is_dead: bool,
    domain_id: u32,
    shell: ShellState,
    /// Its terminal's device, such as `/dev/pts/3`; empty where there is none.
    tty: String,
}

impl Method for List {
    const NAME: &'static str = "session.list";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "Every session, in the order they were opened.";
    const OF_NONE: bool = true;
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
            }
        });
        Ok(ListReply { sessions: sessions.collect() })
    }
}

/// `session.get`, and by another name `session.status`.
pub struct Get;
/// See [`Get`].
pub struct Status;

#[derive(Serialize, JsonSchema)]
pub struct StatusReply {
    id: u64,
    title: String,
    cols: u16,
    rows: u16,
    /// Rows of history above the screen, and the screen's.
    scrollback_rows: usize,
    cursor: CursorState,
    /// The program has ended.
    is_dead: bool,
    domain_id: u32,
    shell: ShellState,
    /// The program ended by itself, with this code.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The program was ended by the signal of this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_signal: Option<i32>,
    /// Its program reads a line that it does not echo, as for a password.
    awaiting_secret: bool,
    /// What its programs set by OSC 1337 SetUserVar, if they did: text of theirs, to be trusted as little as its output.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    user_vars: BTreeMap<String, String>,
    /// How far something is, by OSC 9;4.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<ProgressReport>,
    /// What its programs say they do, by OSC 7501, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<ProgramReport>,
    /// How far its output has got: what `since_seq` counts in.
    seq: u64,
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
        awaiting_secret: state == PaneState::Running && secret::is_asked(pane),
        user_vars,
        progress,
        programs,
        seq,
    }
}

/// Every row that can be read: those of history and those of the screen.
pub(super) fn scrollback_rows(term: &unterm_term::Term) -> usize {
    term.history_rows() + usize::from(term.size().rows)
}

impl Method for Get {
    const NAME: &'static str = "session.get";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "The whole state of a session, with its exit status once it is dead.";
    const OF_SESSION: bool = true;
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
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "The same as session.get.";
    const OF_SESSION: bool = true;
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

/// `session.create`.
pub struct Create;

#[derive(serde::Deserialize, JsonSchema)]
pub struct CreateParams<'a> {
    /// Columns; given explicitly, they pin the session's size.
    #[serde(borrow, default)]
    cols: Arg<'a, u64>,
    /// Rows; given explicitly, they pin the session's size.
    #[serde(borrow, default)]
    rows: Arg<'a, u64>,
    /// Working directory, absolute or as a `file://` URI; else the user's home.
    #[serde(borrow, default)]
    cwd: Arg<'a, String>,
    /// What to run instead of the user's shell; its session stays, dead, until it is destroyed.
    #[serde(borrow, default)]
    program: Arg<'a, String>,
    /// Another shell to run than the user's, such as `zsh`; its session goes when it ends, as that of the user's shell does.
    #[serde(borrow, default)]
    shell: Arg<'a, String>,
    /// The arguments of the program, or the shell.
    #[serde(borrow, default)]
    args: Arg<'a, Vec<String>>,
    /// Variables over the inherited environment.
    #[serde(borrow, default)]
    env: Arg<'a, BTreeMap<String, String>>,
    /// A title of its own, as session.rename gives.
    #[serde(borrow, default)]
    name: Arg<'a, String>,
    /// In no tab and no list, found by its number only; what its program writes is kept for screen.bytes.
    #[serde(borrow, default)]
    hidden: Arg<'a, bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct CreateReply {
    pub(super) id: u64,
    session_id: String,
    title: String,
    cols: u16,
    rows: u16,
}

impl Method for Create {
    const NAME: &'static str = "session.create";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Act;
    const DOC: &'static str = "Opens a session with the user's shell or a given program.";
    type Params<'a> = CreateParams<'a>;
    type Reply = CreateReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: CreateParams<'a>,
    ) -> Result<CreateReply> {
        Ok(create(context, &params).await?.1)
    }
}

/// Opens a session.
pub(super) async fn create(
    context: &Context,
    params: &CreateParams<'_>,
) -> Result<(SharedPane, CreateReply)> {
    let size = size(&params.cols, &params.rows)?;
    let (spawn, on_exit) = params.spawn(context)?;
    let name = params.title()?;
    let mux = context.mux.clone();
    let pane = if params.hidden.is_set("hidden")? {
        let size = size.unwrap_or(Size::cells(DEFAULT_COLS, DEFAULT_ROWS));
        let (pane, tap) = blocking(move || mux.open_tapped(spawn, size)).await??;
        context.bytes.keep(pane.id(), tap);
        pane
    } else {
        // Behind the tab that a person may be typing in.
        blocking(move || mux.open_tab_in_background(spawn, size, on_exit)).await??
    };
    if let Some(name) = name {
        pane.set_name(&name);
    }
    let size = pane.term().size();
    let reply = CreateReply {
        id: pane.id().0,
        session_id: pane.id().0.to_string(),
        title: pane.title(),
        cols: size.cols,
        rows: size.rows,
    };
    Ok((pane, reply))
}

impl CreateParams<'_> {
    /// The title that the session is given, if it is.
    pub(super) fn title(&self) -> Result<Option<String>> {
        Ok(self.name.text("name")?.map(|name| super::layout::title(&name)))
    }

    /// What to start, if the rules on what may be entered allow it: the program with its arguments as a line, and each
    /// variable, since shells run some. A shell without arguments is what a session is without a program, too. And what
    /// becomes of the session when it ends: an agent still wants to read what a program printed and how it ended; a shell that
    /// ends was closed.
    pub(super) fn spawn(&self, context: &Context) -> Result<(Spawn, OnExit)> {
        let cwd = self.cwd.text("cwd")?;
        let (program, on_exit) = match (self.program.text("program")?, self.shell.text("shell")?) {
            (Some(_), Some(_)) => {
                return Err(Error::Failed("Give 'program' or 'shell', not both".to_owned()));
            }
            (Some(program), None) => (Some(program), OnExit::Hold),
            (None, shell) => (shell, OnExit::Close),
        };
        let args = self.args.list("args")?;
        if program.is_none() && !args.is_empty() {
            return Err(Error::Missing("program"));
        }
        let env = self.env.map("env")?;
        for (name, value) in &env {
            // The environment can't hold them (POSIX, "Environment Variables").
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(Error::Invalid {
                    name: "env",
                    expected: "names without '=' and values without NUL".to_owned(),
                    got: format!("{name:?}: {value:?}"),
                });
            }
        }
        let mut lines: Vec<_> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if let Some(program) = &program
            && (Shell::of_process(program).is_none() || !args.is_empty())
        {
            lines.push(format!("{program} {}", args.join(" ")));
        }
        context.policy.check_typed(None, &lines, "").map_err(Error::Policy)?;
        let env = env.into_iter().chain([("UNTERM_DRIVEN".to_owned(), "1".to_owned())]);
        let spawn = Spawn {
            program: program.map(Into::into),
            args,
            cwd: cwd.map(|cwd| directory(&cwd)).transpose()?,
            // Its shell listens for variables (`session.set_env`) from the start.
            env: env.collect(),
            ..Spawn::default()
        };
        Ok((spawn, on_exit))
    }
}

/// Runs what may take its time (starting and ending programs) outside of the workers.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Panicked(error.to_string()))
}

/// The size that is asked for, if it is.
fn size(cols: &Arg<'_, u64>, rows: &Arg<'_, u64>) -> Result<Option<Size>> {
    let side = |arg: &Arg<'_, u64>, name| {
        Ok::<_, Error>(arg.number(name, 1..=LONGEST_SIDE)?.map(|n| n as u16))
    };
    let (cols, rows) = match (side(cols, "cols")?, side(rows, "rows")?) {
        (None, None) => return Ok(None),
        (cols, rows) => (cols.unwrap_or(DEFAULT_COLS), rows.unwrap_or(DEFAULT_ROWS)),
    };
    if u32::from(cols) * u32::from(rows) > MOST_CELLS {
        return Err(Error::TooLarge { cols, rows, max: MOST_CELLS });
    }
    Ok(Some(Size::cells(cols, rows)))
}

/// A directory as a path or as `session.cwd` gives it.
fn directory(cwd: &str) -> Result<PathBuf> {
    let path = match cwd.strip_prefix("file://") {
        // RFC 8089: a host, or none, before the path.
        Some(uri) => percent_decoded(&uri[uri.find('/').unwrap_or(uri.len())..]),
        None => PathBuf::from(cwd),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Error::Invalid {
        name: "cwd",
        expected: "an absolute path or a file:// URI".to_owned(),
        got: format!("{cwd:?}"),
    })
}

/// RFC 3986, 2.1; a `%` without two digits stands for itself.
fn percent_decoded(path: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;

    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| byte == b'%').and_then(|d| str::from_utf8(d).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// `session.input`.
pub struct Input;

session_params! {
    /// What to type, and where.
    InputParams {
        /// The characters to write, as they are; nothing is added. Enter is `\r`.
        input: String,
    }
}

/// What `session.input` and `exec.send` do.
pub(super) fn input(context: &Context, caller: &Caller, params: &InputParams<'_>) -> Result<Done> {
    let pane = context.pane(params.target())?;
    let input = params.input.required("input").map_err(|_| Error::MissingParameter("input"))?;
    context.type_in(caller, &pane, input.as_bytes())?;
    Ok(Done::OK)
}

impl Method for Input {
    const NAME: &'static str = "session.input";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Act;
    const DOC: &'static str = "Types characters into a session as they are.";
    const OF_SESSION: bool = true;
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

/// `session.resize`.
pub struct Resize;

session_params! {
    /// A session and its new size.
    ResizeParams {
        /// Columns.
        cols: u64,
        /// Rows.
        rows: u64,
    }
}

impl Method for Resize {
    const NAME: &'static str = "session.resize";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Act;
    const DOC: &'static str =
        "Gives a session another size, which the window leaves alone from then on.";
    const OF_SESSION: bool = true;
    type Params<'a> = ResizeParams<'a>;
    type Reply = Done;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: ResizeParams<'a>,
    ) -> Result<Done> {
        let pane = context.pane_for(caller, params.target())?;
        let given = |arg: &Arg<'_, u64>, name| {
            arg.number(name, 1..=LONGEST_SIDE)?.ok_or(Error::Missing(name))
        };
        given(&params.cols, "cols")?;
        given(&params.rows, "rows")?;
        if let Some(size) = size(&params.cols, &params.rows)? {
            // A window's cells keep their size in pixels.
            let cell = pane.term().size();
            pane.set_pinned(true);
            pane.resize(Size { cols: size.cols, rows: size.rows, ..cell });
        }
        Ok(Done::OK)
    }
}

/// `session.destroy`.
pub struct Destroy;

#[derive(Serialize, JsonSchema)]
pub struct DestroyReply {
    status: &'static str,
    destroyed: bool,
}

impl Method for Destroy {
    const NAME: &'static str = "session.destroy";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Act;
    const DOC: &'static str = "Ends a session's program and removes the session.";
    const OF_SESSION: bool = true;
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
        context.bytes.forget(id);
        Ok(DestroyReply { status: "ok", destroyed: true })
    }
}

/// `session.idle`.
pub struct Idle;

#[derive(Serialize, JsonSchema)]
pub struct IdleReply {
    /// A shell is in the foreground, or the program has ended.
    idle: bool,
    foreground_process: String,
}

impl Method for Idle {
    const NAME: &'static str = "session.idle";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "Whether a session's shell waits, or runs something.";
    const OF_SESSION: bool = true;
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

#[derive(Serialize, JsonSchema)]
pub struct CwdReply {
    /// A `file://` URI, empty when nobody knows.
    cwd: String,
}

impl Method for Cwd {
    const NAME: &'static str = "session.cwd";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "The working directory of a session as a file:// URI.";
    const OF_SESSION: bool = true;
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

/// `session.history`.
pub struct History;

session_params! {
    /// A session, and how much of its history.
    HistoryParams {
        /// How many of the last rows to read; 100.
        #[serde(default)]
        limit: u64,
    }
}

#[derive(Serialize, JsonSchema)]
pub struct HistoryReply {
    entries: Vec<HistoryEntry>,
    count: usize,
}

#[derive(Serialize, JsonSchema)]
struct HistoryEntry {
    text: String,
}

impl Method for History {
    const NAME: &'static str = "session.history";
    const GROUP: Group = Group::Session;
    const ACCESS: Access = Access::Read;
    const DOC: &'static str = "The last rows of history above the screen, without empty ones.";
    const OF_SESSION: bool = true;
    type Params<'a> = HistoryParams<'a>;
    type Reply = HistoryReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: HistoryParams<'a>,
    ) -> Result<HistoryReply> {
        let pane = context.pane(params.target())?;
        let limit = params.limit.number("limit", 0..=u64::MAX)?.unwrap_or(100);
        let texts = blocking(move || history(&pane, limit)).await?;
        let filled = texts.into_iter().filter(|text| !text.is_empty());
        let entries: Vec<_> = filled.map(|text| HistoryEntry { text }).collect();
        Ok(HistoryReply { count: entries.len(), entries })
    }
}

/// The last rows above the screen, with the lines of callers' commands as these were given: the rows of such a line are
/// one text then, or one for each line of the command.
fn history(pane: &Pane, limit: u64) -> Vec<String> {
    let (mut lines, start, end, typed) = {
        let term = pane.term();
        let end = term.live_top().0;
        let start = term.oldest().0.max(end.saturating_sub(limit));
        let is_there = |command: &&Command| command.end.is_none_or(|end| end.line.0 >= start);
        let there = term.commands().filter(is_there);
        let typed: Vec<_> = there.filter_map(|it| it.ran_as_given().cloned()).collect();
        (term.lines(), start, end, typed)
    };
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
        match as_given(&whole, &typed) {
            Cow::Borrowed(_) => texts.append(&mut rows),
            Cow::Owned(text) => texts.extend(text.lines().map(str::to_owned)),
        }
        rows.clear();
    }
    texts
}

/// A pane kept by a method that works outside of the workers.
pub(super) type SharedPane = Arc<Pane>;
