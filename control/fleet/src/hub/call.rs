//! Handles a call of a tool: the token's rights, the conversation's approval and pause, the audit log, and the reply.
//!
//! Every call is handled here, whatever its transport. The replies and errors are texts in the form of AITerm's page.

use anyhow::Result;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    action::{self, Action, Call, Failure},
    audit::{self, Entry, Event},
    blocked_lines::MOST_LINES,
    conversations::{Approval, Flow, MOST_PENDING},
    host::{Bash, HostWrite},
    instance_tools::{self, CallOutcome},
    machines::{ListedMachine, ListedSession, Machine, Unreachable, visible},
    output,
    services::Services,
    tokens::{Right, Token},
    tool::{
        Arguments, ToolRow,
        parameters::{
            ReadSessionOutput, RemoteBash, RemoteGlob, RemoteGrep, RemoteRead, RemoteWrite,
            SendToSession,
        },
    },
};
use crate::{
    identity::{MachineId, machine_name},
    protocol::{ReadRequest, RefusedLine, Reply, SessionText, Sessions, ToolCall, Verb},
    random::random_hex,
};

/// The maximum number of characters of a call's description for the user.
const LONGEST_DETAIL: usize = 500;

/// The refusal for a token that is limited to other machines, in the words of AITerm's page.
const OTHER_MACHINE: &str = "this token is not scoped to that machine";

/// The reply of `list_machines`. Its fields are in the protocol's order.
#[derive(Serialize)]
struct MachinesReply {
    machines: Vec<ListedMachine<ListedSession>>,
}

/// The answer to the agent: a reply, or an error.
pub enum CallReply {
    /// A result.
    Done(CallToolResult),
    /// The call waits for the user's approval, or was refused.
    Refused(String),
    /// The call is held, and will be executed later.
    Held(String),
}

fn done(text: String) -> CallReply {
    CallReply::Done(CallToolResult::success(vec![ContentBlock::text(text)]))
}

fn error(why: impl std::fmt::Display) -> CallReply {
    CallReply::Refused(format!("[error: {why}]"))
}

/// The reason why a call ends early.
enum EarlyEnd {
    /// A refusal for the agent.
    Reply(CallReply),
    /// The fleet's state can't be read or written.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for EarlyEnd {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

fn refuse<T>(why: impl std::fmt::Display) -> Result<T, EarlyEnd> {
    Err(EarlyEnd::Reply(error(why)))
}

/// Executes a call of a tool.
pub async fn call(hub: &Services, token: &Token, tool: &ToolRow, given: JsonObject) -> CallReply {
    let call = random_hex::<16>();
    let outcome = match call {
        Ok(id) => {
            let calling = Calling { hub, token, tool, id };
            calling.carry_out(given).await
        }
        Err(error) => Err(EarlyEnd::Failed(error)),
    };
    match outcome {
        Ok(answer) | Err(EarlyEnd::Reply(answer)) => answer,
        Err(EarlyEnd::Failed(why)) => {
            let why = format!("{why:#}");
            tracing::warn!(tool = tool.name, why, "a call failed");
            error(format_args!("the fleet's store does not answer: {why}"))
        }
    }
}

/// A call in progress.
struct Calling<'a> {
    hub: &'a Services,
    token: &'a Token,
    tool: &'a ToolRow,
    id: String,
}

impl Calling<'_> {
    async fn carry_out(&self, given: JsonObject) -> Result<CallReply, EarlyEnd> {
        let arguments = match self.tool.arguments(given) {
            Ok(arguments) => arguments,
            Err(why) => return refuse(why),
        };
        let checked = self.checked(&arguments).await;
        if let Err(EarlyEnd::Reply(CallReply::Refused(why))) = &checked {
            self.record(Event::Refused, &arguments, "", why).await?;
        }
        let machine = checked?;
        if self.tool.acts {
            self.act(&arguments, machine).await
        } else {
            self.look(&arguments, machine).await
        }
    }

    /// Checks the emergency stop, the token's rights and machines, and whether agents may use the hub's host. Returns
    /// the machine that the call names.
    async fn checked(&self, arguments: &Arguments) -> Result<Option<Machine>, EarlyEnd> {
        if self.hub.stop.is_set().await? {
            return refuse("the user has stopped all agents");
        }
        let (token, right) = (self.token, self.tool.right);
        let is_admin = self.tool.is_of_host() && token.gives(Right::Admin);
        if !token.gives(right) && !is_admin {
            return refuse(format_args!("this token lacks the right `{}`", right.name()));
        }
        if self.tool.is_of_host() {
            // The hub's host is not among the machines that a token can be limited to.
            if token.machines.is_some() && !is_admin {
                return refuse(OTHER_MACHINE);
            }
            return match self.hub.host.refusal(self.tool.name) {
                Some(why) => refuse(why),
                None => Ok(None),
            };
        }
        let named = arguments.text("machine_id");
        if named.is_empty() && self.tool.name == "list_machines" {
            return Ok(None);
        }
        let id = MachineId::try_from(named.to_owned());
        if id.as_ref().map_or(self.token.machines.is_some(), |id| !self.token.reaches(id)) {
            return refuse(OTHER_MACHINE);
        }
        let found = match &id {
            Ok(id) => self.hub.machines.find(id).await?,
            Err(_) => None,
        };
        match found {
            Some(machine) => Ok(Some(machine)),
            None => refuse(format_args!(
                "there is no machine {:?}; list_machines gives the ids",
                unterm_control::escaped(&named.chars().take(40).collect::<String>())
            )),
        }
    }

    /// Executes a call that changes nothing.
    async fn look(
        &self,
        arguments: &Arguments,
        machine: Option<Machine>,
    ) -> Result<CallReply, EarlyEnd> {
        let answer = match (self.tool.name, machine) {
            ("list_machines", _) => self.list_machines().await?,
            (_, Some(machine)) if self.tool.is_of_instances() => {
                self.look_with_tool(&machine, arguments).await
            }
            ("list_sessions", Some(machine)) => self.list_sessions(&machine).await,
            ("read_session_output", Some(machine)) => self.read(&machine, arguments).await,
            (name, _) => self.look_at_host(name, arguments).await,
        };
        match &answer {
            CallReply::Refused(why) => self.record(Event::Refused, arguments, "", why).await?,
            _ => self.record(Event::Done, arguments, "", "").await?,
        }
        Ok(answer)
    }

    async fn list_machines(&self) -> Result<CallReply> {
        let machines = self.hub.machines.list(|id| self.token.reaches(id)).await;
        Ok(done(serde_json::to_string(&MachinesReply { machines })?))
    }

    async fn list_sessions(&self, machine: &Machine) -> CallReply {
        let asked = self.hub.machines.request::<Sessions>(&machine.id, Verb::Sessions, &()).await;
        match replied(asked) {
            Ok(Sessions { sessions }) => {
                let sessions: Vec<_> = sessions.into_iter().map(visible).collect();
                done(json!({"machine_id": machine.id, "sessions": sessions}).to_string())
            }
            Err(answer) => answer,
        }
    }

    async fn read(&self, machine: &Machine, arguments: &Arguments) -> CallReply {
        let given: ReadSessionOutput = match arguments.read() {
            Ok(given) => given,
            Err(why) => return error(why),
        };
        let request = ReadRequest { sid: given.session_id.0 };
        let asked =
            self.hub.machines.request::<SessionText>(&machine.id, Verb::Read, &request).await;
        match replied(asked) {
            Ok(SessionText { text, is_cut }) => {
                done(output::wrapped(&text, is_cut, &given.cmd_hint, size(given.max_bytes)))
            }
            Err(answer) => answer,
        }
    }

    async fn look_at_host(&self, tool: &str, arguments: &Arguments) -> CallReply {
        self.read_host(tool, arguments).await.map_or_else(error, done)
    }

    async fn read_host(&self, tool: &str, arguments: &Arguments) -> Result<String, String> {
        let host = &self.hub.host;
        match tool {
            "remote_read" => {
                let RemoteRead { path, offset, limit, .. } = arguments.read()?;
                host.read(path, size(offset), size(limit)).await
            }
            "remote_glob" => {
                let RemoteGlob { pattern, path, .. } = arguments.read()?;
                host.glob(pattern, path.0).await
            }
            "remote_grep" => {
                let RemoteGrep { pattern, path, glob_filter, .. } = arguments.read()?;
                host.grep(pattern, path.0, glob_filter).await
            }
            other => Err(format!("{other} is not served")),
        }
    }

    /// Calls a tool of an instance that changes nothing.
    async fn look_with_tool(&self, machine: &Machine, arguments: &Arguments) -> CallReply {
        let request = ToolCall {
            call: None,
            instance: arguments.text("instance").to_owned(),
            client: action::client_name(&self.token.name, arguments.text("conversation_id")),
            token: self.token.id.clone(),
            conversation: arguments.text("conversation_id").to_owned(),
            tool: self.tool.name.to_owned(),
            arguments: arguments.for_instance().clone(),
            released: None,
        };
        let asked = self.hub.machines.request(&machine.id, Verb::Tool, &request).await;
        match replied::<Value>(asked) {
            Ok(result) => {
                let is_raw = action::is_raw(&request.arguments);
                CallReply::Done(instance_tools::outcome(&result, is_raw).result)
            }
            Err(answer) => answer,
        }
    }

    /// Executes, holds or refuses a call that changes something, depending on the user's decision about its
    /// conversation.
    async fn act(
        &self,
        arguments: &Arguments,
        machine: Option<Machine>,
    ) -> Result<CallReply, EarlyEnd> {
        let conversation = arguments.text("conversation_id");
        if conversation.is_empty() && self.tool.name == "send_to_session" {
            return refuse("send_to_session needs a `conversation_id`");
        }
        let action = match self.action(arguments, machine) {
            Ok(action) => action,
            Err(why) => return refuse(why),
        };
        let detail = unterm_control::shortened(&action.detail(), LONGEST_DETAIL);
        let first = format!("{} {detail}", self.tool.name);
        let opened = self.hub.conversations.open(self.token, conversation, &first).await?;
        let Some(opened) = opened else {
            let why = format!(
                "{MOST_PENDING} conversations of this token wait for the user's decision; use one of them"
            );
            self.record(Event::Refused, arguments, &detail, &why).await?;
            return refuse(why);
        };
        let call = Call {
            id: self.id.clone(),
            tool: self.tool.name.to_owned(),
            token: self.token.id.clone(),
            token_name: self.token.name.clone(),
            conversation: conversation.to_owned(),
            action,
            released: None,
        };
        let why = match opened.state {
            Approval::Approved => None,
            Approval::Pending => {
                let why = "[pending: the user must approve this conversation first, in the hub's dashboard or with `unterm-hub approve`. Ask the user to approve it, then retry.]";
                self.record(Event::Pending, arguments, &detail, "").await?;
                return Ok(CallReply::Refused(why.to_owned()));
            }
            Approval::Denied => Some("the user denied this conversation"),
            Approval::Revoked => Some("the user revoked this conversation"),
        };
        if let Some(why) = why {
            self.record(Event::Refused, arguments, &detail, why).await?;
            return refuse(why);
        }
        if opened.flow != Flow::Running {
            self.record(Event::Held, arguments, &detail, "").await?;
            self.hub.held.hold(&opened.key(), &call).await?;
            return Ok(CallReply::Held(
                "[held: conversation is paused. The call is queued, and is carried out when the user resumes the conversation. Do not send it again.]"
                    .to_owned(),
            ));
        }
        // The entry is written before the call is executed, so that no call is missing from the audit log.
        self.record(Event::Begun, arguments, &detail, "").await?;
        match self.hub.executor.execute(&call).await {
            Ok(CallOutcome { result, summary }) => {
                self.record(Event::Done, arguments, &detail, &summary).await?;
                Ok(CallReply::Done(result))
            }
            Err(Failure::Blocked(blocked)) => {
                self.hold_line(&call, blocked, arguments, &detail).await
            }
            Err(failure) => {
                let why = failure.message();
                self.record(Event::Refused, arguments, &detail, &why).await?;
                refuse(why)
            }
        }
    }

    /// Holds a call because the line policy of the machine refuses its line.
    async fn hold_line(
        &self,
        call: &Call,
        blocked: RefusedLine,
        arguments: &Arguments,
        detail: &str,
    ) -> Result<CallReply, EarlyEnd> {
        let rule = blocked.rule.clone();
        let refusal = Failure::Blocked(blocked.clone()).message();
        if !self.hub.blocked_lines.hold(call, blocked).await? {
            let why = format!(
                "{refusal}; the line is too long to wait for the user's decision, or {MOST_LINES} lines of this token wait for this machine already"
            );
            self.record(Event::Refused, arguments, detail, &why).await?;
            return refuse(why);
        }
        self.record(Event::Held, arguments, detail, &format!("blocked by policy: {rule}")).await?;
        Ok(CallReply::Held(format!(
            "[held: a rule of the machine blocks this line: {rule}. The call runs when the user releases the line, in the hub's dashboard or with `unterm-hub release`. Do not send it again.]"
        )))
    }

    fn action(&self, arguments: &Arguments, machine: Option<Machine>) -> Result<Action, String> {
        match (self.tool.name, machine) {
            ("send_to_session", Some(machine)) => {
                let SendToSession { text, submit_mode, session_id, .. } = arguments.read()?;
                let parts = action::parts(&text, &submit_mode)?;
                Ok(Action::Send { machine: machine.id, session: session_id.0, parts })
            }
            (_, Some(machine)) if self.tool.is_of_instances() => {
                let instance = arguments.text("instance").to_owned();
                let arguments = arguments.for_instance().clone();
                if serde_json::to_string(&arguments).map_or(usize::MAX, |a| a.len())
                    > MOST_ARGUMENTS
                {
                    return Err(format!("the arguments must have at most {MOST_ARGUMENTS} bytes"));
                }
                Ok(Action::Tool { machine: machine.id, instance, arguments })
            }
            ("remote_bash", _) => {
                let RemoteBash { command, timeout, .. } = arguments.read()?;
                let bash = Bash { command, timeout };
                Ok(Action::Bash { host: machine_name(), bash })
            }
            ("remote_write", _) => {
                let RemoteWrite { path, content, .. } = arguments.read()?;
                if content.len() > MOST_WRITTEN {
                    return Err(format!("`content` must have at most {MOST_WRITTEN} bytes"));
                }
                action::check_message("content", &content)?;
                Ok(Action::Write { host: machine_name(), write: HostWrite { path, content } })
            }
            (other, _) => Err(format!("{other} is not served")),
        }
    }

    /// Adds the call to the audit log.
    async fn record(
        &self,
        event: Event,
        arguments: &Arguments,
        detail: &str,
        outcome: &str,
    ) -> Result<()> {
        let detail = if detail.is_empty() { arguments.short() } else { detail.to_owned() };
        let entry = Entry {
            call: self.id.clone(),
            token_name: self.token.name.clone(),
            conversation: arguments.text("conversation_id").to_owned(),
            detail,
            outcome: outcome.to_owned(),
            ..Entry::new(event, self.tool.name, &self.token.id)
        };
        audit::record(&self.hub.store, entry).await
    }
}

/// The maximum number of bytes of a file that agents write, so that a held call fits into a message.
const MOST_WRITTEN: usize = 256 << 10;

/// The maximum number of bytes of a tool's arguments, so that a held call fits into a message.
const MOST_ARGUMENTS: usize = 512 << 10;

/// A number of bytes or lines that an agent requests.
fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The result in a machine's reply. Otherwise, the error for the agent.
fn replied<T>(asked: Result<Reply<T>, Unreachable>) -> Result<T, CallReply> {
    match asked {
        Ok(Reply::Done(done)) => Ok(done),
        Ok(Reply::Refused(why) | Reply::NotBegun(why)) => Err(error(output::reason(&why))),
        Ok(Reply::Repeated | Reply::Blocked(_)) => {
            Err(error("the machine did not understand the request"))
        }
        Err(why) => Err(error(why)),
    }
}
