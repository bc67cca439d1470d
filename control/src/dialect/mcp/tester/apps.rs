//! The sessions of the toolset `tester`: each with its client, its program and its hidden pane.
//! [`HiddenPanes`](crate::services::pane::hidden::HiddenPanes) limits the number of panes and ends idle ones.

use std::{collections::BTreeMap, io};

use parking_lot::Mutex;
use unterm_mux::{PaneId, random};

use crate::services::{now, pane::hidden::HiddenPanes};

/// A program to launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program's name or path.
    pub command: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The program's environment variables.
    pub env: BTreeMap<String, String>,
}

/// A session.
#[derive(Clone, Debug)]
pub struct App {
    /// The session's id.
    pub id: String,
    /// The number of the session's hidden pane.
    pub pane: u64,
    /// The session's program.
    pub launch: Launch,
    /// When the session was launched (RFC 3339, UTC).
    pub created: String,
    /// When the session was last used (RFC 3339, UTC).
    pub last_active: String,
    connection: u64,
}

/// The sessions, oldest first. A session ends when its pane is removed.
#[derive(Default)]
pub struct Apps(Mutex<Vec<App>>);

impl Apps {
    /// Returns a client's session with this id, and marks it as used.
    pub fn find(&self, hidden: &HiddenPanes, connection: u64, id: &str) -> Option<App> {
        let mut apps = self.0.lock();
        let is_it = |app: &&mut App| app.connection == connection && app.id == id;
        let app = apps.iter_mut().find(is_it)?;
        app.last_active = now();
        hidden.note_use(PaneId(app.pane)).then(|| app.clone())
    }

    /// The sessions of a client.
    pub fn of(&self, hidden: &HiddenPanes, connection: u64) -> Vec<App> {
        let mut apps = self.0.lock();
        apps.retain(|app| hidden.has(PaneId(app.pane)));
        apps.iter().filter(|app| app.connection == connection).cloned().collect()
    }

    /// Adds a session that a client launched in a hidden pane. Returns the session's id.
    pub fn add(
        &self,
        hidden: &HiddenPanes,
        connection: u64,
        pane: u64,
        launch: Launch,
    ) -> io::Result<String> {
        let id = random::uuid()?;
        let (created, last_active) = (now(), now());
        let app = App { id: id.clone(), pane, launch, created, last_active, connection };
        let mut apps = self.0.lock();
        apps.retain(|app| hidden.has(PaneId(app.pane)));
        apps.push(app);
        Ok(id)
    }

    /// Replaces a session's hidden pane. Returns the pane that the caller must close: the old pane or, if the session
    /// was stopped meanwhile, the new one.
    pub fn replace(&self, hidden: &HiddenPanes, id: &str, pane: u64) -> u64 {
        let mut apps = self.0.lock();
        let there = apps.iter_mut().find(|other| other.id == id);
        there
            .filter(|there| hidden.replace(PaneId(there.pane), PaneId(pane)))
            .map_or(pane, |there| std::mem::replace(&mut there.pane, pane))
    }

    /// Removes a session. Returns the panes that the caller must close.
    pub fn take(&self, hidden: &HiddenPanes, id: &str) -> Vec<u64> {
        let taken: Vec<App> = self.0.lock().extract_if(.., |other| other.id == id).collect();
        let panes = taken.into_iter().map(|app| app.pane);
        panes.filter(|pane| hidden.remove(PaneId(*pane))).collect()
    }

    /// Removes all sessions of a client.
    pub async fn release(&self, hidden: &HiddenPanes, connection: u64) {
        self.0.lock().retain(|app| app.connection != connection);
        hidden.release(connection).await;
    }
}
