//! The calls that hubs send to machines. Each runs at most once, even if a hub sends it again because a hub, NATS or
//! the connector ended before the reply arrived.
//!
//! Only hubs add calls. A machine can only change its own calls from `Asked` to `Begun`, and add one outcome to each.
//! So no machine can fill the bucket of calls, and a full bucket of outcomes does not prevent typing.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bucket::Bucket;
use crate::{
    identity::MachineId,
    protocol::{LONGEST_OUTCOME, QuestionReply, Reply, call_key, is_call_id},
};

/// The state of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// A hub has sent the call, or is about to send it.
    Asked,
    /// The attempt with this id executes the call, or has executed it.
    Begun(String),
}

/// The calls of a fleet.
#[derive(Clone)]
pub struct Calls {
    /// The states, by machine and call id.
    pub states: Bucket,
    /// The replies of calls that have ended, by machine and call id.
    pub outcomes: Bucket,
}

impl Calls {
    /// Adds a call before it is sent to a machine, unless it was already added.
    ///
    /// # Errors
    /// NATS does not store the call, so it must not be sent.
    pub async fn ask(&self, machine: &MachineId, call: &str) -> Result<()> {
        ensure!(is_call_id(call), "a call's id has letters and digits only");
        self.states.create(&call_key(machine, call), &CallState::Asked).await?;
        Ok(())
    }

    /// Begins a call on a hub's own host. Returns false if the call was begun before.
    ///
    /// # Errors
    /// NATS does not store that, so the call must not run.
    pub async fn begin_here(&self, call: &str) -> Result<bool> {
        self.states.create(&format!("hub.{call}"), &CallState::Begun(String::new())).await
    }

    /// Begins a call for a machine, if a hub has sent it.
    ///
    /// # Errors
    /// NATS does not store that.
    pub async fn begin(
        &self,
        machine: &MachineId,
        call: &str,
        attempt: &str,
    ) -> Result<QuestionReply> {
        if !is_call_id(call) || !is_call_id(attempt) {
            return Ok(QuestionReply::Refused("malformed id".to_owned()));
        }
        let begun = CallState::Begun(attempt.to_owned());
        let key = call_key(machine, call);
        let state = self.states.change(&key, |state| {
            let is_new = *state == CallState::Asked;
            if is_new {
                *state = begun.clone();
            }
            is_new
        });
        Ok(match state.await? {
            Some(state) if state == begun => QuestionReply::Done,
            Some(_) => QuestionReply::BegunBefore,
            None => QuestionReply::Refused("no hub has sent this call".to_owned()),
        })
    }

    /// Stores the outcome of a call that a machine has begun. If there is already an outcome, it stays.
    ///
    /// # Errors
    /// NATS does not store the outcome.
    pub async fn end(
        &self,
        machine: &MachineId,
        call: &str,
        reply: &Reply<Value>,
    ) -> Result<QuestionReply> {
        let is_short = serde_json::to_vec(reply)?.len() <= LONGEST_OUTCOME;
        if !is_short || !is_call_id(call) {
            return Ok(QuestionReply::Refused("malformed id, or too long an outcome".to_owned()));
        }
        let key = call_key(machine, call);
        match self.states.get(&key).await? {
            Some(CallState::Begun(_)) => {
                self.outcomes.create(&key, reply).await?;
                Ok(QuestionReply::Done)
            }
            _ => Ok(QuestionReply::Refused("the machine has not begun this call".to_owned())),
        }
    }

    /// The outcome of a call that a machine has begun.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn outcome(&self, machine: &MachineId, call: &str) -> Result<Option<Reply<Value>>> {
        self.outcomes.get(&call_key(machine, call)).await
    }
}
