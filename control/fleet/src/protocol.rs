//! The protocol between hub and connector: subjects, buckets and messages.
//!
//! A hub sends requests to the subjects of one machine, and the connector of that machine replies. Nothing here is for agents: the
//! hub translates. All messages are JSON. A receiver ignores fields that it does not know, so that hubs and connectors of
//! different versions work together.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{identity::MachineId, jwt::Permissions};

/// The bucket with the presence of connected machines. A key is a machine's id. It expires unless the connector renews it.
pub const PRESENCE: &str = "fleet_presence";
/// The bucket of calls that connectors have begun. A key is `MACHINE.CALL`.
pub const CALLS: &str = "fleet_calls";
/// How often a connector renews its presence.
pub const RENEWAL: Duration = Duration::from_secs(10);
/// How long a presence lasts without a renewal.
pub const PRESENCE_TTL: Duration = Duration::from_secs(30);
/// How long a call's id is remembered. A held call that is replayed later than this might run twice, so hubs drop older ones.
pub const CALL_MEMORY: Duration = Duration::from_secs(7 * 24 * 3600);
/// The most bytes of text in one call, below NATS's limit of 1 MiB for a message.
pub const LONGEST_TEXT: usize = 256 << 10;
/// The most bytes of a tool's result, below NATS's limit.
pub const LONGEST_RESULT: usize = 900 << 10;
/// How long a tool may take. Tools wait 50 s at most, and NATS lets a machine reply within 60 s.
pub const TOOL_PATIENCE: Duration = Duration::from_secs(55);
/// The most bytes of a session's text in one reply.
pub const MOST_READ: usize = 200_000;

/// A request to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Lists the sessions.
    Sessions,
    /// Reads a session's text.
    Read,
    /// Types into a session.
    Type,
    /// Calls a tool of an instance.
    Tool,
    /// Shows a session live, for some seconds.
    Watch,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sessions, Self::Read, Self::Type, Self::Tool, Self::Watch];

    /// The last part of its subject.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Read => "read",
            Self::Type => "type",
            Self::Tool => "tool",
            Self::Watch => "watch",
        }
    }

    /// The subject of a machine's requests of this kind.
    pub fn subject(self, machine: &MachineId) -> String {
        format!("fleet.machine.{machine}.{}", self.name())
    }
}

/// The subjects of all requests to a machine.
pub fn requests(machine: &MachineId) -> String {
    format!("fleet.machine.{machine}.*")
}

/// The prefix of subjects for replies to a machine. Other machines can't subscribe to them.
pub fn inbox(machine: &MachineId) -> String {
    format!("_INBOX_{machine}")
}

/// The subject of a session's live view.
///
/// # Errors
/// `sid` is not a session's id.
pub fn view(machine: &MachineId, sid: &str) -> Result<String, String> {
    let is_id = sid.len() == 12 && sid.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_id {
        true => Ok(format!("fleet.view.{machine}.{sid}")),
        false => Err("a session's id has 12 hexadecimal digits".to_owned()),
    }
}

/// The subject of a machine's presence, which is a key of the bucket.
pub fn presence(machine: &MachineId) -> String {
    format!("$KV.{PRESENCE}.{machine}")
}

/// The key of a call in its bucket.
pub fn call_key(machine: &MachineId, call: &str) -> String {
    format!("{machine}.{call}")
}

/// The subject of a call, which is a key of the bucket.
pub fn call(machine: &MachineId, call: &str) -> String {
    format!("$KV.{CALLS}.{}", call_key(machine, call))
}

/// What the connector of a machine may do in NATS: serve its own requests, and state its own presence and calls.
pub fn permissions(machine: &MachineId) -> Permissions {
    Permissions {
        publish: vec![presence(machine), call(machine, "*"), format!("fleet.view.{machine}.*")],
        subscribe: vec![requests(machine), format!("{}.>", inbox(machine))],
    }
}

/// The state of a machine, as its connector reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// The machine's name for people.
    pub name: String,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// The connector's version.
    pub version: String,
    /// The AI programs on the machine, by name.
    pub scan: BTreeMap<String, Program>,
    /// The sessions.
    pub sessions: Vec<Session>,
}

/// An AI program on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The path of its program file.
    pub binary: String,
    /// Its version, as it reports it. Empty if it reports none.
    pub version: String,
    /// Whether it runs in a session.
    pub running: bool,
}

/// A session: a pane of a live instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id. No other pane, of this or another start of an instance, has the same one.
    pub sid: String,
    /// The AI program in its foreground.
    pub ai: Option<String>,
    /// Its working directory. Empty if unknown.
    pub cwd: String,
    /// Its title. Any program in the session can set it.
    #[serde(default)]
    pub title: String,
    /// The instance that it belongs to.
    #[serde(default)]
    pub instance: String,
}

/// The reply to [`Verb::Sessions`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sessions {
    /// The sessions.
    pub sessions: Vec<Session>,
}

/// The request of [`Verb::Read`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Read {
    /// The session.
    pub sid: String,
}

/// The reply to [`Verb::Read`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Text {
    /// The last rows of the session, at most [`MOST_READ`] bytes.
    pub text: String,
    /// Whether there are older rows.
    pub is_cut: bool,
}

/// The request of [`Verb::Type`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Type {
    /// The call's id. A connector carries out a call once, however often it is asked.
    pub call: String,
    /// The session.
    pub sid: String,
    /// Who types, for the person at the machine.
    pub client: String,
    /// What to type, in this order.
    pub parts: Vec<Part>,
    /// A line that a person has released: it is entered although the rules of the machine refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
}

/// A part of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The text, sent unchanged in one write.
    pub text: String,
    /// How long to wait before it, in milliseconds.
    #[serde(default)]
    pub after_ms: u64,
}

/// The request of [`Verb::Tool`]: a call of a tool of the toolset `unterm`. The reply is the tool's result in the form of the Model
/// Context Protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id, if it may change something. Such a call is carried out once, however often it is asked.
    pub call: Option<String>,
    /// The instance. Empty: the only one.
    pub instance: String,
    /// Who calls, for the person at the machine.
    pub client: String,
    /// The token of the hub that is used. The handles and leases of calls belong to it and the conversation.
    pub token: String,
    /// The conversation.
    pub conversation: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// A line that a person has released: it is entered although the rules of the machine refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
}

/// The request of [`Verb::Watch`]. For [`WATCH_TIME`], the connector publishes what the session shows to [`view`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The session.
    pub sid: String,
    /// Whether to send the whole screen again.
    pub anew: bool,
}

/// How long a live view lasts after a request for it.
pub const WATCH_TIME: Duration = Duration::from_secs(15);

/// A part of a live view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// The screen: feed the bytes to a new terminal of this size.
    Screen {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
        /// The bytes, in base64.
        base64: String,
        /// How many bytes of output were left out before.
        lost: u64,
    },
    /// More output, in base64.
    Bytes(String),
    /// The view has ended. A reason for the person.
    End(String),
}

/// A connector's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply<T> {
    /// The result.
    Done(T),
    /// The machine refuses the request, or it failed. A message for the agent.
    Refused(String),
    /// The call was not begun, because something did not answer in time. It may be sent again. A message for the agent.
    NotBegun(String),
    /// The rules of the machine refuse a line, which a person may release.
    Blocked(Blocked),
    /// The call was begun before. Its outcome is in the bucket of calls, if it has ended.
    Repeated,
}

/// A line that the rules of a machine refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The whole line, with what was in it before the call. Several lines are separated by line ends.
    pub line: String,
    /// The rule, or why the line is refused.
    pub rule: String,
    /// The instance of the pane.
    pub instance: String,
    /// The pane's number there.
    pub pane: u64,
    /// How many parts of the call were typed before.
    pub parts_typed: usize,
}

/// The outcome of a call that types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// How many bytes were typed.
    pub bytes: usize,
}

/// A call in the bucket of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The connector has begun it.
    Begun,
    /// It has ended, with the reply of its verb.
    Ended(Reply<Value>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_may_use_its_own_subjects_only() {
        let [own, other] = ["1df461750a3e", "0123456789ab"].map(|id| {
            let id = MachineId::try_from(id.to_owned()).unwrap();
            (permissions(&id), id)
        });
        let all = |of: &Permissions| [&of.publish[..], &of.subscribe[..]].concat();
        let named = |subject: &String| subject.contains(own.1.as_str());
        assert!(all(&own.0).iter().all(named) && !all(&other.0).iter().any(named));
        for verb in Verb::ALL {
            let pattern = requests(&own.1);
            assert_eq!(verb.subject(&own.1), pattern.replace('*', verb.name()));
        }
    }
}
