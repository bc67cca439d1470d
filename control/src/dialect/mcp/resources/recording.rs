//! Recordings as resources, including running ones, and events when they begin and end.

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
    services::people::changes::{Counts, Topic},
};

/// The minimum interval between notifications about a resource that changes continuously.
pub const APART: Duration = Duration::from_millis(100);

/// Events after which a recording may have ended by itself.
const ENDS: [&str; 2] = ["session_exited", "session_removed"];
/// The interval of checks for recordings that continued in a new log after a long silence, because no event reports
/// this.
const ROTATION: Duration = Duration::from_secs(60);
/// The maximum number of checks for a page that is being written.
const LOOKS: usize = 100;

/// A running recording.
pub struct Live {
    /// The id of the recording.
    pub id: String,
    /// The session that is recorded.
    pub pane: u64,
    /// When the recording began (RFC 3339, UTC).
    pub started: String,
    /// Whether the session's program has ended, so that the recording will soon end too.
    is_dead: bool,
}

/// The running recordings of the sessions that the caller reaches.
pub async fn live(server: &Server, caller: &Caller) -> ToolResult<Vec<Live>> {
    let mut all = Vec::new();
    for session in call::<List>(server, caller, NoParams {}).await?.sessions {
        let (pane, is_dead) = (session.id, session.is_dead);
        // The session may have been removed after it was listed.
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

/// The page of a recording. While the recording runs, a note that there is no page yet.
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

/// Waits until a recording has ended and its page is written.
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

/// Waits until an ended session has no running recording any longer. `session`: the session's id in the form that
/// events use.
pub async fn settled(server: &Server, session: &Value) {
    let Some(pane) = session.as_str().and_then(|id| id.parse().ok()).map(PaneId) else { return };
    for _ in 0..LOOKS {
        if !server.dispatcher.context().records.recorder.has(pane) {
            return;
        }
        sleep(APART).await;
    }
}

/// Reports changes of recordings that callers started or stopped.
pub struct Changes {
    counts: watch::Receiver<Counts>,
    seen: u64,
}

impl Changes {
    /// Subscribes to changes from now on.
    pub fn new(server: &Server) -> Self {
        let mut counts = server.dispatcher.context().people.changes.listen();
        let seen = counts.borrow_and_update()[Topic::Recording as usize];
        Self { counts, seen }
    }

    /// Waits for the next change. Returns false if there will be no more changes. Cancel-safe.
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
