//! The sessions of the toolset `tester`: who launched what, in which hidden pane, and when they end.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use unterm_mux::{PaneId, random};

use super::{Code, error, internal};
use crate::{
    services::now,
    wire::mcp::{Server, tool::Ask},
};

/// Sessions at a time, of all clients.
const MOST: usize = 100;
/// How long a session that nobody asks for is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// The size of a new one.
const COLS: u16 = 80;
const ROWS: u16 = 24;

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
    used: Instant,
}

impl App {
    /// What `session.status` says of its pane.
    pub async fn state(&self, ask: &Ask<'_>) -> Result<Value, Value> {
        ask.method("session.status", json!({"id": self.pane})).await.map_err(internal)
    }
}

/// The sessions, the oldest first.
#[derive(Default)]
pub struct Apps(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    apps: Vec<App>,
    /// Those that are being launched have their places already.
    launching: usize,
    /// The task that ends idle ones runs.
    is_watched: bool,
}

impl Apps {
    /// A client's session of that id, which is in use from now on.
    pub fn find(&self, connection: u64, id: &str) -> Option<App> {
        let mut inside = self.0.lock();
        let is_it = |app: &&mut App| app.connection == connection && app.id == id;
        let app = inside.apps.iter_mut().find(is_it)?;
        app.used = Instant::now();
        app.last_active = now();
        Some(app.clone())
    }

    /// A client's sessions.
    pub fn of(&self, connection: u64) -> Vec<App> {
        let inside = self.0.lock();
        inside.apps.iter().filter(|app| app.connection == connection).cloned().collect()
    }

    /// Launches a session; its id.
    pub async fn launch(&self, ask: &Ask<'_>, launch: Launch) -> Result<String, Value> {
        {
            let mut inside = self.0.lock();
            if inside.apps.len() + inside.launching >= MOST {
                let why = format!("maximum number of sessions ({MOST}) reached");
                return Err(error(Code::Limit, why));
            }
            inside.launching += 1;
        }
        // Given back also when the caller gives up.
        let _place = Launching(self);
        let id = random::uuid().map_err(|error| internal(error.to_string()))?;
        let pane = open(ask, &launch).await?;
        let app = App {
            id: id.clone(),
            pane,
            launch,
            created: now(),
            last_active: now(),
            connection: ask.caller.connection,
            used: Instant::now(),
        };
        let mut inside = self.0.lock();
        inside.apps.push(app);
        if !inside.is_watched {
            inside.is_watched = true;
            tokio::spawn(end_idle(ask.server.clone()));
        }
        Ok(id)
    }

    /// Launches a session's program anew.
    pub async fn restart(&self, ask: &Ask<'_>, app: &App) -> Result<(), Value> {
        let pane = open(ask, &app.launch).await?;
        let old = {
            let mut inside = self.0.lock();
            let there = inside.apps.iter_mut().find(|other| other.id == app.id);
            there.map(|there| std::mem::replace(&mut there.pane, pane))
        };
        // One that was stopped meanwhile takes the new pane along.
        close(ask, old.unwrap_or(pane)).await
    }

    /// Ends a session.
    pub async fn stop(&self, ask: &Ask<'_>, app: &App) -> Result<(), Value> {
        let taken = self.take(|other| other.id == app.id);
        for app in taken {
            close(ask, app.pane).await?;
        }
        Ok(())
    }

    fn take(&self, is_it: impl Fn(&App) -> bool) -> Vec<App> {
        self.0.lock().apps.extract_if(.., |app| is_it(app)).collect()
    }

    /// Ends all that a client launched.
    pub async fn release(&self, server: &Server, connection: u64) {
        end(server, self.take(|app| app.connection == connection)).await;
    }
}

/// A place that is taken for a launch under way.
struct Launching<'a>(&'a Apps);

impl Drop for Launching<'_> {
    fn drop(&mut self) {
        self.0.0.lock().launching -= 1;
    }
}

async fn open(ask: &Ask<'_>, launch: &Launch) -> Result<u64, Value> {
    let params = json!({
        "program": launch.command,
        "args": launch.args,
        "env": launch.env,
        "cols": COLS,
        "rows": ROWS,
        "hidden": true,
        "cwd": ask.folder,
    });
    let opened: Result<Value, String> = ask.method("session.create", params).await;
    let opened = opened.map_err(|why| error(Code::Input, not_launched(&launch.command, why)))?;
    opened["id"].as_u64().ok_or_else(|| internal("no session was opened"))
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
    let closed: Result<Value, String> = ask.method("session.destroy", json!({"id": pane})).await;
    closed.map(drop).map_err(internal)
}

/// Ends sessions for nobody who asks.
async fn end(server: &Server, apps: Vec<App>) {
    for app in apps {
        let context = server.dispatcher.context();
        let (mux, pane) = (context.mux.clone(), PaneId(app.pane));
        context.bytes.forget(pane);
        let closed = tokio::task::spawn_blocking(move || mux.close_pane(pane)).await;
        tracing::debug!(id = app.id, ?closed, "a session of the tester ended");
    }
}

/// Ends sessions that nobody asks for, as long as there are some.
async fn end_idle(server: Arc<Server>) {
    loop {
        let due = {
            let mut inside = server.tester.0.lock();
            let Some(first) = inside.apps.iter().map(|app| app.used).min() else {
                inside.is_watched = false;
                return;
            };
            first + IDLE
        };
        tokio::time::sleep_until(due.into()).await;
        end(&server, server.tester.take(|app| app.used.elapsed() >= IDLE)).await;
    }
}
