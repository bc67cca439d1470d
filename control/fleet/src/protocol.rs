//! The protocol between hub and connector: subjects, buckets and messages.
//!
//! A hub sends requests to the subjects of one machine, and the connector of that machine replies. Nothing here is for agents: the
//! hub translates. All messages are JSON. A receiver ignores fields that it does not know, so that hubs and connectors of
//! different versions work together.
//!
//! A machine has no access to JetStream. It asks a hub ([`Ask`]), and the hub stores. The reason: JetStream obeys headers of a
//! message (`Nats-Rollup` erases other keys of a stream) and publishes its reply to any subject that the message names, with the
//! rights of the account. Permissions of NATS restrict neither. Subjects mapped from an account for each machine would restrict the
//! subject, but not the headers, and would need one account for each machine on every server.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{identity::MachineId, jwt::Permissions};

/// How often a connector renews its presence.
pub const RENEWAL: Duration = Duration::from_secs(10);
/// How long a presence lasts without a renewal.
pub const PRESENCE_TTL: Duration = Duration::from_secs(30);
/// How long a machine's token is valid. The connector has it renewed after half of that.
pub const TOKEN_LIFE: Duration = Duration::from_secs(24 * 3600);
/// The most bytes of a presence. A hub leaves out sessions beyond that.
pub const LONGEST_PRESENCE: usize = 128 << 10;
/// The most bytes of a call's outcome that a hub stores.
pub const LONGEST_OUTCOME: usize = 64 << 10;
/// The longest id of a call, and of a try to begin one.
const LONGEST_ID: usize = 64;
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

/// The subject on which a machine asks hubs. Only this machine may publish to it.
pub fn asks(machine: &MachineId) -> String {
    format!("fleet.hub.{machine}")
}

/// The subject on which a machine asks for a new token. The reply is [`Tokens`].
pub fn renewals(machine: &MachineId) -> String {
    format!("fleet.renew.{machine}")
}

/// The subject for that of machines whose token is of an earlier version: it allows no subject of [`asks`] and [`renewals`].
pub fn earlier_renewals(machine: &MachineId) -> String {
    format!("$KV.fleet_calls.{machine}.renew")
}

/// The key of a call in a bucket of the hubs.
pub fn call_key(machine: &MachineId, call: &str) -> String {
    format!("{machine}.{call}")
}

/// Whether a text may be the id of a call. Other texts would be unsafe as keys.
pub fn is_call_id(call: &str) -> bool {
    (1..=LONGEST_ID).contains(&call.len()) && call.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What the connector of a machine may do in NATS: serve requests to its machine, ask hubs, and show its sessions.
pub fn permissions(machine: &MachineId) -> Permissions {
    Permissions {
        publish: vec![asks(machine), renewals(machine), format!("fleet.view.{machine}.*")],
        subscribe: vec![requests(machine), format!("{}.>", inbox(machine))],
        may_reply: true,
    }
}

/// What a machine may do without a valid token of its [`permissions`]: ask for one.
pub fn renewal_permissions(machine: &MachineId) -> Permissions {
    Permissions {
        publish: vec![renewals(machine)],
        subscribe: vec![format!("{}.>", inbox(machine))],
        may_reply: false,
    }
}

/// A machine's tokens of NATS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The token of its [`permissions`], valid for [`TOKEN_LIFE`].
    pub jwt: String,
    /// The token of its [`renewal_permissions`], without an end, so that a machine that was off for long needs no person. A hub
    /// renews only machines that are paired.
    pub renewal: String,
}

/// What a machine asks a hub.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// To store its presence for [`PRESENCE_TTL`].
    Presence(Presence),
    /// To mark a call as begun. Only the first try may carry it out.
    Begin {
        /// The call that a hub sent.
        call: String,
        /// The try's random id. The hub recognizes it if the question is repeated because the answer was lost.
        attempt: String,
    },
    /// To store the outcome of a call that it has begun, with the reply of its verb.
    End {
        /// The call.
        call: String,
        /// At most [`LONGEST_OUTCOME`] bytes.
        reply: Reply<Value>,
    },
}

/// A hub's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is stored.
    Done,
    /// Another try has begun the call.
    BegunBefore,
    /// The hub does not store that. A reason for the log.
    Refused(String),
    /// The store failed. The machine may ask again.
    Failed(String),
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
    /// The call was begun before. The hubs have its outcome, if it has ended.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_may_use_its_own_subjects_only() {
        let [own, other] = ["1df461750a3e", "0123456789ab"].map(|id| {
            let id = MachineId::try_from(id.to_owned()).unwrap();
            (id.clone(), id)
        });
        let all = |id: &MachineId| {
            let of = [permissions(id), renewal_permissions(id)];
            of.into_iter().flat_map(|of| [of.publish, of.subscribe].concat()).collect::<Vec<_>>()
        };
        let named = |subject: &String| subject.contains(own.1.as_str());
        assert!(all(&own.0).iter().all(named) && !all(&other.0).iter().any(named));
        for verb in Verb::ALL {
            let pattern = requests(&own.1);
            assert_eq!(verb.subject(&own.1), pattern.replace('*', verb.name()));
        }
    }

    #[test]
    fn only_plain_ids_become_keys() {
        assert!(is_call_id("0a9F"));
        for wrong in ["", "a.b", "*", ">", "a b", "é", &"a".repeat(LONGEST_ID + 1)] {
            assert!(!is_call_id(wrong), "{wrong}");
        }
    }
}
