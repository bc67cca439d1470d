//! Launches, restarts and ends the programs of sessions.

use serde_json::Value;
use unterm_mux::PaneId;

use super::{
    apps::{App, Launch},
    errors::{Code, error, internal},
};
use crate::{
    dialect::mcp::tool::Ask,
    methods::{
        params::SessionOnly,
        session::{Create, CreateParams, Destroy, Status, StatusReply},
    },
    services::pane::hidden::MOST,
};

/// The size of a new session.
const COLS: u64 = 80;
const ROWS: u64 = 24;

/// The state of a session's pane.
pub async fn state(ask: &Ask<'_>, app: &App) -> Result<StatusReply, Value> {
    ask.call::<Status>(SessionOnly::of(app.pane)).await.map_err(internal)
}

/// Launches a session and returns its id.
pub async fn launch(ask: &Ask<'_>, launch: Launch) -> Result<String, Value> {
    let hidden = ask.server.hidden();
    let place = hidden.reserve(ask.caller.token).ok_or_else(|| {
        error(Code::Limit, format!("maximum number of sessions ({MOST}) reached"))
    })?;
    let pane = open(ask, &launch).await?;
    let connection = ask.caller.connection;
    place.fill(connection, PaneId(pane));
    let added = ask.server.tester.add(hidden, connection, pane, launch);
    added.map_err(|error| internal(error.to_string()))
}

/// Restarts a session's program.
pub async fn restart(ask: &Ask<'_>, app: &App) -> Result<(), Value> {
    let pane = open(ask, &app.launch).await?;
    let hidden = ask.server.hidden();
    close(ask, ask.server.tester.replace(hidden, &app.id, pane)).await
}

/// Ends a session.
pub async fn stop(ask: &Ask<'_>, app: &App) -> Result<(), Value> {
    let hidden = ask.server.hidden();
    for pane in ask.server.tester.take(hidden, &app.id) {
        close(ask, pane).await?;
    }
    Ok(())
}

async fn open(ask: &Ask<'_>, launch: &Launch) -> Result<u64, Value> {
    let params = CreateParams {
        program: launch.command.as_str().into(),
        args: launch.args.clone().into(),
        env: launch.env.clone().into(),
        cols: COLS.into(),
        rows: ROWS.into(),
        hidden: true.into(),
        cwd: ask.folder.map(str::to_owned).into(),
        ..CreateParams::default()
    };
    let opened = ask.call::<Create>(params).await;
    let opened = opened.map_err(|why| error(Code::Input, not_launched(&launch.command, why)))?;
    Ok(opened.id)
}

/// Converts the reason why a command can't be launched to the wording of the toolset's protocol.
fn not_launched(command: &str, why: String) -> String {
    if why.ends_with("no such program in PATH") || why.ends_with("does not exist") {
        format!("command not found: {command}")
    } else if why.ends_with("is not executable") {
        format!("permission denied: {command}")
    } else {
        why
    }
}

async fn close(ask: &Ask<'_>, pane: u64) -> Result<(), Value> {
    let closed = ask.call::<Destroy>(SessionOnly::of(pane)).await;
    closed.map(drop).map_err(internal)
}
