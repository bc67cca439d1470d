//! Notifications: the changes and output of each session since the last notification to a client.
//!
//! Owns the filter of one connection, and a cursor for each session. There is no queue. Notifications are built when the
//! connection can send, so a slow client gets fewer and longer ones.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    error::{Error, Result},
    output_redaction::{CONTEXT_CHARS, redacted},
    request::notification,
    sessions::{Delta, FIRST_SEQUENCE, Session, Sessions},
};

/// The names of all notifications.
pub const NAMES: [&str; 3] = ["session.changed", "session.output", "session.exited"];
/// The maximum number of entries in a filter.
const MOST_FILTERED: usize = 1000;

/// The notifications that a client wants.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Whether to send notifications at all.
    enabled: bool,
    /// If this or `sessions` is not empty, only sessions of these adapters, and the sessions in `sessions`, are
    /// reported.
    #[serde(default)]
    adapters: Vec<String>,
    /// If this or `adapters` is not empty, only these sessions, and the sessions of `adapters`, are reported.
    #[serde(default)]
    sessions: Vec<String>,
}

impl Filter {
    fn wants(&self, session: &Session) -> bool {
        let is_unfiltered = self.adapters.is_empty() && self.sessions.is_empty();
        is_unfiltered
            || self.sessions.iter().any(|wanted| wanted == session.id())
            || self.adapters.iter().any(|wanted| Some(wanted.as_str()) == session.adapter())
    }
}

/// The notifications of one connection.
#[derive(Default)]
pub struct Notifications {
    filter: Filter,
    /// The last reported state of each session, by the session's id.
    reported: BTreeMap<String, LastReported>,
}

/// The state of a session that was last reported to a client.
#[derive(Clone, Copy, Debug)]
struct LastReported {
    sequence: u64,
    /// The number of output characters.
    output: u64,
    /// Whether the reported output ends within a secret.
    ends_in_secret: bool,
    has_exited: bool,
    /// Whether the filter accepts the session.
    is_wanted: bool,
}

impl LastReported {
    fn nothing() -> Self {
        Self {
            sequence: FIRST_SEQUENCE,
            output: 0,
            ends_in_secret: false,
            has_exited: false,
            is_wanted: false,
        }
    }

    fn everything(session: &Session) -> Self {
        let progress = session.progress();
        Self {
            sequence: progress.sequence,
            output: session.output_end(),
            ends_in_secret: false,
            has_exited: progress.has_ended,
            is_wanted: false,
        }
    }
}

impl Notifications {
    /// Whether the client wants notifications.
    pub fn is_on(&self) -> bool {
        self.filter.enabled
    }

    /// Sets the client's filter. When the client enables notifications, all changes until now count as reported.
    ///
    /// # Errors
    /// The filter is too long.
    pub fn set(&mut self, sessions: &Sessions, filter: Filter) -> Result<&Filter> {
        for (name, list) in [("adapters", &filter.adapters), ("sessions", &filter.sessions)] {
            if list.len() > MOST_FILTERED {
                let count = list.len();
                let why = format!("{name}: at most {MOST_FILTERED} entries, not {count}");
                return Err(Error::invalid_params(why));
            }
        }
        if filter.enabled && !self.filter.enabled {
            let all = sessions.all();
            let everything = |session: &Arc<Session>| {
                (session.id().to_owned(), LastReported::everything(session))
            };
            self.reported = all.iter().map(everything).collect();
        }
        self.filter = filter;
        Ok(&self.filter)
    }

    /// Returns the notifications that are due. They count as reported from now on.
    pub async fn take(&mut self, sessions: &Sessions) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        if !self.filter.enabled {
            return messages;
        }
        let all = sessions.all();
        for session in &all {
            let wants = self.filter.wants(session);
            let reported =
                self.reported.entry(session.id().to_owned()).or_insert_with(LastReported::nothing);
            if wants {
                add(&mut messages, sessions, session, reported).await;
            } else {
                *reported = LastReported::everything(session);
            }
            reported.is_wanted = wants;
        }
        // These sessions were closed, so their programs have ended.
        let is_there = |id: &String| all.iter().any(|session| session.id() == id);
        let closed: Vec<_> = self.reported.keys().filter(|id| !is_there(id)).cloned().collect();
        for id in closed {
            if let Some(reported) = self.reported.remove(&id)
                && !reported.has_exited
                && reported.is_wanted
            {
                let params = json!({"session": id, "sequence": reported.sequence});
                messages.push(notification("session.exited", &params));
            }
        }
        messages
    }
}

/// Adds the notifications that are due for a session.
async fn add(
    messages: &mut Vec<Vec<u8>>,
    sessions: &Sessions,
    session: &Session,
    reported: &mut LastReported,
) {
    let id = session.id();
    // The progress must be read before the output, because a program's end is reported after all its output.
    let progress = session.progress();
    let sequence = progress.sequence;
    if sequence > reported.sequence {
        reported.sequence = sequence;
        let params = json!({"session": id, "sequence": sequence});
        messages.push(notification("session.changed", &params));
    }
    let delta = session.output_after(reported.output, CONTEXT_CHARS);
    if delta.end > reported.output {
        let Delta { text, start, end, is_cut } = delta;
        let was_in_secret = reported.ends_in_secret && !is_cut;
        let piece = redacted(sessions.searches(), text, start, progress.has_ended, was_in_secret)
            .await
            .ok();
        // Output that can't be redacted is not sent.
        let is_cut = is_cut || piece.is_none();
        let held = piece.as_ref().map_or(0, |piece| piece.held);
        reported.output = end - held;
        reported.ends_in_secret = piece.as_ref().is_some_and(|piece| piece.ends_in_secret);
        let output = piece.map(|piece| piece.text).unwrap_or_default();
        let mut params = json!({"session": id, "sequence": sequence, "output": output});
        if is_cut {
            params["dropped"] = true.into();
        }
        if is_cut || !output.is_empty() {
            messages.push(notification("session.output", &params));
        }
    }
    if progress.has_ended && !reported.has_exited {
        reported.has_exited = true;
        let params = json!({"session": id, "sequence": sequence});
        messages.push(notification("session.exited", &params));
    }
}
