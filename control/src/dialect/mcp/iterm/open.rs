//! Opens tabs and splits panes.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{
    find::{Terminal, all, current, identified, own_window},
    json::{error, optional},
    other_instance::there,
    paint,
};
use crate::{
    dialect::mcp::tool::{Ask, plain_tool},
    methods::{
        exec::{Run, RunParams},
        layout::{Beside, Focus, Rename, RenameParams, Split, SplitParams},
        params::SessionOnly,
        session::{Create, CreateParams},
        wait::{Awaited, Watch, WatchParams},
    },
};

/// Finishes a new session: sets its color and name, and types its command. Returns the part of the reply that both
/// tools share.
async fn created(
    ask: &Ask<'_>,
    beside: &Terminal,
    pane: u64,
    given: &Map<String, Value>,
    color: paint::Color,
) -> Result<Map<String, Value>, Value> {
    let named = optional(given, "name")?;
    let command = optional(given, "command")?;
    let is_it = |terminal: &Terminal| terminal.window == beside.window && terminal.pane == pane;
    let find = |all: Vec<Terminal>| {
        all.into_iter().find(is_it).ok_or_else(|| error("The session ended at once"))
    };
    paint::tab(&find(all(ask).await.map_err(error)?)?.tty, color).await;
    if let Some(name) = named {
        let params = RenameParams { title: name.into(), ..RenameParams::of(pane) };
        beside.call::<Rename>(ask, params).await.map_err(error)?;
    }
    if let Some(command) = command {
        // If the shell marks prompts, the command is typed at the first prompt.
        let prompt = WatchParams {
            any: vec![Awaited::Prompt(true)].into(),
            timeout_ms: 2000.into(),
            ..WatchParams::of(pane)
        };
        beside.call::<Watch>(ask, prompt).await.map_err(error)?;
        let params = RunParams { command: command.into(), ..RunParams::of(pane) };
        beside.call::<Run>(ask, params).await.map_err(error)?;
    }
    let terminal = find(all(ask).await.map_err(error)?)?;
    let mut reply = Map::new();
    reply.insert("status".to_owned(), json!("created"));
    reply.insert("session_id".to_owned(), json!(terminal.id));
    reply.insert("tty".to_owned(), json!(terminal.tty));
    reply.insert("name".to_owned(), json!(terminal.name));
    Ok(reply)
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "its schema is what counts")]
pub struct NewTabArguments {
    /// Shell command to run immediately
    command: Option<String>,
    /// Display name for the session
    name: Option<String>,
    /// Session ID, TTY, or name identifying which window. Defaults to frontmost window.
    window_identifier: Option<String>,
}

fn check_tab(_: &Ask<'_>, given: &Map<String, Value>) -> Result<(), Value> {
    ["command", "name", "window_identifier"]
        .iter()
        .try_for_each(|key| optional(given, key).map(drop))
}

/// The side on which a split places the new pane.
fn side(given: &Map<String, Value>) -> Result<(&str, &'static str), Value> {
    match optional(given, "direction")?.unwrap_or("vertical") {
        direction @ "vertical" => Ok((direction, "right")),
        direction @ "horizontal" => Ok((direction, "down")),
        other => Err(error(format!("Invalid direction '{other}': use 'vertical' or 'horizontal'"))),
    }
}

fn check_split(_: &Ask<'_>, given: &Map<String, Value>) -> Result<(), Value> {
    side(given)?;
    ["command", "name", "identifier"].iter().try_for_each(|key| optional(given, key).map(drop))
}

plain_tool! {
    pub NewTab "iterm_new_tab" "Open a tab" Acts NewTabArguments,
    untrusted ["name", "error"],
    check check_tab,
    "Create a new tab in a window."
    (ask, given) {
        let beside = match optional(&given, "window_identifier")? {
            Some(identifier) => identified(ask, identifier).await?,
            None => own_window(ask),
        };
        there!(ask, beside, "window_identifier", given);
        let tab = beside.call::<Create>(ask, CreateParams::default()).await.map_err(error)?.id;
        // In iTerm2, a new tab becomes the active tab.
        beside.call::<Focus>(ask, SessionOnly::of(tab)).await.map_err(error)?;
        created(ask, &beside, tab, &given, paint::PURPLE).await.map(Value::Object)
    }
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "its schema is what counts")]
pub struct SplitPaneArguments {
    /// `"vertical"` (side-by-side, default) or `"horizontal"` (top/bottom)
    direction: Option<String>,
    /// Shell command to run
    command: Option<String>,
    /// Display name
    name: Option<String>,
    /// Session to split. Defaults to current session of frontmost window.
    identifier: Option<String>,
}

plain_tool! {
    pub SplitPane "iterm_split_pane" "Split a pane" Acts SplitPaneArguments,
    untrusted ["name", "error"],
    check check_split,
    "Split the current or specified pane."
    (ask, given) {
        let (direction, side) = side(&given)?;
        let beside = match optional(&given, "identifier")? {
            Some(identifier) => identified(ask, identifier).await?,
            None => current(ask).await.map_err(error)?,
        };
        there!(ask, beside, "identifier", given);
        let place = Beside { direction: side.into(), ..Beside::of(beside.pane) };
        let params = SplitParams { beside: place, ..SplitParams::default() };
        let split = beside.call::<Split>(ask, params.into()).await.map_err(error)?.id;
        let mut reply = created(ask, &beside, split, &given, paint::BLUE).await?;
        reply.insert("direction".to_owned(), json!(direction));
        Ok(Value::Object(reply))
    }
}
