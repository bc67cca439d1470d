//! Lists, opens, splits, resizes and closes panes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    run, screen_part,
    shown::{Nothing, line},
};
use crate::{
    caller::Scopes,
    dialect::mcp::{
        error_messages::named_scopes,
        tool::{Ask, ToolResult, tool},
    },
    methods::{
        activity::{Activity, State},
        layout::{self, Beside, Rename, RenameParams, SplitParams},
        params::{Arg, NoParams, SessionOnly},
        server::Health,
        session::{self, Create, CreateParams, Destroy, ResizeParams},
    },
    services::people::approvals::Standing,
};

#[derive(Serialize, JsonSchema)]
pub struct StatusReply {
    instance: String,
    version: String,
    pid: u32,
    /// False: no window shows the panes.
    window: bool,
    panes: u64,
    /// The user has paused agents: calls that change something wait.
    paused: bool,
    /// Your name, as the user sees it.
    you: String,
    /// Your access now: any of read, act, admin.
    scopes: Vec<&'static str>,
    /// Access that the user may still approve. A call that needs it asks the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asks_for: Vec<&'static str>,
    toolset: &'static str,
}

tool! {
    Status "status" "Status" Looks
    "Get this Unterm's name and version, whether the user sees it, and your access."
    example "{}"
    (ask, _nothing: Nothing) -> StatusReply {
        let context = ask.server.dispatcher.context();
        let record = context.registration.record();
        let health = ask.call::<Health>(NoParams {}).await?;
        let given = ask.caller.scopes;
        // Every scope beyond read needs the user's approval.
        let (now, asked) = match context.people.approvals.standing_at_all(ask.caller) {
            Standing::Allowed => (given, Scopes::empty()),
            Standing::Unknown => (given & Scopes::READ, given - Scopes::READ),
            Standing::Denied => (given & Scopes::READ, Scopes::empty()),
        };
        Ok(StatusReply {
            instance: record.id.clone(),
            version: record.version.clone(),
            pid: record.pid,
            window: health.terminal.window,
            panes: health.mux.pane_count as u64,
            paused: context.people.clients.is_paused(),
            you: ask.caller.client.clone().unwrap_or_default(),
            scopes: named_scopes(now),
            asks_for: named_scopes(asked),
            toolset: ask.toolset,
        }
        .into())
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Pane {
    pane: u64,
    title: String,
    cols: u64,
    rows: u64,
    /// A file:// URI; empty if unknown.
    cwd: String,
    /// The foreground program.
    process: String,
    /// prompt, running, awaiting_input, awaiting_secret (only the user may type) or ended.
    #[schemars(with = "String")]
    state: State,
    /// The program reads the terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reads_input: bool,
    /// The command that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// How long the command has been running.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<u64>,
    /// Background and stopped jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    jobs: Vec<Job>,
}

#[derive(Serialize, JsonSchema)]
pub struct Job {
    /// The job's process group.
    #[schemars(with = "u64")]
    group: i32,
    command: String,
    stopped: bool,
    seconds: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct ListReply {
    panes: Vec<Pane>,
}

/// The panes with their states.
async fn list(ask: &Ask<'_>) -> ToolResult<Vec<Pane>> {
    let sessions = ask.call::<session::List>(NoParams {}).await?.sessions;
    let mut all = ask.call::<Activity>(SessionOnly::default()).await?.sessions;
    let mut panes = Vec::new();
    for session in sessions {
        // A pane that was opened or closed between the two calls is in only one of the lists.
        let Some(at) = all.iter().position(|doing| doing.id == session.id) else { continue };
        let doing = all.swap_remove(at);
        let jobs = doing.jobs.iter().map(|job| Job {
            group: job.group,
            command: line(&job.command),
            stopped: job.stopped,
            seconds: job.seconds,
        });
        panes.push(Pane {
            pane: session.id,
            title: line(&session.title),
            cols: session.cols.into(),
            rows: session.rows.into(),
            cwd: line(&session.shell.cwd),
            process: line(&session.shell.process_name),
            state: doing.state,
            reads_input: doing.reads_input,
            command: doing.command.as_deref().map(line),
            seconds: doing.seconds,
            jobs: jobs.collect(),
        });
    }
    Ok(panes)
}

tool! {
    List "pane_list" "List panes" Looks
    "List the panes, with the state and the background jobs of each."
    example "{}"
    untrusted ["title", "cwd", "process", "command"]
    (ask, _nothing: Nothing) -> ListReply {
        Ok(ListReply { panes: list(ask).await? }.into())
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenArguments {
    /// A program and its arguments, without a shell. Default: the user's shell.
    command: Option<Vec<String>>,
    /// An absolute path. Default: your own folder, else the home.
    cwd: Option<String>,
    /// Added to the environment.
    env: Option<BTreeMap<String, String>>,
    cols: Option<u64>,
    rows: Option<u64>,
    /// A title that programs can't change.
    title: Option<String>,
    /// A line for the shell to run first. The shell stays.
    run: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct OpenReply {
    pane: u64,
    cols: u64,
    rows: u64,
    /// The handle of `line`'s command: pass it to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<String>,
}

impl OpenArguments {
    /// The parameters of `session.create`, without the title.
    fn params(self, ask: &Ask<'_>) -> ToolResult<CreateParams<'static>> {
        let (program, args) = match self.command.as_deref() {
            None => (Arg::default(), Arg::default()),
            Some([program, args @ ..]) => (program.as_str().into(), args.to_vec().into()),
            Some([]) => {
                return Err(
                    "`command` is empty; give the program and its arguments, or leave it out"
                        .to_owned(),
                );
            }
        };
        Ok(CreateParams {
            program,
            args,
            cwd: self.cwd.or_else(|| ask.folder.map(str::to_owned)).into(),
            env: self.env.into(),
            cols: self.cols.into(),
            rows: self.rows.into(),
            ..CreateParams::default()
        })
    }
}

/// The reply about a new pane. If a title was given, sets it.
async fn described(
    ask: &Ask<'_>,
    (pane, cols, rows): (u64, u16, u16),
    title: Option<String>,
) -> ToolResult<OpenReply> {
    screen_part::opened(ask, pane, cols, rows);
    if let Some(title) = title {
        let params = RenameParams { title: title.into(), ..RenameParams::of(pane) };
        ask.call::<Rename>(params).await?;
    }
    Ok(OpenReply { pane, cols: cols.into(), rows: rows.into(), handle: None })
}

tool! {
    Open "pane_open" "Open a pane" Adds
    "Open a pane with the user's shell or a program. Its screen stays readable until pane_close."
    example r#"{"command": ["htop"]}"#
    (ask, arguments: OpenArguments) -> OpenReply {
        let (title, line) = (arguments.title.clone(), arguments.run.clone());
        let opened = ask.call::<Create>(arguments.params(ask)?).await?;
        let mut reply = described(ask, (opened.id, opened.cols, opened.rows), title).await?;
        if let Some(line) = line {
            match run::start(ask, opened.id, line).await {
                Ok(handle) => reply.handle = Some(handle),
                Err(why) => {
                    // Close the pane, because nothing ran in it, and the client does not receive its number.
                    let _ = ask.call::<Destroy>(SessionOnly::of(opened.id)).await;
                    return Err(why);
                }
            }
        }
        Ok(reply.into())
    }
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Right,
    Down,
    Left,
    Up,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    /// Default right.
    direction: Option<Direction>,
    /// For command, cwd, env and title: see pane_open.
    command: Option<Vec<String>>,
    cwd: Option<String>,
    env: Option<BTreeMap<String, String>>,
    title: Option<String>,
}

tool! {
    Split "pane_split" "Split a pane" Adds
    "Open a pane beside another pane, in the same tab."
    example r#"{"direction": "down"}"#
    (ask, arguments: SplitArguments) -> OpenReply {
        let SplitArguments { pane, direction, command, cwd, env, title } = arguments;
        let direction = Arg::word(direction.unwrap_or(Direction::Right));
        let beside = Beside { direction, ..Beside::of(ask.pane(pane).await?) };
        let rest = OpenArguments { command, cwd, env, ..OpenArguments::default() };
        let params = SplitParams { beside, create: rest.params(ask)? };
        let opened = ask.call::<layout::Split>(params.into()).await?;
        Ok(described(ask, (opened.id, opened.cols, opened.rows), title).await?.into())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResizeArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
    cols: u64,
    rows: u64,
}

/// The result of a change to a pane.
#[derive(Serialize, JsonSchema)]
pub struct PaneReply {
    pane: u64,
}

tool! {
    Resize "pane_resize" "Resize a pane" Adds
    "Resize a pane's grid. Its program is notified."
    example r#"{"cols": 120, "rows": 40}"#
    (ask, arguments: ResizeArguments) -> PaneReply {
        let ResizeArguments { pane, cols, rows } = arguments;
        let pane = ask.pane(pane).await?;
        let params =
            ResizeParams { cols: cols.into(), rows: rows.into(), ..ResizeParams::of(pane) };
        ask.call::<session::Resize>(params).await?;
        Ok(PaneReply { pane }.into())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseArguments {
    pane: u64,
}

tool! {
    Close "pane_close" "Close a pane" Acts
    "End a pane's program and remove the pane."
    example r#"{"pane": 3}"#
    (ask, arguments: CloseArguments) -> PaneReply {
        let pane = ask.pane(Some(arguments.pane)).await?;
        ask.call::<Destroy>(SessionOnly::of(pane)).await?;
        Ok(PaneReply { pane }.into())
    }
}
