//! Calls that wait for a person, because the rules of the machine refuse the line that they enter.
//!
//! A person releases the line, and the call is carried out, or drops it. A release has its own call id, so that it is carried out
//! once, even if it is sent again.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use unterm_control::escaped;

use super::{
    action::{Action, Call, Executor, Failure},
    audit::{self, Event},
    decisions::Decisions,
    store::{Store, now},
};
use crate::protocol::{Blocked, Part};

/// The most lines of a token that wait.
pub const MOST_LINES: usize = 20;
/// Clears the line, as a person would.
const CANCEL: &str = "\x03";

/// A call that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BlockedLine {
    /// The call.
    pub call: Call,
    /// The line, and the rule.
    pub blocked: Blocked,
    /// When the machine refused it (RFC 3339, UTC).
    pub at: String,
}

impl BlockedLine {
    /// The line as people see it, on the page and as JSON.
    pub fn shown(&self) -> Value {
        let Self { call, blocked: Blocked { line, rule, .. }, at } = self;
        json!({
            "id": call.id,
            "token_name": call.token_name,
            "conversation": escaped(&call.conversation),
            "machine": call.action.machine(),
            "line": escaped(line),
            "rule": rule,
            "at": at,
        })
    }
}

/// What became of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// The call was carried out.
    Done,
    /// The line can't be entered any more. It waits no longer. A reason for the person.
    Refused(String),
    /// It was not carried out now, and still waits. A reason for the person.
    Waits(String),
    /// No such line waits.
    Missing,
}

/// The calls of a fleet that wait.
#[derive(Clone)]
pub struct BlockedLines {
    /// The fleet's state.
    pub store: Store,
    /// What people decided meanwhile.
    pub decisions: Decisions,
    /// Carries calls out.
    pub executor: Executor,
}

impl BlockedLines {
    /// Keeps a call until a person decides. False: too many calls of its token wait.
    ///
    /// # Errors
    /// NATS does not store it.
    pub async fn hold(&self, call: &Call, blocked: Blocked) -> Result<bool> {
        let waiting = self.list().await?;
        if waiting.iter().filter(|of| of.call.token == call.token).count() >= MOST_LINES {
            return Ok(false);
        }
        let line = BlockedLine { call: call.clone(), blocked, at: now() };
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

    /// Carries out the call with this id, although the rules refuse its line.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn release(&self, id: &str) -> Result<Released> {
        let Some(BlockedLine { call, blocked, .. }) = self.find(id).await? else {
            return Ok(Released::Missing);
        };
        if self.decisions.stop.is_set().await? {
            return Ok(Released::Waits("all agents are stopped".to_owned()));
        }
        if let Some(why) = self.decisions.refusal(&call).await? {
            return self.refuse(&call, why).await;
        }
        let released = released(&call, &blocked);
        // Before the call runs, so that the audit log misses no call.
        self.record(&call, Event::Begun, "released").await?;
        match self.executor.execute(&released).await {
            Ok(outcome) => {
                self.record(&call, Event::Done, &outcome.summary).await?;
                self.store.blocked_lines.take(&call.id).await?;
                Ok(Released::Done)
            }
            Err(Failure::Blocked(_)) => {
                self.refuse(&call, "the line in the session is not the one that was released").await
            }
            Err(Failure::Refused(why)) => self.refuse(&call, &why).await,
            Err(failure @ (Failure::Offline | Failure::Silent(_) | Failure::NotBegun(_))) => {
                Ok(Released::Waits(failure.message()))
            }
        }
    }

    /// Drops the call with this id. If a part of its text was typed before, sends Ctrl+C. False: no such call waits.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn drop(&self, id: &str) -> Result<bool> {
        let Some(BlockedLine { call, blocked, .. }) = self.find(id).await? else {
            return Ok(false);
        };
        if !self.store.blocked_lines.take(id).await? {
            return Ok(false);
        }
        self.record(&call, Event::Refused, "the user dropped the line").await?;
        if let Action::Send { machine, session, .. } = &call.action
            && blocked.parts_typed > 0
        {
            let parts = vec![Part { text: CANCEL.to_owned(), after_ms: 0 }];
            let (machine, session) = (machine.clone(), session.clone());
            let cancel = Call {
                id: format!("{}d", call.id),
                action: Action::Send { machine, session, parts },
                ..call
            };
            if let Err(failure) = self.executor.execute(&cancel).await {
                tracing::info!(why = failure.message(), "the text of a dropped line stays");
            }
        }
        Ok(true)
    }

    async fn find(&self, id: &str) -> Result<Option<BlockedLine>> {
        match id.bytes().all(|byte| byte.is_ascii_hexdigit()) && !id.is_empty() {
            true => self.store.blocked_lines.get(id).await,
            false => Ok(None),
        }
    }

    async fn refuse(&self, call: &Call, why: &str) -> Result<Released> {
        self.record(call, Event::Refused, why).await?;
        self.store.blocked_lines.take(&call.id).await?;
        Ok(Released::Refused(why.to_owned()))
    }

    async fn record(&self, call: &Call, event: Event, outcome: &str) -> Result<()> {
        audit::record(&self.store, call.entry(event, outcome)).await
    }
}

/// The call that carries out the rest of a call whose line is released.
fn released(call: &Call, blocked: &Blocked) -> Call {
    let mut released =
        Call { id: format!("{}r", call.id), released: Some(blocked.line.clone()), ..call.clone() };
    match &mut released.action {
        Action::Send { parts, .. } => {
            parts.drain(..blocked.parts_typed.min(parts.len()));
        }
        // In the same pane, also if the call left the choice to the instance.
        Action::Tool { arguments, .. } => {
            arguments.entry("pane").or_insert_with(|| blocked.pane.into());
        }
        Action::Bash { .. } | Action::Write { .. } => {}
    }
    released
}
