//! Resources that clients can read by URI and subscribe to: screens, the output of commands, recordings.
//!
//! | URI | contents |
//! |---|---|
//! | `unterm://panes` | the state and the background jobs of each pane, as JSON |
//! | `unterm://agents` | the states of the programs that plugins watch, as JSON |
//! | `unterm://pane/N/file/PATH` | a file below a pane's working directory, for callers that may act |
//! | `unterm://pane/N/screen` | a pane's screen, as text |
//! | `unterm://pane/N/block/M` | the output of a pane's command |
//! | `unterm://recording/ID` | a recording's page |
//! | `unterm://job/HANDLE` | whether a job of the client (a call that outlived its request) has ended, as JSON |

mod recording;

use std::collections::HashMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate, SubscriptionFilter},
};
use serde_json::{json, to_value};
use tokio::task::AbortHandle;

use self::recording::APART;
use super::{
    jobs::{Job, JobState},
    rows::{fields, joined},
    server::Server,
    tool::{RESOURCES, ToolResult, call_for_resource as call, is_hidden, untrusted_fields},
    untrusted::{clipped, escaped, line},
};
use crate::{
    caller::Caller,
    error::Error,
    methods::{
        activity::Activity,
        adapter::States,
        blocks::{self, GetParams, ListParams, State},
        events::{Subscribe, SubscribeParams},
        files::{Read, ReadParams},
        params::{NoParams, SessionOnly},
        recording::{List as Recordings, ListParams as RecordingsParams},
        screen::Text,
        session,
        wait::{Awaited, Watch, WatchParams},
    },
    services::pane::events::Subscription,
};

/// The maximum number of characters of one resource.
const MOST_CHARACTERS: usize = 200_000;
/// The maximum number of commands, and of recordings, that are listed. Older ones are left out.
const LISTED: usize = 20;
/// The maximum number of resources that one client may subscribe to.
pub const MOST_WATCHED: usize = 64;

/// A parsed URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// The state of all panes.
    Panes,
    /// The states of the programs that plugins watch.
    Agents,
    /// A file below a pane's directory.
    File(u64, String),
    /// A pane's screen.
    Screen(u64),
    /// A pane's command.
    Block(u64, u64),
    /// A recording.
    Recording(String),
    /// A job of the client: a call that outlived its request.
    Job(String),
}

impl Address {
    /// Parses a URI. `None` if no resource has such a URI.
    pub fn parse(uri: &str) -> Option<Self> {
        let parts: Vec<&str> = uri.strip_prefix("unterm://")?.split('/').collect();
        Some(match parts.as_slice() {
            ["panes"] => Self::Panes,
            ["agents"] => Self::Agents,
            ["pane", pane, "file", path @ ..] if !path.is_empty() => {
                Self::File(pane.parse().ok()?, decoded(&path.join("/"))?)
            }
            ["pane", pane, "screen"] => Self::Screen(pane.parse().ok()?),
            ["pane", pane, "block", block] => Self::Block(pane.parse().ok()?, block.parse().ok()?),
            ["recording", id] if !id.is_empty() => Self::Recording((*id).to_owned()),
            ["job", handle] if !handle.is_empty() => Self::Job((*handle).to_owned()),
            _ => return None,
        })
    }
}

/// Decodes a percent-encoded path (RFC 3986, 2.1). `None` if it is invalid.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Lists the resources that a caller may read.
pub async fn list(server: &Server, caller: &Caller) -> ToolResult<Vec<Resource>> {
    let mut resources = Vec::new();
    for session in call::<session::List>(server, caller, NoParams {}).await?.sessions {
        let (pane, title) = (session.id, line(&session.title, 100));
        let screen =
            Resource::new(format!("unterm://pane/{pane}/screen"), format!("screen {pane}"));
        resources.push(text(screen.with_title(format!("The screen of pane {pane}: {title}"))));
        let last = ListParams { limit: (LISTED as u64).into(), ..ListParams::of(pane) };
        let last = call::<blocks::List>(server, caller, last).await;
        for block in last.map_or_else(|_| Vec::new(), |list| list.blocks) {
            let Some(command) = block.command else { continue };
            let (number, command) = (block.block, line(&command, 100));
            let uri = format!("unterm://pane/{pane}/block/{number}");
            let title = format!("The output of {command:?} in pane {pane}");
            let resource = Resource::new(uri, format!("block {number} of pane {pane}"));
            resources.push(text(resource.with_title(title)));
        }
    }
    for live in recording::live(server, caller).await? {
        resources
            .push(recorded(&live.id, &format!("The recording of pane {}, under way", live.pane)));
    }
    // Recordings are not listed for a token that is limited to some sessions, because the call fails.
    let recordings = call::<Recordings>(server, caller, RecordingsParams::default()).await;
    for recording in recordings.unwrap_or_default().iter().rev().take(LISTED) {
        let title = format!("The recording of {}", recording.started_at);
        resources.push(recorded(&recording.unterm_session_id, &title));
    }
    for job in server.jobs.of(caller.connection) {
        let JobState { handle, pane, .. } = job.state();
        let resource = Resource::new(format!("unterm://job/{handle}"), handle);
        let resource = resource.with_title(format!("Your call in pane {pane}"));
        resources.push(resource.with_mime_type("application/json"));
    }
    let panes = Resource::new("unterm://panes", "panes").with_title("What each pane is at");
    let panes = panes.with_mime_type("application/json");
    resources.push(panes.with_meta(untrusted_fields(&["text"])));
    let agents = Resource::new("unterm://agents", "agents");
    let agents = agents.with_title("The states of watched programs, as their screens show them");
    let agents = agents.with_mime_type("application/json");
    resources.push(agents.with_meta(untrusted_fields(&["text"])));
    Ok(resources)
}

fn recorded(id: &str, title: &str) -> Resource {
    let resource = Resource::new(format!("unterm://recording/{id}"), format!("recording {id}"));
    resource.with_title(title).with_mime_type("text/markdown")
}

/// A resource of a pane. Its title contains text from programs.
fn text(resource: Resource) -> Resource {
    resource.with_mime_type("text/plain").with_meta(untrusted_fields(&["title"]))
}

/// The templates of the URIs.
pub fn templates() -> Vec<ResourceTemplate> {
    [
        ("unterm://pane/{pane}/screen", "screen", "A pane's screen", "text/plain"),
        (
            "unterm://pane/{pane}/block/{block}",
            "block",
            "The output of a pane's command",
            "text/plain",
        ),
        (
            "unterm://pane/{pane}/file/{+path}",
            "file",
            "A file below a pane's working directory",
            "text/plain",
        ),
        ("unterm://recording/{id}", "recording", "A recording's page", "text/markdown"),
        ("unterm://job/{handle}", "job", "The end of your own call", "application/json"),
    ]
    .map(|(uri, name, title, kind)| {
        ResourceTemplate::new(uri, name).with_title(title).with_mime_type(kind)
    })
    .into()
}

/// Reads a resource.
pub async fn read(
    server: &Server,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let none = |why: String| {
        ErrorData::resource_not_found(format!("{uri}: {why}"), Some(json!({"uri": uri})))
    };
    let address = Address::parse(uri).ok_or_else(|| none("there is nothing".to_owned()))?;
    let (text, kind) = contents(server, caller, &address).await.map_err(none)?;
    let text = clipped(escaped(&text), MOST_CHARACTERS, "").0;
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents.with_meta(untrusted_fields(&["text"]))]))
}

async fn contents(
    server: &Server,
    caller: &Caller,
    address: &Address,
) -> ToolResult<(String, &'static str)> {
    if let Address::Screen(pane) | Address::Block(pane, _) | Address::File(pane, _) = address
        && is_hidden(server, *pane)
    {
        return Err(RESOURCES.message(&Error::NoSession(*pane)));
    }
    Ok(match address {
        Address::Screen(pane) => {
            let screen = call::<Text>(server, caller, SessionOnly::of(*pane)).await?;
            (joined(&fields(&screen)?.lines, 0, usize::MAX), "text/plain")
        }
        Address::Block(pane, block) => {
            let params = GetParams { block: (*block).into(), ..GetParams::of(*pane) };
            let block = call::<blocks::Get>(server, caller, params).await?;
            (block.output.unwrap_or_default(), "text/plain")
        }
        Address::Job(handle) => {
            let state = job(server, caller, handle)?.state();
            let state = to_value(state).map_err(|error| error.to_string())?;
            (state.to_string(), "application/json")
        }
        Address::Recording(id) => (recording::page(server, caller, id).await?, "text/markdown"),
        Address::Panes => {
            let doing = call::<Activity>(server, caller, SessionOnly::default()).await?;
            // The conversion to a JSON value sorts the fields by name.
            let sessions = to_value(doing.sessions).map_err(|error| error.to_string())?;
            (sessions.to_string(), "application/json")
        }
        Address::Agents => {
            let states = call::<States>(server, caller, SessionOnly::default()).await?.states;
            let states = to_value(states).map_err(|error| error.to_string())?;
            (states.to_string(), "application/json")
        }
        Address::File(pane, path) => {
            let path = path.as_str().into();
            let max_bytes = (MOST_CHARACTERS as u64).into();
            let params = ReadParams { path, max_bytes, ..ReadParams::of(*pane) };
            let bytes = STANDARD.decode(call::<Read>(server, caller, params).await?.base64);
            let bytes = bytes.map_err(|error| format!("Internal error: {error}"))?;
            let text = String::from_utf8(bytes);
            (text.map_err(|_| "it is no text; file_read gives its bytes".to_owned())?, "text/plain")
        }
    })
}

/// A job of the caller.
fn job(server: &Server, caller: &Caller, handle: &str) -> ToolResult<Job> {
    server.dispatcher.check_token(caller).map_err(|error| RESOURCES.message(&error))?;
    let job = server.jobs.find(caller.connection, handle);
    job.ok_or_else(|| {
        "no call of yours has this handle; its result may have been returned".to_owned()
    })
}

/// The subset of a client's subscriptions that this server supports.
pub fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|uris| {
        let ours = uris.iter().filter(|uri| Address::parse(uri).is_some());
        ours.take(MOST_WATCHED).cloned().collect()
    });
    accepted
}

/// Sends a notification for each change of a resource, until the resource can't change any longer.
pub async fn watch<F: Future<Output = bool>>(
    server: &Server,
    caller: &Caller,
    address: &Address,
    notify: impl Fn() -> F,
) {
    let (pane, block) = match address {
        Address::Screen(pane) => (pane, None),
        Address::Block(pane, block) => (pane, Some(block)),
        Address::Recording(id) => {
            recording::ended(server, caller, id).await;
            notify().await;
            return;
        }
        Address::Job(handle) => {
            // If the job no longer exists, the client gets an error when it reads the resource.
            if let Ok(job) = job(server, caller, handle) {
                job.ended().await;
            }
            notify().await;
            return;
        }
        Address::Agents => return watch_agents(server, caller, notify).await,
        // No event reports changes of files or processes, so these resources can't be watched.
        Address::Panes | Address::File(..) => return,
    };
    if is_hidden(server, *pane) {
        return;
    }
    let mut seq = 0;
    let mut is_first = true;
    loop {
        let params = WatchParams {
            any: vec![Awaited::Seq(seq + 1), Awaited::Exit(true)].into(),
            timeout_ms: u64::MAX.into(),
            ..WatchParams::of(*pane)
        };
        let Ok(seen) = call::<Watch>(server, caller, params).await else {
            // The resource no longer exists. The client gets an error when it reads the resource.
            notify().await;
            return;
        };
        if let Some(block) = block
            && !is_open(server, caller, *pane, *block).await
        {
            // The client is notified of the end of its command, but not of the output of other commands.
            notify().await;
            return;
        }
        let is_new = seen.seq > seq;
        seq = seen.seq;
        if !is_first && is_new && !notify().await {
            return;
        }
        if seen.is_dead {
            // After the program's end, the pane can only be removed. Clients get an error when they read the resource.
            return;
        }
        is_first = false;
        tokio::time::sleep(APART).await;
    }
}

/// Whether a command exists and may still print output.
async fn is_open(server: &Server, caller: &Caller, pane: u64, block: u64) -> bool {
    let params = GetParams { block: block.into(), max_lines: 1.into(), ..GetParams::of(pane) };
    let found = call::<blocks::Get>(server, caller, params).await;
    found.is_ok_and(|found| matches!(found.block.state, State::Prompt | State::Running))
}

/// Sends a notification for each new state of a watched program, as long as `notify` returns true.
async fn watch_agents<F: Future<Output = bool>>(
    server: &Server,
    caller: &Caller,
    notify: impl Fn() -> F,
) {
    let Some(mut states) = events(server, caller, &["adapter_state"]).await else { return };
    loop {
        states.next().await;
        if server.dispatcher.check_token(caller).is_err() || !notify().await {
            return;
        }
        tokio::time::sleep(APART).await;
        while states.take().is_some() {}
    }
}

/// A subscription to events of these kinds. `None` if the caller may not receive them.
async fn events(server: &Server, caller: &Caller, kinds: &[&str]) -> Option<Subscription> {
    let caller = caller.listener();
    call::<Subscribe>(server, &caller, SubscribeParams::to(kinds)).await.ok()?;
    caller.subscription.take().flatten()
}

/// The events that change a caller's list of resources. `None` if the caller may not receive them.
pub async fn changes(
    server: &Server,
    caller: &Caller,
) -> Option<(Subscription, recording::Changes)> {
    let recordings = recording::Changes::new(server);
    let kinds = ["session_opened", "session_exited", "session_removed", "command_end"];
    Some((events(server, caller, &kinds).await?, recordings))
}

/// Sends a notification for each change of the list, as long as `notify` returns true.
pub async fn watch_list<F: Future<Output = bool>>(
    server: &Server,
    caller: &Caller,
    (mut changes, mut recordings): (Subscription, recording::Changes),
    notify: impl Fn() -> F,
) {
    loop {
        let mut events = Vec::new();
        tokio::select! {
            event = changes.next() => events.push(event),
            is_there = recordings.next() => {
                if !is_there {
                    return;
                }
            }
        }
        tokio::time::sleep(APART).await;
        events.extend(std::iter::from_fn(|| changes.take()));
        // When a session ends, its recording ends too, and is listed once its page is written.
        for ended in events.iter().filter(|event| event["event"] == "session_exited") {
            recording::settled(server, &ended["session_id"]).await;
        }
        if server.dispatcher.check_token(caller).is_err() || !notify().await {
            return;
        }
    }
}

/// The subscriptions of a session with `initialize`.
#[derive(Default)]
pub struct Watched(HashMap<String, AbortHandle>);

impl Watched {
    /// Whether the session may subscribe to another resource.
    pub fn has_room(&self) -> bool {
        self.0.len() < MOST_WATCHED
    }

    /// Adds a subscription. It replaces an earlier subscription to the same resource.
    pub fn add(&mut self, uri: String, task: AbortHandle) {
        if let Some(old) = self.0.insert(uri, task) {
            old.abort();
        }
    }

    /// Removes a subscription.
    pub fn remove(&mut self, uri: &str) {
        if let Some(task) = self.0.remove(uri) {
            task.abort();
        }
    }

    /// Whether there is a subscription to this resource.
    pub fn has(&self, uri: &str) -> bool {
        self.0.contains_key(uri)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.values().for_each(AbortHandle::abort);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        assert_eq!(Address::parse("unterm://pane/3/screen"), Some(Address::Screen(3)));
        assert_eq!(Address::parse("unterm://pane/3/block/7"), Some(Address::Block(3, 7)));
        let recording = Address::Recording("a-b".to_owned());
        assert_eq!(Address::parse("unterm://recording/a-b"), Some(recording));
        assert_eq!(Address::parse("unterm://job/run-3"), Some(Address::Job("run-3".to_owned())));
        assert_eq!(Address::parse("unterm://panes"), Some(Address::Panes));
        assert_eq!(Address::parse("unterm://agents"), Some(Address::Agents));
        let file = |path: &str| Some(Address::File(3, path.to_owned()));
        assert_eq!(Address::parse("unterm://pane/3/file/src/a%20b"), file("src/a b"));
        assert_eq!(Address::parse("unterm://pane/3/file/%2Fetc/passwd"), file("/etc/passwd"));
        for wrong in [
            "",
            "unterm://",
            "unterm://pane/-1/screen",
            "unterm://pane/3/screen/",
            "unterm://pane/3/block/",
            "unterm://recording/",
            "unterm://recording/../x",
            "unterm://job/",
            "unterm://job/run-3/x",
            "file:///etc/passwd",
            "unterm://pane/3/file",
            "unterm://pane/3/file/%zz",
        ] {
            assert_eq!(Address::parse(wrong), None, "{wrong}");
        }
    }
}
