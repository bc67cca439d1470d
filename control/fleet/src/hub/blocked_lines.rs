//! Calls that wait for a decision of the user, because the line policy of a machine refuses their line.
//!
//! If the user releases the line, the hub executes the call. Otherwise, the user drops the line. A release has its own
//! call id, so it is executed once even if it is sent twice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use unterm_control::escaped;

use super::{
    action::{Action, Call, Executor, Failure},
    audit::{self, Event},
    decisions::Decisions,
    store::{Store, age, now},
};
use crate::{
    identity::MachineId,
    protocol::{InputPart, ReadRequest, RefusedLine, Reply, SessionText, TOOL_PATIENCE, Verb},
};

/// The maximum number of waiting lines of a token on one machine. It is counted for each machine, because a machine can
/// report that any line is blocked.
pub const MOST_LINES: usize = 20;
/// The maximum number of waiting lines of a token on all machines.
const MOST_OF_TOKEN: usize = 100;
/// The maximum number of bytes of a waiting call. It is limited because all waiting calls are read at once.
const LONGEST_CALL: usize = 64 << 10;
/// The maximum time of a decision, if the call is a call of a tool. If a decision takes longer, the hub that executes
/// it was killed.
const LONGEST_DECISION: Duration = TOOL_PATIENCE.saturating_add(Duration::from_secs(15));
/// The reason that a line can't be decided now.
const BUSY: &str = "another user is deciding about this line";
/// Ctrl+C, which clears the line.
const CANCEL: &str = "\x03";

/// A call that waits for a decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BlockedLine {
    /// The call.
    pub call: Call,
    /// The line, and the rule that refuses it.
    pub blocked: RefusedLine,
    /// When the machine refused the line (RFC 3339, UTC).
    pub at: String,
    /// When a user began to decide about the line (RFC 3339, UTC). `None` if no decision is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deciding: Option<String>,
}

impl BlockedLine {
    /// The line in the form that users see, on the page and as JSON.
    pub fn shown(&self) -> Value {
        let Self { call, blocked: RefusedLine { line, rule, instance, pane, .. }, at, .. } = self;
        json!({
            "id": call.id,
            "token_name": call.token_name,
            "conversation": escaped(&call.conversation),
            "machine": call.action.machine(),
            "tool": call.tool,
            "instance": instance,
            "pane": pane,
            "line": escaped(line),
            "rule": rule,
            "at": at,
        })
    }
}

/// The outcome of a decision about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// The call was executed.
    Done,
    /// The line was not entered, and no longer waits. Contains the reason, for the user.
    Refused(String),
    /// The line was not entered, and still waits. Contains the reason, for the user.
    Waits(String),
    /// No line with this id is waiting.
    Missing,
}

/// The calls of a fleet that wait for a decision about their line.
#[derive(Clone)]
pub struct BlockedLines {
    /// The fleet's state.
    pub store: Arc<Store>,
    /// The decisions of users since the call was made.
    pub decisions: Decisions,
    /// Executes the calls.
    pub executor: Executor,
}

impl BlockedLines {
    /// Stores a call until the user decides. Returns false if too many calls of its token are waiting, in total or on
    /// its machine, or if the call is too long.
    ///
    /// # Errors
    /// NATS does not store the call.
    pub async fn hold(&self, call: &Call, blocked: RefusedLine) -> Result<bool> {
        let waiting = self.list().await?;
        if !has_room(&waiting, call) {
            return Ok(false);
        }
        let line = BlockedLine { call: call.clone(), blocked, at: now(), deciding: None };
        if serde_json::to_vec(&line)?.len() > LONGEST_CALL {
            return Ok(false);
        }
        self.store.blocked_lines.put(&call.id, &line).await?;
        Ok(true)
    }

    /// The calls that wait, oldest first.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn list(&self) -> Result<Vec<BlockedLine>> {
        let all = self.store.blocked_lines.all::<BlockedLine>().await?;
        let mut all: Vec<_> = all.into_iter().map(|(_, line)| line).collect();
        all.sort_by(|a, b| (&a.at, &a.call.id).cmp(&(&b.at, &b.call.id)));
        Ok(all)
    }

    /// Executes the call with this id, although the line policy refuses its line.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn release(&self, id: &str) -> Result<ReleaseOutcome> {
        let BlockedLine { call, blocked, .. } = match self.begin(id).await? {
            Ok(line) => line,
            Err(outcome) => return Ok(outcome),
        };
        if self.decisions.stop.is_set().await? {
            return self.wait(&call, "all agents are stopped").await;
        }
        if let Some(why) = self.decisions.refusal(&call).await? {
            return self.refuse(&call, why).await;
        }
        let released = released(&call, &blocked);
        // The entry is written before the call is executed, so that no call is missing from the audit log.
        self.record(&call, Event::Begun, "released").await?;
        match self.executor.execute(&released).await {
            Ok(outcome) => {
                self.record(&call, Event::Done, &outcome.summary).await?;
                self.store.blocked_lines.take(&call.id).await?;
                Ok(ReleaseOutcome::Done)
            }
            Err(Failure::Blocked(_)) => {
                self.refuse(&call, "the session would now enter a different line").await
            }
            Err(Failure::Refused(why)) => self.refuse(&call, &why).await,
            Err(failure @ (Failure::Offline | Failure::Silent(_) | Failure::NotBegun(_))) => {
                self.wait(&call, &failure.message()).await
            }
        }
    }

    /// Drops the call with this id. If the call's text is at the prompt, clears it with Ctrl+C. Returns `Done` if the
    /// call was dropped.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn drop(&self, id: &str) -> Result<ReleaseOutcome> {
        let BlockedLine { call, blocked, .. } = match self.begin(id).await? {
            Ok(line) => line,
            Err(outcome) => return Ok(outcome),
        };
        self.refuse(&call, "the user dropped the line").await?;
        if let Action::Send { machine, session, .. } = &call.action
            && blocked.parts_typed > 0
            && self.is_at_prompt(machine, session, &blocked.line).await
        {
            let parts = vec![InputPart { text: CANCEL.to_owned(), after_ms: 0 }];
            let (machine, session) = (machine.clone(), session.clone());
            let cancel = Call {
                id: format!("{}d", call.id),
                action: Action::Send { machine, session, parts },
                ..call
            };
            if let Err(failure) = self.executor.execute(&cancel).await {
                let why = failure.message();
                tracing::info!(why, "a dropped line was not cleared from the prompt");
            }
        }
        Ok(ReleaseOutcome::Done)
    }

    /// Whether a session's text ends with this line. If it does not, Ctrl+C could interrupt a program that was started
    /// since.
    async fn is_at_prompt(&self, machine: &MachineId, session: &str, line: &str) -> bool {
        let request = ReadRequest { sid: session.to_owned() };
        let asked =
            self.executor.machines.request::<SessionText>(machine, Verb::Read, &request).await;
        // The rows of a long line are separate lines in the text, so line ends are ignored.
        let whole = |text: &str| text.replace('\n', "");
        matches!(asked, Ok(Reply::Done(text)) if whole(text.text.trim_end()).ends_with(&whole(line)))
    }

    /// Claims a line for one decision. If the line can't be decided now, returns the reason. If the hub is killed, its
    /// claim expires.
    async fn begin(&self, id: &str) -> Result<Result<BlockedLine, ReleaseOutcome>> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Err(ReleaseOutcome::Missing));
        }
        let is_ours = AtomicBool::new(false);
        let claim = |line: &mut BlockedLine| {
            let deciding = line.deciding.as_deref().and_then(age);
            let is_free = deciding.is_none_or(|age| age > LONGEST_DECISION);
            if is_free {
                line.deciding = Some(now());
            }
            is_ours.store(is_free, Ordering::Relaxed);
            is_free
        };
        let found = self.store.blocked_lines.change(id, claim).await?;
        Ok(match found {
            Some(line) if is_ours.into_inner() => Ok(line),
            Some(_) => Err(ReleaseOutcome::Waits(BUSY.to_owned())),
            None => Err(ReleaseOutcome::Missing),
        })
    }

    /// Releases the claim on a line, so that the line waits for another decision.
    async fn wait(&self, call: &Call, why: &str) -> Result<ReleaseOutcome> {
        let end = |line: &mut BlockedLine| line.deciding.take().is_some();
        self.store.blocked_lines.change(&call.id, end).await?;
        Ok(ReleaseOutcome::Waits(why.to_owned()))
    }

    async fn refuse(&self, call: &Call, why: &str) -> Result<ReleaseOutcome> {
        self.record(call, Event::Refused, why).await?;
        self.store.blocked_lines.take(&call.id).await?;
        Ok(ReleaseOutcome::Refused(why.to_owned()))
    }

    async fn record(&self, call: &Call, event: Event, outcome: &str) -> Result<()> {
        audit::record(&self.store, call.entry(event, outcome)).await
    }
}

/// Whether one more line of this call's token may wait.
fn has_room(waiting: &[BlockedLine], call: &Call) -> bool {
    let of_token = waiting.iter().filter(|of| of.call.token == call.token);
    let on_machine =
        of_token.clone().filter(|of| of.call.action.machine() == call.action.machine());
    of_token.count() < MOST_OF_TOKEN && on_machine.count() < MOST_LINES
}

/// The call that executes the rest of a call whose line was released.
fn released(call: &Call, blocked: &RefusedLine) -> Call {
    let mut released =
        Call { id: format!("{}r", call.id), released: Some(blocked.line.clone()), ..call.clone() };
    match &mut released.action {
        Action::Send { parts, .. } => {
            parts.drain(..blocked.parts_typed.min(parts.len()));
        }
        // The call is executed in the pane of the blocked line, even if the original call named no pane.
        Action::Tool { instance, arguments, .. } => {
            instance.clone_from(&blocked.instance);
            arguments.entry("pane").or_insert_with(|| blocked.pane.into());
        }
        Action::Bash { .. } | Action::Write { .. } => {}
    }
    released
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(token: &str, machine: usize) -> BlockedLine {
        let machine = MachineId::try_from(format!("{machine:012x}")).unwrap();
        let call = Call {
            id: "1".to_owned(),
            tool: "send_to_session".to_owned(),
            token: token.to_owned(),
            token_name: String::new(),
            conversation: String::new(),
            action: Action::Send { machine, session: String::new(), parts: Vec::new() },
            released: None,
        };
        let blocked = RefusedLine {
            line: String::new(),
            rule: String::new(),
            instance: String::new(),
            pane: 0,
            parts_typed: 0,
        };
        BlockedLine { call, blocked, at: String::new(), deciding: None }
    }

    #[test]
    fn one_machine_cannot_use_up_a_tokens_blocked_lines() {
        let mut lines: Vec<_> = (0..MOST_LINES).map(|_| waiting("a", 1)).collect();
        let has_room = |lines: &[BlockedLine], token, machine| {
            super::has_room(lines, &waiting(token, machine).call)
        };
        assert!(!has_room(&lines, "a", 1));
        assert!(has_room(&lines, "a", 2) && has_room(&lines, "b", 1));
        lines.extend((MOST_LINES..MOST_OF_TOKEN).map(|number| waiting("a", number)));
        assert!(!has_room(&lines, "a", 2) && has_room(&lines, "b", 2));
    }
}
