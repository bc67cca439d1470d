//! The panes themselves: which there are, and opening, splitting, resizing and closing them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Nothing, add_given, line};
use crate::{
    caller::Scopes,
    dialect::mcp::{
        tool::{Ask, Said, tool},
        words::named_scopes,
    },
    services::approvals::Standing,
};

#[derive(Serialize, JsonSchema)]
pub struct StatusReply {
    instance: String,
    version: String,
    pid: u32,
    /// False: no window shows the panes.
    window: bool,
    panes: u64,
    /// The person has paused agents: what changes something waits.
    paused: bool,
    /// Your name, as the person sees it.
    you: String,
    /// What you may do now: some of read, act, admin.
    scopes: Vec<&'static str>,
    /// What you may do once the person approves it; they are asked with the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asks_for: Vec<&'static str>,
    toolset: &'static str,
}

tool! {
    Status "status" "Status" Looks
    "Say which Unterm this is, whether a person sees it, and what you may do."
    example "{}"
    (ask, _nothing: Nothing) -> StatusReply {
        let context = ask.server.dispatcher.context();
        let record = context.registration.record();
        let health: Value = ask.method("server.health", json!({})).await?;
        let given = ask.caller.scopes;
        // Whatever is more than a look is put to the person.
        let (now, asked) = match context.approvals.standing_at_all(ask.caller) {
            Standing::Allowed => (given, Scopes::empty()),
            Standing::Unknown => (given & Scopes::READ, given - Scopes::READ),
            Standing::Denied => (given & Scopes::READ, Scopes::empty()),
        };
        Ok(StatusReply {
            instance: record.id.clone(),
            version: record.version.clone(),
            pid: record.pid,
            window: health["terminal"]["window"] == true,
            panes: health["mux"]["pane_count"].as_u64().unwrap_or_default(),
            paused: context.clients.is_paused(),
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
    /// What runs in its foreground.
    process: String,
    /// prompt, running, awaiting_input, awaiting_secret (only the person may type) or ended.
    state: String,
    /// What runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// For how long.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<u64>,
    /// What runs in the background, or is stopped there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    jobs: Vec<Job>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Its process group.
    group: u64,
    command: String,
    stopped: bool,
    seconds: u64,
}

/// A pane's entry in the reply of `session.activity`.
#[derive(Deserialize)]
struct Doing {
    id: u64,
    state: String,
    command: Option<String>,
    seconds: Option<u64>,
    jobs: Vec<Job>,
}

#[derive(Serialize, JsonSchema)]
pub struct ListReply {
    panes: Vec<Pane>,
}

/// The panes and what they are at.
async fn list(ask: &Ask<'_>) -> Said<Vec<Pane>> {
    #[derive(Deserialize)]
    struct All {
        sessions: Vec<Doing>,
    }
    let list: Value = ask.method("session.list", json!({})).await?;
    let All { sessions: mut all } = ask.method("session.activity", json!({})).await?;
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let text = |value: &Value| line(value.as_str().unwrap_or_default());
    let mut panes = Vec::new();
    for session in list["sessions"].as_array().into_iter().flatten() {
        let pane = number(&session["id"]);
        // One that was opened or closed between the two is in one of them only.
        let Some(at) = all.iter().position(|doing| doing.id == pane) else { continue };
        let Doing { state, command, seconds, jobs, .. } = all.swap_remove(at);
        let jobs = jobs.into_iter().map(|job| Job { command: line(&job.command), ..job });
        panes.push(Pane {
            pane,
            title: text(&session["title"]),
            cols: number(&session["cols"]),
            rows: number(&session["rows"]),
            cwd: text(&session["shell"]["cwd"]),
            process: text(&session["shell"]["process_name"]),
            state,
            command: command.as_deref().map(line),
            seconds,
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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenArguments {
    /// The program and its arguments, run without a shell. Absent: the user's shell.
    command: Option<Vec<String>>,
    /// Absolute; absent: where you were started, else the user's home.
    cwd: Option<String>,
    /// Variables over the inherited ones.
    env: Option<BTreeMap<String, String>>,
    cols: Option<u64>,
    rows: Option<u64>,
    /// Stays, whatever the program says.
    title: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct OpenReply {
    pane: u64,
    cols: u64,
    rows: u64,
}

/// Opens a pane by a method that takes what session.create takes, and names it.
async fn open(
    ask: &Ask<'_>,
    method: &str,
    mut params: Value,
    arguments: OpenArguments,
) -> Said<OpenReply> {
    let OpenArguments { command, cwd, env, cols, rows, title } = arguments;
    if let Some(command) = command {
        let (program, args) = command
            .split_first()
            .ok_or("`command` is empty; give the program and its arguments, or leave it out")?;
        params["program"] = json!(program);
        params["args"] = json!(args);
    }
    let cwd = cwd.as_deref().or(ask.folder);
    let others =
        [("cwd", json!(cwd)), ("env", json!(env)), ("cols", json!(cols)), ("rows", json!(rows))];
    add_given(&mut params, others);
    let opened: Value = ask.method(method, params).await?;
    let number = |name: &str| opened[name].as_u64().unwrap_or_default();
    if let Some(title) = title {
        let params = json!({"id": number("id"), "title": title});
        let _: Value = ask.method("session.rename", params).await?;
    }
    Ok(OpenReply { pane: number("id"), cols: number("cols"), rows: number("rows") })
}

tool! {
    Open "pane_open" "Open a pane" Adds
    "Open a pane with the user's shell, or with a program; its screen stays readable after the program's end until pane_close."
    example r#"{"command": ["htop"]}"#
    (ask, arguments: OpenArguments) -> OpenReply {
        Ok(open(ask, "session.create", json!({}), arguments).await?.into())
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
    /// The pane to split; not needed when there is only one.
    pane: Option<u64>,
    /// Where the new one goes; right.
    direction: Option<Direction>,
    /// This and the others as in pane_open.
    command: Option<Vec<String>>,
    cwd: Option<String>,
    env: Option<BTreeMap<String, String>>,
    title: Option<String>,
}

tool! {
    Split "pane_split" "Split a pane" Adds
    "Open a pane beside another one, in the same tab."
    example r#"{"direction": "down"}"#
    (ask, arguments: SplitArguments) -> OpenReply {
        let SplitArguments { pane, direction, command, cwd, env, title } = arguments;
        let direction = direction.unwrap_or(Direction::Right);
        let params = json!({"id": ask.pane(pane).await?, "direction": direction});
        let rest = OpenArguments { command, cwd, env, cols: None, rows: None, title };
        Ok(open(ask, "session.split", params, rest).await?.into())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResizeArguments {
    /// The pane; not needed when there is only one.
    pane: Option<u64>,
    cols: u64,
    rows: u64,
}

/// What was done to a pane.
#[derive(Serialize, JsonSchema)]
pub struct Done {
    pane: u64,
}

tool! {
    Resize "pane_resize" "Resize a pane" Adds
    "Give a pane's grid another size, which its program is told of."
    example r#"{"cols": 120, "rows": 40}"#
    (ask, arguments: ResizeArguments) -> Done {
        let ResizeArguments { pane, cols, rows } = arguments;
        let pane = ask.pane(pane).await?;
        let params = json!({"id": pane, "cols": cols, "rows": rows});
        let _: Value = ask.method("session.resize", params).await?;
        Ok(Done { pane }.into())
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
    (ask, arguments: CloseArguments) -> Done {
        let pane = ask.pane(Some(arguments.pane)).await?;
        let _: Value = ask.method("session.destroy", json!({"id": pane})).await?;
        Ok(Done { pane }.into())
    }
}
