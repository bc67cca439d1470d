//! Checks, before a call runs, what users have decided since the call was made.

use anyhow::Result;

use super::{
    action::Call,
    conversations::{Approval, Conversations, key},
    emergency_stop::EmergencyStop,
    machines::Machines,
    tokens::Tokens,
};

/// The decisions of users, which a call is checked against.
#[derive(Clone)]
pub struct Decisions {
    /// The emergency stop.
    pub stop: EmergencyStop,
    /// The conversations.
    pub conversations: Conversations,
    /// The tokens.
    pub tokens: Tokens,
    /// The machines.
    pub machines: Machines,
}

impl Decisions {
    /// The reason that a call may no longer run, or `None` if it may run.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn refusal(&self, call: &Call) -> Result<Option<&'static str>> {
        let conversation = self.conversations.get(&key(&call.token, &call.conversation)).await?;
        if conversation.is_none_or(|of| of.state != Approval::Approved) {
            return Ok(Some("the conversation may not act any more"));
        }
        if self.tokens.by_id(&call.token).await?.is_none() {
            return Ok(Some("the token was revoked"));
        }
        Ok(match call.action.machine() {
            Some(machine) if self.machines.find(machine).await?.is_none() => {
                Some("the machine was removed")
            }
            _ => None,
        })
    }
}
