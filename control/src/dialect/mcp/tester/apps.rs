//! The sessions of the toolset `tester`: who launched what, in which hidden pane. How many panes there may be, and when they end,
//! is with [`HiddenPanes`](crate::services::hidden::HiddenPanes).

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde_json::Value;
use unterm_mux::{PaneId, random};

use super::{Code, error, internal};
use crate::{
    dialect::mcp::{Server, tool::Ask},
    methods::{
        params::SessionOnly,
        session::{Create, CreateParams, Destroy, Status, StatusReply},
    },
    services::{hidden::MOST, now},
};

/// The size of a new one.
const COLS: u64 = 80;
const ROWS: u64 = 24;

/// What was launched.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables.
    pub env: BTreeMap<String, String>,
}

/// A session.
#[derive(Clone, Debug)]
pub struct App {
    /// Its id.
    pub id: String,
    /// Its hidden pane.
    pub pane: u64,
    /// What runs in it.
    pub launch: Launch,
    /// When it was launched (RFC 3339, UTC).
    pub created: String,
    /// When it was last asked for.
    pub last_active: String,
    connection: u64,
}

impl App {
    /// What `session.status` says of its pane.
    pub async fn state(&self, ask: &Ask<'_>) -> Result<StatusReply, Value> {
        ask.call::<Status>(SessionOnly::of(self.pane)).await.map_err(internal)
    }
}

/// The sessions, the oldest first. One whose pane was ended is none any more.
#[derive(Default)]
pub struct Apps(Mutex<Vec<App>>);

impl Apps {
    /// A client's session of that id, which is in use from now on.
    pub fn find(&self, server: &Server, connection: u64, id: &str) -> Option<App> {
        let hidden = &server.dispatcher.context().hidden;
        let mut apps = self.0.lock();
        let is_it = |app: &&mut App| app.connection == connection && app.id == id;
        let app = apps.iter_mut().find(is_it)?;
        app.last_active = now();
        hidden.note_use(PaneId(app.pane)).then(|| app.clone())
    }

    /// A client's sessions.
    pub fn of(&self, server: &Server, connection: u64) -> Vec<App> {
        let hidden = &server.dispatcher.context().hidden;
        let mut apps = self.0.lock();
        apps.retain(|app| hidden.has(PaneId(app.pane)));
        apps.iter().filter(|app| app.connection == connection).cloned().collect()
    }

    /// Launches a session; its id.
    pub async fn launch(&self, ask: &Ask<'_>, launch: Launch) -> Result<String, Value> {
        let hidden = &ask.server.dispatcher.context().hidden;
        let place = hidden.reserve().ok_or_else(|| {
            error(Code::Limit, format!("maximum number of sessions ({MOST}) reached"))
        })?;
        let id = random::uuid().map_err(|error| internal(error.to_string()))?;
        let pane = open(ask, &launch).await?;
        let connection = ask.caller.connection;
        place.fill(connection, PaneId(pane));
        let (created, last_active) = (now(), now());
        let app = App { id: id.clone(), pane, launch, created, last_active, connection };
        let mut apps = self.0.lock();
        apps.retain(|app| hidden.has(PaneId(app.pane)));
        apps.push(app);
        Ok(id)
    }

    /// Launches a session's program anew.
    pub async fn restart(&self, ask: &Ask<'_>, app: &App) -> Result<(), Value> {
        let pane = open(ask, &app.launch).await?;
        let hidden = &ask.server.dispatcher.context().hidden;
        let old = {
            let mut apps = self.0.lock();
            let there = apps.iter_mut().find(|other| other.id == app.id);
            there
                .filter(|there| hidden.replace(PaneId(there.pane), PaneId(pane)))
                .map(|there| std::mem::replace(&mut there.pane, pane))
        };
        // One that was stopped meanwhile takes the new pane along.
        close(ask, old.unwrap_or(pane)).await
    }

    /// Ends a session.
    pub async fn stop(&self, ask: &Ask<'_>, app: &App) -> Result<(), Value> {
        let taken: Vec<App> = self.0.lock().extract_if(.., |other| other.id == app.id).collect();
        for app in taken {
            if ask.server.dispatcher.context().hidden.remove(PaneId(app.pane)) {
                close(ask, app.pane).await?;
            }
        }
        Ok(())
    }

    /// Ends all that a client launched.
    pub async fn release(&self, server: &Server, connection: u64) {
        self.0.lock().retain(|app| app.connection != connection);
        server.dispatcher.context().hidden.release(connection).await;
    }
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

/// Why a command can't be launched, under the names that the document has for it.
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
