//! The protocol between hub and connector: subjects, buckets and messages.
//!
//! A hub sends requests to the subjects of one machine, and the connector of that machine replies. Agents do not use
//! this protocol: the hub translates their calls. All messages are JSON. A receiver ignores fields that it does not
//! know, so that hubs and connectors of different versions work together.
//!
//! A machine has no access to JetStream. It asks a hub ([`Question`]), and the hub stores the data. The reason: JetStream
//! obeys headers of a message (`Nats-Rollup` erases other keys of a stream) and publishes its reply to any subject that
//! the message names, with the rights of the account. Permissions of NATS restrict neither. Subjects mapped from an
//! account for each machine would restrict the subject, but not the headers, and would need one account for each
//! machine on every server.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{identity::MachineId, jwt::Permissions};

/// The interval at which a connector renews its presence.
pub const RENEWAL: Duration = Duration::from_secs(10);
/// The time for which a presence is valid without a renewal.
pub const PRESENCE_TTL: Duration = Duration::from_secs(30);
/// The time for which a machine's token is valid. The connector requests a new token after half of that time.
pub const TOKEN_LIFE: Duration = Duration::from_secs(24 * 3600);
/// The maximum number of bytes of a presence. A hub leaves out sessions if there are more.
pub const LONGEST_PRESENCE: usize = 128 << 10;
/// The maximum number of bytes of a call's outcome that a hub stores.
pub const LONGEST_OUTCOME: usize = 64 << 10;
/// The maximum length of the id of a call, and of a try to begin one.
const LONGEST_ID: usize = 64;
/// The time for which a call's id is remembered. A held call that is replayed later might run twice, so hubs drop older
/// held calls.
pub const CALL_MEMORY: Duration = Duration::from_secs(7 * 24 * 3600);
/// The maximum number of bytes of text in one call. It is below NATS's limit of 1 MiB for a message.
pub const LONGEST_TEXT: usize = 256 << 10;
/// The maximum number of bytes of a tool's result. It is below NATS's limit for a message.
pub const LONGEST_RESULT: usize = 900 << 10;
/// The maximum time of a tool call. Tools wait 50 s at most, and NATS lets a machine reply within 60 s.
pub const TOOL_PATIENCE: Duration = Duration::from_secs(55);
/// The maximum number of bytes of a session's text in one reply.
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
    /// Shows a session live, for [`WATCH_TIME`].
    Watch,
}

impl Verb {
    /// All kinds of requests.
    pub const ALL: [Self; 5] = [Self::Sessions, Self::Read, Self::Type, Self::Tool, Self::Watch];

    /// The last part of the subject of this kind of request.
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

/// The subject on which machines with a token of an earlier version ask for a new token. That token allows neither the
/// subject of [`asks`] nor the subject of [`renewals`].
pub fn earlier_renewals(machine: &MachineId) -> String {
    format!("$KV.fleet_calls.{machine}.renew")
}

/// The key of a machine's call in the hubs' bucket of calls.
pub fn call_key(machine: &MachineId, call: &str) -> String {
    format!("{machine}.{call}")
}

/// Whether a text is a valid id of a call. Other texts would be unsafe as keys.
pub fn is_call_id(call: &str) -> bool {
    (1..=LONGEST_ID).contains(&call.len()) && call.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The NATS permissions of a machine's connector: to serve requests to its machine, to ask hubs, and to show its
/// sessions.
pub fn permissions(machine: &MachineId) -> Permissions {
    Permissions {
        publish: vec![asks(machine), renewals(machine), format!("fleet.view.{machine}.*")],
        subscribe: vec![requests(machine), format!("{}.>", inbox(machine))],
        may_reply: true,
    }
}

/// The NATS permissions of a machine without a valid token of its [`permissions`]: to ask for a new token.
pub fn renewal_permissions(machine: &MachineId) -> Permissions {
    Permissions {
        publish: vec![renewals(machine)],
        subscribe: vec![format!("{}.>", inbox(machine))],
        may_reply: false,
    }
}

/// The NATS tokens of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The token with the machine's [`permissions`], valid for [`TOKEN_LIFE`].
    pub jwt: String,
    /// The token with the machine's [`renewal_permissions`]. It does not expire, so that no user needs to act for a
    /// machine that was off for a long time. A hub renews only the tokens of paired machines.
    pub renewal: String,
}

/// A machine's question to the hubs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// To store the machine's presence for [`PRESENCE_TTL`].
    Presence(Presence),
    /// To mark a call as begun. Only the try that asks first may execute the call.
    Begin {
        /// The call that a hub sent.
        call: String,
        /// The random id of the try. If the hub's answer was lost and the question is repeated, the hub recognizes the
        /// question by it.
        attempt: String,
    },
    /// To store the outcome of a call that the machine has begun, with the reply of the call's verb.
    End {
        /// The id of the call.
        call: String,
        /// The reply, of at most [`LONGEST_OUTCOME`] bytes.
        reply: Reply<Value>,
    },
}

/// A hub's answer to an [`Question`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionReply {
    /// The data is stored.
    Done,
    /// Another try has begun the call.
    BegunBefore,
    /// The hub refuses to store the data. A reason for the log.
    Refused(String),
    /// The store failed. The machine may ask again.
    Failed(String),
}

/// The state of a machine, as its connector reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// The machine's name that users see.
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
    /// The path of the executable file.
    pub binary: String,
    /// The version that the program reports. Empty if it reports none.
    pub version: String,
    /// Whether the program runs in a session.
    pub running: bool,
}

/// A session: a pane of a live instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The id of the session. The id is unique: the panes of a restarted instance get other ids.
    pub sid: String,
    /// The AI program in the foreground of the session.
    pub ai: Option<String>,
    /// The working directory. Empty if it is unknown.
    pub cwd: String,
    /// The title. Any program in the session can set it.
    #[serde(default)]
    pub title: String,
    /// The instance that the session belongs to.
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
pub struct ReadRequest {
    /// The id of the session.
    pub sid: String,
}

/// The reply to [`Verb::Read`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionText {
    /// The last rows of the session, at most [`MOST_READ`] bytes.
    pub text: String,
    /// Whether there are older rows.
    pub is_cut: bool,
}

/// The request of [`Verb::Type`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeRequest {
    /// The id of the call. A connector executes a call once, even if it receives the call several times.
    pub call: String,
    /// The id of the session.
    pub sid: String,
    /// The name of the client that types, which is shown to the user at the machine.
    pub client: String,
    /// The parts of the input, in order.
    pub parts: Vec<InputPart>,
    /// A line that a user has released: it is entered although the rules of the machine refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
}

/// A part of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputPart {
    /// The text, which is sent unchanged in one write.
    pub text: String,
    /// The time to wait before the text is sent, in milliseconds.
    #[serde(default)]
    pub after_ms: u64,
}

/// The request of [`Verb::Tool`]: a call of a tool of the toolset `unterm`. The reply is the tool's result in the form
/// of the Model Context Protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id of the call, if the call may change something. Such a call is executed once, even if the machine receives
    /// it several times.
    pub call: Option<String>,
    /// The id of the instance. Empty: the only instance of the machine.
    pub instance: String,
    /// The name of the client that calls, which is shown to the user at the machine.
    pub client: String,
    /// The id of the hub's token that is used. The handles and leases of calls belong to the token and the
    /// conversation.
    pub token: String,
    /// The id of the conversation.
    pub conversation: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the tool.
    pub arguments: Map<String, Value>,
    /// A line that a user has released: it is entered although the rules of the machine refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
}

/// The request of [`Verb::Watch`]. For [`WATCH_TIME`], the connector publishes what the session shows to the subject of
/// [`view`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchRequest {
    /// The id of the session.
    pub sid: String,
    /// Whether to send the whole screen again.
    pub anew: bool,
}

/// The time for which a live view continues after a request for it.
pub const WATCH_TIME: Duration = Duration::from_secs(15);

/// A part of a live view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewFrame {
    /// The whole screen. The bytes draw it in a new terminal of this size.
    Screen {
        /// The number of columns.
        cols: u16,
        /// The number of rows.
        rows: u16,
        /// The bytes, in base64.
        base64: String,
        /// The number of bytes of output that were left out before this screen.
        lost: u64,
    },
    /// More output, in base64.
    Bytes(String),
    /// The view has ended. A reason for the user.
    End(String),
}

/// A connector's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply<T> {
    /// The result.
    Done(T),
    /// The machine refuses the request, or the request failed. A message for the agent.
    Refused(String),
    /// The call was not begun, because something did not answer in time. The hub may send the call again. A message for
    /// the agent.
    NotBegun(String),
    /// The rules of the machine refuse a line, which a user may release.
    Blocked(RefusedLine),
    /// The call was already begun at an earlier request. The hubs have its outcome, if it has ended.
    Repeated,
}

/// A line that the rules of a machine refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLine {
    /// The whole line, including the part that was there before the call. Several lines are separated by line ends.
    pub line: String,
    /// The rule, or the reason that the line is refused.
    pub rule: String,
    /// The instance that the pane belongs to.
    pub instance: String,
    /// The number of the pane in its instance.
    pub pane: u64,
    /// The number of parts of the call that were typed before the refused line.
    pub parts_typed: usize,
}

/// The outcome of a call that types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeReply {
    /// The number of bytes that were typed.
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
