//! Calls that act: the action of each, and its execution by a hub, immediately or in a replay.

use std::sync::Arc;

use anyhow::Result;
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    audit::{Entry, Event},
    host::{Bash, Host, HostWrite},
    instance_tools::{self, CallOutcome},
    machines::{Machines, Unreachable},
    output::reason,
    store::Store,
};
use crate::{
    identity::{MachineId, machine_name},
    protocol::{
        InputPart, LONGEST_TEXT, RefusedLine, Reply, ToolCall, TypeReply, TypeRequest, Verb,
    },
};

/// The start and the end of pasted text (xterm, "Bracketed Paste Mode").
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];
/// The pause before Enter after a pasted text, so that the program handles the paste first.
const AFTER_PASTE_MS: u64 = 80;
/// The maximum length of a line that the user may release, in bytes. Instances don't remember longer lines.
const LONGEST_LINE: usize = 4096;
/// The maximum number of characters of a client's name.
const LONGEST_NAME: usize = 80;

/// A call that changes something.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The call's id. Two calls with the same id are never both executed.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The token's id.
    pub token: String,
    /// The token's name.
    pub token_name: String,
    /// The conversation's id.
    pub conversation: String,
    /// The action of the call.
    pub action: Action,
    /// A line that the user has released, although the line policy of the machine refuses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
}

impl Call {
    /// Creates an entry of the audit log about the call.
    pub fn entry(&self, event: Event, outcome: &str) -> Entry {
        Entry {
            call: self.id.clone(),
            token_name: self.token_name.clone(),
            conversation: self.conversation.clone(),
            detail: self.action.detail(),
            outcome: outcome.to_owned(),
            ..Entry::new(event, &self.tool, &self.token)
        }
    }
}

/// The action of a call that changes something.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Types into a session.
    Send {
        /// The machine.
        machine: MachineId,
        /// The session.
        session: String,
        /// The parts of the input.
        parts: Vec<InputPart>,
    },
    /// Calls a tool of an instance. The tool's name is that of the call.
    Tool {
        /// The machine.
        machine: MachineId,
        /// The instance. If the name is empty, the only instance.
        instance: String,
        /// The tool's arguments.
        arguments: JsonObject,
    },
    /// Runs a command on a hub's host.
    Bash {
        /// The host's name. Hubs on other hosts don't execute the call.
        host: String,
        /// The command to run.
        bash: Bash,
    },
    /// Writes a file on a hub's host.
    Write {
        /// The host's name.
        host: String,
        /// The file to write.
        write: HostWrite,
    },
}

impl Action {
    /// The machine on which the action is executed. `None` if that is a hub's host.
    pub fn machine(&self) -> Option<&MachineId> {
        match self {
            Self::Send { machine, .. } | Self::Tool { machine, .. } => Some(machine),
            Self::Bash { .. } | Self::Write { .. } => None,
        }
    }

    /// A short description of the action, for the user and the audit log.
    pub fn detail(&self) -> String {
        match self {
            Self::Send { machine, session, parts } => {
                let text: String = parts.iter().map(|part| part.text.as_str()).collect();
                format!("{machine} {}: {}", quoted(session), quoted(&text))
            }
            Self::Tool { machine, arguments, .. } => {
                let arguments = arguments.iter().map(|(name, value)| match value {
                    Value::String(text) => format!("{}={}", quoted(name), quoted(text)),
                    other => format!("{}={}", quoted(name), quoted(&other.to_string())),
                });
                format!("{machine}: {}", arguments.collect::<Vec<_>>().join(" "))
            }
            Self::Bash { bash: Bash { command, .. }, .. } => quoted(command),
            Self::Write { write: HostWrite { path, content }, .. } => {
                format!("{} bytes to {}", content.len(), quoted(path))
            }
        }
    }
}

/// A text in which all control characters are escaped, including line ends.
fn quoted(text: &str) -> String {
    let text = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    unterm_control::escaped(&text)
}

/// The parts of the input for a text in a submit mode.
///
/// # Errors
/// The mode is unknown, or the text is too long. A message for the agent.
pub fn parts(text: &str, mode: &str) -> Result<Vec<InputPart>, String> {
    if text.len() > LONGEST_TEXT {
        return Err(format!("text must have at most {LONGEST_TEXT} bytes, not {}", text.len()));
    }
    check_message("text", text)?;
    let part = |text: String, after_ms| InputPart { text, after_ms };
    Ok(match mode {
        "enter" => vec![part(format!("{text}\r"), 0)],
        "newline" => vec![part(format!("{text}\n"), 0)],
        "crlf" => vec![part(format!("{text}\r\n"), 0)],
        "raw" => vec![part(text.to_owned(), 0)],
        "paste" => {
            // The end of a paste inside the text would end the paste early, so that the rest would count as typed.
            let [start, end] = PASTE;
            let mut body = text.to_owned();
            while body.contains(end) {
                body = body.replace(end, "");
            }
            vec![part(format!("{start}{body}{end}"), 0), part("\r".to_owned(), AFTER_PASTE_MS)]
        }
        other => {
            return Err(format!(
                "submit_mode must be enter, newline, crlf, raw or paste, not {:?}",
                unterm_control::escaped(&other.chars().take(40).collect::<String>())
            ));
        }
    })
}

/// Refuses a text that does not fit into a NATS message, because escapes make it much longer.
///
/// # Errors
/// The text does not fit. A message for the agent.
pub fn check_message(name: &str, text: &str) -> Result<(), String> {
    // The text is escaped to at most twice its length, and has two quotation marks.
    const MOST: usize = 2 * LONGEST_TEXT + 2;
    let escaped = serde_json::to_string(text).map_or(usize::MAX, |text| text.len());
    match escaped <= MOST {
        true => Ok(()),
        false => Err(format!(
            "{name} must have at most {MOST} bytes when control characters are escaped"
        )),
    }
}

/// The reason why an action was not executed.
#[derive(Debug)]
pub enum Failure {
    /// The machine is not connected, or the call is for another hub's host. Nothing was done.
    Offline,
    /// The machine did not answer in time. The action may have been executed.
    Silent(String),
    /// The machine was too busy, or its store did not answer. Nothing was done.
    NotBegun(String),
    /// The line policy of the machine refuses a line. The user may release the line.
    Blocked(RefusedLine),
    /// The action was refused, or failed.
    Refused(String),
}

impl Failure {
    /// The error for the agent.
    pub fn message(&self) -> String {
        match self {
            Self::Offline => "connector_offline".to_owned(),
            Self::Silent(why) | Self::NotBegun(why) | Self::Refused(why) => why.clone(),
            Self::Blocked(blocked) => blocked_by(blocked),
        }
    }
}

/// Executes actions.
#[derive(Clone)]
pub struct Executor {
    /// The machines.
    pub machines: Machines,
    /// The hub's own host.
    pub host: Host,
    /// The store, in which calls on the host are claimed.
    pub store: Arc<Store>,
}

impl Executor {
    /// Executes a call, unless a call with this id was begun before.
    ///
    /// # Errors
    /// The call was not executed, or its outcome is unknown.
    pub async fn execute(&self, call: &Call) -> Result<CallOutcome, Failure> {
        match &call.action {
            Action::Send { machine, session, parts } => {
                self.send(call, machine, session, parts).await
            }
            Action::Tool { machine, instance, arguments } => {
                let request = ToolCall {
                    call: Some(call.id.clone()),
                    instance: instance.clone(),
                    client: client_name(&call.token_name, &call.conversation),
                    token: call.token.clone(),
                    conversation: call.conversation.clone(),
                    tool: call.tool.clone(),
                    arguments: arguments.clone(),
                    released: call.released.clone(),
                };
                let result = self.once(machine, Verb::Tool, &call.id, &request).await?;
                Ok(instance_tools::outcome(&result, is_raw(arguments)))
            }
            Action::Bash { host, .. } | Action::Write { host, .. } if *host != machine_name() => {
                Err(Failure::Offline)
            }
            Action::Bash { bash, .. } => {
                self.claim(call).await?;
                self.host.bash(bash).await.map(CallOutcome::of_text).map_err(Failure::Refused)
            }
            Action::Write { write, .. } => {
                self.claim(call).await?;
                self.host.write(write).await.map(CallOutcome::of_text).map_err(Failure::Refused)
            }
        }
    }

    async fn claim(&self, call: &Call) -> Result<(), Failure> {
        match self.store.calls.begin_here(&call.id).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(unknown()),
            Err(error) => Err(Failure::NotBegun(format!("{error:#}"))),
        }
    }

    async fn send(
        &self,
        call: &Call,
        machine: &MachineId,
        session: &str,
        parts: &[InputPart],
    ) -> Result<CallOutcome, Failure> {
        let request = TypeRequest {
            call: call.id.clone(),
            sid: session.to_owned(),
            client: client_name(&call.token_name, &call.conversation),
            parts: parts.to_vec(),
            released: call.released.clone(),
        };
        let TypeReply { bytes } = self.once(machine, Verb::Type, &call.id, &request).await?;
        Ok(CallOutcome::of_text(json!({"status": "sent", "bytes": bytes}).to_string()))
    }

    /// The result of a request that a machine executes only once. If the request was executed before, returns the
    /// result of that time.
    async fn once<T: DeserializeOwned>(
        &self,
        machine: &MachineId,
        verb: Verb,
        call: &str,
        request: &impl Serialize,
    ) -> Result<T, Failure> {
        let calls = &self.store.calls;
        if let Err(error) = calls.ask(machine, call).await {
            return Err(Failure::NotBegun(format!("{error:#}; nothing was done")));
        }
        let reply = match self.machines.request::<Value>(machine, verb, request).await {
            Ok(Reply::Repeated) => match calls.outcome(machine, call).await {
                Ok(Some(reply)) => reply,
                Ok(None) => return Err(unknown()),
                Err(error) => return Err(Failure::Silent(format!("{error:#}"))),
            },
            Ok(reply) => reply,
            Err(Unreachable::Offline) => return Err(Failure::Offline),
            Err(error) => return Err(Failure::Silent(error.to_string())),
        };
        match reply {
            Reply::Done(done) => serde_json::from_value(done).map_err(|error| {
                let error = reason(&error.to_string());
                Failure::Refused(format!("the machine's reply is not understood: {error}"))
            }),
            Reply::Refused(why) => Err(Failure::Refused(reason(&why))),
            Reply::NotBegun(why) => Err(Failure::NotBegun(reason(&why))),
            Reply::Blocked(blocked) => {
                let (rule, instance) = (reason(&blocked.rule), reason(&blocked.instance));
                let blocked = RefusedLine { rule, instance, ..blocked };
                Err(match blocked.line.len() {
                    0..=LONGEST_LINE => Failure::Blocked(blocked),
                    _ => Failure::Refused(blocked_by(&blocked)),
                })
            }
            Reply::Repeated => Err(unknown()),
        }
    }
}

/// Whether the agent requests unescaped texts from a tool of an instance.
pub fn is_raw(arguments: &JsonObject) -> bool {
    arguments.get("raw") == Some(&Value::Bool(true))
}

/// The name of an agent that the user of a machine sees.
pub fn client_name(token: &str, conversation: &str) -> String {
    let client: String = format!("{token} {conversation}").chars().take(LONGEST_NAME).collect();
    unterm_control::escaped(client.trim())
}

fn blocked_by(RefusedLine { rule, parts_typed, .. }: &RefusedLine) -> String {
    let rest = if *parts_typed > 0 { " (the text is already at the prompt)" } else { "" };
    format!("Command blocked by policy: {rule}{rest}")
}

fn unknown() -> Failure {
    Failure::Refused("the call was begun before, and its outcome is unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_submit_mode_appends_its_line_end() {
        let typed = |mode| {
            let parts = parts("a\nb", mode).unwrap();
            parts.into_iter().map(|part| (part.text, part.after_ms)).collect::<Vec<_>>()
        };
        let one = |text: &str| vec![(text.to_owned(), 0)];
        assert_eq!(typed("enter"), one("a\nb\r"));
        assert_eq!(typed("newline"), one("a\nb\n"));
        assert_eq!(typed("crlf"), one("a\nb\r\n"));
        assert_eq!(typed("raw"), one("a\nb"));
        let paste = [("\x1b[200~a\nb\x1b[201~", 0), ("\r", 80)];
        assert_eq!(typed("paste"), paste.map(|(text, after)| (text.to_owned(), after)));
        let wrong = parts("a", "Enter\x1b").unwrap_err();
        assert!(wrong.ends_with("or paste, not \"Enter\\\\u{1b}\""), "{wrong}");
    }

    #[test]
    fn text_from_agents_is_escaped_in_messages_to_the_user() {
        let machine = MachineId::try_from("1df461750a3e".to_owned()).unwrap();
        let hostile = "\u{1b}]52;c;eA==\u{7}\n    key x";
        let arguments = JsonObject::from_iter([(hostile.to_owned(), json!(hostile))]);
        let parts = vec![InputPart { text: hostile.to_owned(), after_ms: 0 }];
        for action in [
            Action::Tool { machine: machine.clone(), instance: String::new(), arguments },
            Action::Send { machine, session: hostile.to_owned(), parts },
        ] {
            let detail = action.detail();
            assert!(!detail.contains(['\u{1b}', '\n', '\u{7}']), "{detail:?}");
        }
    }

    #[test]
    fn text_cannot_end_its_own_bracketed_paste() {
        for text in ["a\x1b[201~b", "a\x1b[2\x1b[201~01~b", "\x1b[201~\x1b[201~"] {
            let parts = parts(text, "paste").unwrap();
            assert_eq!(parts[0].text.matches("\x1b[201~").count(), 1, "{text:?}");
            assert!(parts[0].text.ends_with("\x1b[201~"));
        }
    }

    #[test]
    fn a_text_of_10_mb_is_refused_with_a_clear_message() {
        let why = parts(&"x".repeat(10 << 20), "enter").unwrap_err();
        assert_eq!(why, "text must have at most 262144 bytes, not 10485760");
        assert!(parts(&"\n".repeat(LONGEST_TEXT), "raw").is_ok());
        let why = parts(&"\x1b".repeat(LONGEST_TEXT), "raw").unwrap_err();
        assert!(why.ends_with("when control characters are escaped"), "{why}");
    }
}
