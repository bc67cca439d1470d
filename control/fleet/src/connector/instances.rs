//! The live instances of this machine. Their panes are offered as sessions.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, anyhow, bail};
use parking_lot::Mutex;
use tokio::time::Instant;
use unterm_control::{
    Caller, Record,
    backend::Calls as _,
    client::{self, Endpoint, Remote},
    escaped,
    methods::{aliases, params::NoParams, session, token},
};

use super::{
    blocked_lines::{Rules, TypingError},
    connection::Connection,
    foreground::Foregrounds,
};
use crate::{
    protocol::{MOST_READ, RefusedLine, Session, SessionText, TypeReply, TypeRequest},
    sha256::sha256_prefix,
};

/// The maximum number of sessions that are listed. With names of the maximum length, they fit into one NATS message (1
/// MiB).
const MOST_SESSIONS: usize = 200;
/// The maximum number of characters of a title or a folder.
const LONGEST_NAME: usize = 200;
/// The maximum number of rows that are read from a session.
const MOST_ROWS: u64 = 4000;
/// The number of digits of a session's id.
const DIGITS: usize = 12;
/// The maximum time to wait for an instance's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum pause before a part of the input.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The maximum number of connections to instances that are kept.
const MOST_REMOTES: usize = 64;

/// The live instances in a home directory.
pub struct Instances {
    home: PathBuf,
    connection: tokio::sync::Mutex<Connection>,
    is_read_only: bool,
    /// The connections, by the instance's start and the client's name.
    remotes: Mutex<HashMap<(InstanceStart, String), Arc<Remote>>>,
}

/// A pane, and how to reach it.
pub struct PaneAddress {
    /// The connection to the pane's instance.
    pub remote: Arc<Remote>,
    /// The pane's number in its instance.
    pub pane: u64,
    /// The line policy of the instance.
    rules: Rules,
}

impl Instances {
    /// Creates the list of instances in a home directory. `connection`: the connection to the hub that uses them.
    pub fn new(home: PathBuf, connection: Connection) -> Self {
        let is_read_only = connection.is_read_only;
        let connection = tokio::sync::Mutex::new(connection);
        Self { home, connection, is_read_only, remotes: Mutex::default() }
    }

    /// The sessions of all live instances. The sessions of an instance that does not answer are left out.
    pub async fn sessions(&self) -> Vec<Session> {
        let (mut sessions, mut foregrounds) = (Vec::new(), Foregrounds::default());
        for record in client::live(&self.home) {
            match self.sessions_of(&record, &mut foregrounds).await {
                Ok(of) => sessions.extend(of),
                Err(error) => {
                    tracing::debug!(id = record.id, error = %format!("{error:#}"), "no sessions");
                }
            }
        }
        sessions.truncate(MOST_SESSIONS);
        sessions
    }

    async fn sessions_of(
        &self,
        record: &Record,
        foregrounds: &mut Foregrounds,
    ) -> Result<Vec<Session>> {
        let start = InstanceStart::of(record);
        let remote = self.remote(record, &start, "").await?;
        let sessions = list(&remote).await?;
        let live = sessions.into_iter().filter(|session| !session.is_dead);
        Ok(live
            .map(|session| Session {
                sid: start.sid(session.id),
                ai: foregrounds.ai(&session.shell.process_name, &session.tty).map(str::to_owned),
                cwd: name(&folder_of(&session.shell.cwd)),
                title: name(&session.title),
                instance: name(&record.id),
            })
            .collect())
    }

    /// The last rows of a session.
    pub async fn read(&self, sid: &str) -> Result<SessionText> {
        let PaneAddress { remote, pane, .. } = self.find(sid, "").await?;
        let params = aliases::ReadTailParams {
            lines: MOST_ROWS.into(),
            ..aliases::ReadTailParams::of(pane)
        };
        let deadline = Some(Instant::now() + PATIENCE);
        let caller = Caller::of_user(None);
        let rows = remote.call_until::<aliases::ReadTail>(&caller, params, deadline).await?;
        let is_cut = rows.count as u64 >= MOST_ROWS;
        let text = rows.lines.join("\n");
        let end = tail(&text, MOST_READ);
        Ok(SessionText { is_cut: is_cut || end.len() < text.len(), text: end.to_owned() })
    }

    /// Types into a session. The caller must hold the session's turn.
    pub async fn type_in(
        &self,
        request: &TypeRequest,
        deadline: Instant,
    ) -> Result<TypeReply, TypingError> {
        let place = self.find(&request.sid, &request.client).await?;
        let Some(line) = &request.released else {
            return type_parts(&place, request, deadline).await;
        };
        let client = shown_client(&request.client);
        place.rules.release(place.pane, &client, line).await?;
        let typed = type_parts(&place, request, deadline).await;
        // If Enter was not typed yet, the release is still valid for it, so it is withdrawn.
        if typed.is_err() {
            place.rules.withdraw(place.pane, &client).await;
        }
        typed
    }

    /// The pane with this session id. `client`: the name under which the pane is used.
    pub async fn find(&self, wanted: &str, client: &str) -> Result<PaneAddress> {
        for record in client::live(&self.home) {
            let start = InstanceStart::of(&record);
            let remote = match self.remote(&record, &start, client).await {
                Ok(remote) => remote,
                Err(error) => {
                    tracing::debug!(id = record.id, error = %format!("{error:#}"), "not asked");
                    continue;
                }
            };
            let Ok(sessions) = list(&remote).await else { continue };
            let found = sessions.iter().find(|session| start.sid(session.id) == wanted);
            if let Some(session) = found {
                let id = record.id.clone();
                let rules = Rules::new(&id, Endpoint::from(record), !self.is_read_only);
                return Ok(PaneAddress { remote, pane: session.id, rules });
            }
        }
        let wanted = name(wanted);
        Err(anyhow!("no session {wanted:?} on this machine; list_sessions gives the present ones"))
    }

    /// The endpoint of an instance with the hub's token, the instance's start, and its line policy. An empty name
    /// stands for the only live instance.
    pub async fn endpoint(&self, named: &str) -> Result<(Endpoint, InstanceStart, Rules)> {
        let live = client::live(&self.home);
        let names = || live.iter().map(|record| name(&record.id)).collect::<Vec<_>>().join(", ");
        let record = match (named, live.as_slice()) {
            ("", [only]) => only,
            (_, []) => bail!("no Unterm runs on this machine"),
            ("", _) => bail!(
                "several instances run on this machine; set `instance` to one of: {}",
                names()
            ),
            (named, all) => {
                let found = all.iter().find(|record| record.id.eq_ignore_ascii_case(named));
                found.with_context(|| {
                    format!(
                        "no instance {:?} runs on this machine; there are: {}",
                        name(named),
                        names()
                    )
                })?
            }
        };
        let token = self.agent_token(record).await?;
        let user = Endpoint::from(record.clone());
        let endpoint = Endpoint { token, ..user.clone() };
        Ok((endpoint, InstanceStart::of(record), Rules::new(&record.id, user, !self.is_read_only)))
    }

    /// A connection to an instance, under a client's name.
    async fn remote(
        &self,
        record: &Record,
        start: &InstanceStart,
        client: &str,
    ) -> Result<Arc<Remote>> {
        let key = (start.clone(), client.to_owned());
        if let Some(remote) = self.remotes.lock().get(&key) {
            return Ok(remote.clone());
        }
        let token = self.agent_token(record).await?;
        let endpoint = Endpoint { token, ..Endpoint::from(record.clone()) };
        let remote = Arc::new(Remote::new(endpoint, Some(&shown_client(client))));
        let mut remotes = self.remotes.lock();
        if remotes.len() >= MOST_REMOTES {
            remotes.clear();
        }
        remotes.insert(key, remote.clone());
        Ok(remote)
    }

    /// The agent token that the connector uses at all instances. It is created once. If the user revokes it, the hub
    /// has no access until the machine is paired again.
    async fn agent_token(&self, record: &Record) -> Result<String> {
        let mut connection = self.connection.lock().await;
        if let Some(token) = &connection.agent_token {
            return Ok(token.clone());
        }
        let remote = Remote::new(Endpoint::from(record.clone()), Some("unterm-connect"));
        let scope = if connection.is_read_only { token::Scope::Read } else { token::Scope::Act };
        let params = token::CreateParams {
            name: format!("fleet: {}", connection.hub()).as_str().into(),
            scope: scope.into(),
            ..token::CreateParams::default()
        };
        let deadline = Some(Instant::now() + PATIENCE);
        let caller = Caller::of_user(None);
        let made = remote.call_until::<token::Create>(&caller, params, deadline).await;
        let token = made.context("can't create an agent token for the hub")?.token;
        connection.keep_agent_token(&token)?;
        Ok(token)
    }
}

/// Types the parts of a call.
async fn type_parts(
    place: &PaneAddress,
    request: &TypeRequest,
    deadline: Instant,
) -> Result<TypeReply, TypingError> {
    let PaneAddress { remote, pane, rules } = place;
    let caller = Caller::of_user(None);
    let mut bytes = 0;
    for (parts_typed, part) in request.parts.iter().enumerate() {
        if part.after_ms > 0 {
            tokio::time::sleep(Duration::from_millis(part.after_ms).min(LONGEST_PAUSE)).await;
        }
        let params = session::InputParams {
            input: part.text.as_str().into(),
            ..session::InputParams::of(*pane)
        };
        let typed = remote.call_until::<session::Input>(&caller, params, Some(deadline)).await;
        if let Err(error) = typed {
            let error = plain(&error);
            let blocked = rules.blocked(&error, &shown_client(&request.client), Some(*pane)).await;
            if let Some(blocked) = blocked {
                return Err(TypingError::Blocked(RefusedLine { parts_typed, ..blocked }));
            }
            let error = match bytes {
                0 => anyhow!("{error}"),
                _ => anyhow!("{error} ({bytes} bytes were typed before)"),
            };
            return Err(error.into());
        }
        bytes += part.text.len();
    }
    Ok(TypeReply { bytes })
}

/// A client's name in the form that the user of the machine sees.
pub fn shown_client(client: &str) -> String {
    if client.is_empty() { "fleet".to_owned() } else { format!("fleet: {client}") }
}

async fn list(remote: &Remote) -> Result<Vec<session::Listed>> {
    let deadline = Some(Instant::now() + PATIENCE);
    let caller = Caller::of_user(None);
    let reply = remote.call_until::<session::List>(&caller, NoParams {}, deadline).await;
    Ok(reply?.sessions)
}

/// An error of an instance without the name and the code of the protocol.
pub fn plain(error: &unterm_control::Error) -> String {
    let text = error.to_string();
    match text.split_once(" failed [") {
        Some((_, rest)) => rest.split_once("]: ").map_or(text.clone(), |(_, why)| why.to_owned()),
        None => text,
    }
}

/// Identifies a start of an instance. After another start, the same pane numbers belong to other panes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct InstanceStart(String);

impl InstanceStart {
    fn of(record: &Record) -> Self {
        Self(sha256_prefix(&format!("{} {} {}", record.id, record.started_at, record.pid), 32))
    }

    /// The session id of a pane.
    pub fn sid(&self, pane: u64) -> String {
        sha256_prefix(&format!("{} {pane}", self.0), DIGITS)
    }
}

/// A name that a program chose, as escaped text of limited length.
fn name(text: &str) -> String {
    escaped(&text.chars().take(LONGEST_NAME).collect::<String>())
}

/// The path in a `file://` address. If the address contains another host, it is returned unchanged.
fn folder_of(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://").filter(|path| path.starts_with('/')) else {
        return uri.to_owned();
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escape = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The end of a text with at most `most` bytes. It begins at the start of a line if possible.
fn tail(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut start = text.len() - most;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let end = &text[start..];
    end.split_once('\n').map_or(end, |(_, lines)| lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_urls_become_paths() {
        assert_eq!(folder_of("file:///a/b%20c/%C3%A9%"), "/a/b c/é%");
        assert_eq!(folder_of("file://host/a"), "file://host/a");
        assert_eq!(folder_of(""), "");
        assert_eq!(name("a\x1b[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
    }

    #[test]
    fn a_tail_begins_with_a_whole_line() {
        assert_eq!(tail("one\ntwo\nthree", 100), "one\ntwo\nthree");
        assert_eq!(tail("one\ntwo\nthree", 7), "three");
        assert_eq!(tail("ééé", 3), "é");
    }

    #[test]
    fn instance_errors_omit_method_and_code() {
        let failed = unterm_control::client::ClientError::Call {
            method: "session.input".to_owned(),
            code: -32603,
            message: "Session 3 is leased by x".to_owned(),
        };
        assert_eq!(plain(&failed.into()), "Session 3 is leased by x");
    }
}
