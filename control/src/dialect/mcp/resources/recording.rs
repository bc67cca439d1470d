//! Recordings among the resources: those that go on too, and when they begin and end.

use std::time::Duration;

use serde_json::Value;
use tokio::{sync::watch, time::sleep};
use unterm_mux::PaneId;

use crate::{
    backend::Backend,
    caller::Caller,
    dialect::mcp::{
        server::Server,
        tool::{ToolResult, call_for_resource as call},
    },
    methods::{
        events::SubscribeParams,
        params::{NoParams, SessionOnly},
        recording::{Read, ReadParams, Status},
        session::List,
    },
    services::changes::{Counts, Topic},
};

/// A client hears of what changes all the time this often.
pub const APART: Duration = Duration::from_millis(100);

/// What tells that a recording may have ended by itself.
const ENDS: [&str; 2] = ["session_exited", "session_removed"];
/// Nothing tells that a recording went over to the next since nothing came for long.
const ROTATION: Duration = Duration::from_secs(60);
/// How often a page that is being written is looked for.
const LOOKS: usize = 100;

/// A recording that goes on.
pub struct Live {
    /// Its id.
    pub id: String,
    /// What it records.
    pub pane: u64,
    /// Since when (RFC 3339, UTC).
    pub started: String,
    /// Its program has ended: so will it.
    is_dead: bool,
}

/// Those that go on, of the sessions that the caller reaches.
pub async fn live(server: &Server, caller: &Caller) -> ToolResult<Vec<Live>> {
    let mut all = Vec::new();
    for session in call::<List>(server, caller, NoParams {}).await?.sessions {
        let (pane, is_dead) = (session.id, session.is_dead);
        // It may just have gone.
        let Ok(status) = call::<Status>(server, caller, SessionOnly::of(pane)).await else {
            continue;
        };
        if let (Some(id), Some(started)) = (status.session_id, status.started_at) {
            all.push(Live { id, pane, started, is_dead });
        }
    }
    Ok(all)
}

async fn find(server: &Server, caller: &Caller, id: &str) -> ToolResult<Option<Live>> {
    Ok(live(server, caller).await?.into_iter().find(|live| live.id == id))
}

/// A recording's page, or that there is none yet.
pub async fn page(server: &Server, caller: &Caller, id: &str) -> ToolResult<String> {
    if let Some(Live { pane, started, .. }) = find(server, caller, id).await? {
        return Ok(format!(
            "# Recording {id}\n\nIt goes on, of pane {pane} since {started}. Its page is written when it ends; until then \
             unterm://pane/{pane}/screen and the addresses of the pane's blocks have what it records.\n"
        ));
    }
    written(server, caller, id).await
}

async fn written(server: &Server, caller: &Caller, id: &str) -> ToolResult<String> {
    let params = ReadParams { session_id: id.into() };
    Ok(call::<Read>(server, caller, params).await?.markdown)
}

/// Waits until a recording has ended and its page is there.
pub async fn ended(server: &Server, caller: &Caller, id: &str) {
    let mut changes = Changes::new(server);
    let ends = server.dispatcher.subscribe(caller, SubscribeParams::to(&ENDS)).await;
    let Ok(mut ends) = ends else { return };
    while let Ok(Some(live)) = find(server, caller, id).await {
        tokio::select! {
            is_there = changes.next() => {
                if !is_there {
                    return;
                }
            }
            _ = ends.next() => {}
            () = sleep(if live.is_dead { APART } else { ROTATION }) => {}
        }
    }
    for _ in 0..LOOKS {
        if written(server, caller, id).await.is_ok() {
            return;
        }
        sleep(APART).await;
    }
}

/// Waits until nothing of a session that has ended is recorded any more; its number as events have it.
pub async fn settled(server: &Server, session: &Value) {
    let Some(pane) = session.as_str().and_then(|id| id.parse().ok()).map(PaneId) else { return };
    for _ in 0..LOOKS {
        if !server.dispatcher.context().recorder.has(pane) {
            return;
        }
        sleep(APART).await;
    }
}

/// Hears of recordings that somebody began or ended.
pub struct Changes {
    counts: watch::Receiver<Counts>,
    seen: u64,
}

impl Changes {
    /// From now on.
    pub fn new(server: &Server) -> Self {
        let mut counts = server.dispatcher.context().changes.listen();
        let seen = counts.borrow_and_update()[Topic::Recording as usize];
        Self { counts, seen }
    }

    /// The next of them; false: there will be none. Cancel-safe.
    pub async fn next(&mut self) -> bool {
        loop {
            if self.counts.changed().await.is_err() {
                return false;
            }
            let now = self.counts.borrow_and_update()[Topic::Recording as usize];
            if std::mem::replace(&mut self.seen, now) != now {
                return true;
            }
        }
    }
}
