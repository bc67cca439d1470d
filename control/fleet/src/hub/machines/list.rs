//! A paired machine, and its forms in the lists for agents and for the dashboard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    identity::MachineId,
    protocol::{self, Presence, Session},
};

/// A paired machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The id of the machine.
    pub id: MachineId,
    /// The public key of the machine.
    pub key: String,
    /// The name that the machine had when it was paired.
    pub name: String,
    /// The platform: `linux`, `macos` or `windows`.
    pub platform: String,
    /// The time at which the machine was paired (RFC 3339, UTC).
    pub paired_at: String,
}

/// A machine, as it is shown to agents.
#[derive(Clone, Debug, Serialize)]
pub struct ListedMachine<S> {
    /// The id of the machine.
    pub id: MachineId,
    /// The name of the machine.
    pub name: String,
    /// `connected` or `offline`.
    pub status: &'static str,
    /// The AI programs on the machine, by their names.
    pub scan: BTreeMap<String, ListedProgram>,
    /// The sessions of the machine.
    pub sessions: Vec<S>,
}

/// A machine, as the dashboard shows it.
#[derive(Clone, Debug, Serialize)]
pub struct ShownMachine {
    /// The fields that agents see, with more details of the sessions.
    #[serde(flatten)]
    pub machine: ListedMachine<Session>,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// The time at which the machine was paired (RFC 3339, UTC).
    pub paired_at: String,
}

/// An AI program, as it is shown to agents.
#[derive(Clone, Debug, Serialize)]
pub struct ListedProgram {
    version: String,
    running: bool,
}

/// A session in the list of machines, as it is shown to agents.
#[derive(Clone, Debug, Serialize)]
pub struct ListedSession {
    sid: String,
    ai: Option<String>,
    cwd: String,
}

/// Sorts machines by their names.
pub fn sorted<S>(mut all: Vec<ListedMachine<S>>) -> Vec<ListedMachine<S>> {
    all.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    all
}

/// A machine for a list. It counts as connected if it has a presence. `show` creates the list's form of a session.
pub fn listed<S>(
    machine: &Machine,
    presence: Option<&Presence>,
    show: fn(&Session) -> S,
) -> ListedMachine<S> {
    let name = presence.map(|presence| &presence.name).filter(|name| !name.is_empty());
    let scanned = |(name, program): (&String, &protocol::Program)| {
        let scanned = ListedProgram { version: program.version.clone(), running: program.running };
        (name.clone(), scanned)
    };
    ListedMachine {
        id: machine.id.clone(),
        name: name.unwrap_or(&machine.name).clone(),
        status: if presence.is_some() { "connected" } else { "offline" },
        scan: presence.iter().flat_map(|of| &of.scan).map(scanned).collect(),
        sessions: presence.iter().flat_map(|of| &of.sessions).map(show).collect(),
    }
}

/// A session, in the form for agents.
pub fn listed_session(session: &Session) -> ListedSession {
    let Session { sid, ai, cwd, .. } = session.clone();
    ListedSession { sid, ai, cwd }
}
