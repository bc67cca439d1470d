//! The calls that this machine has begun. Each call runs at most once, even if a hub sends it again because the hub,
//! NATS or the connector ended before the reply arrived.
//!
//! Before anything is typed, the connector asks a hub to mark the call as begun. Only the first attempt is accepted.

use anyhow::{Result, bail};
use serde::Serialize;
use tokio::time::{Duration, sleep};

use super::hub_line::HubLine;
use crate::{
    protocol::{LONGEST_OUTCOME, Question, QuestionReply, Reply, is_call_id},
    random::random_hex,
};

/// The number of times that a question is sent if no hub answers.
const TRIES: usize = 2;
/// The pauses before an outcome is sent again. Meanwhile, a hub may restart and then accept the outcome.
const PAUSES: [Duration; 8] = {
    let mut pauses = [Duration::from_secs(10); 8];
    pauses[0] = Duration::from_millis(200);
    pauses[1] = Duration::from_secs(1);
    pauses[2] = Duration::from_secs(3);
    pauses
};

/// The calls of a machine.
#[derive(Clone)]
pub struct Claims(HubLine);

impl Claims {
    /// Creates the list of claims of the machine to which this connection to the hubs belongs.
    pub fn new(hub: HubLine) -> Self {
        Self(hub)
    }

    /// Claims a call. Its id must have passed [`check_id`]. Returns false if the call was already claimed.
    ///
    /// # Errors
    /// No hub has stored the claim, so the call must not run.
    pub async fn claim(&self, call: &str) -> Result<bool> {
        // If the answer is lost and the question is repeated, a hub recognizes the question by this id.
        let ask = Question::Begin { call: call.to_owned(), attempt: random_hex::<8>()? };
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.0.ask(&ask).await {
                Ok(QuestionReply::Done) => return Ok(true),
                Ok(QuestionReply::BegunBefore) => return Ok(false),
                Ok(QuestionReply::Refused(why)) => bail!("the hub refuses: {why}"),
                Ok(QuestionReply::Failed(why)) if tries == 0 => bail!("{why}"),
                Err(error) if tries == 0 => return Err(error),
                Ok(QuestionReply::Failed(why)) => {
                    tracing::debug!(why, call, "a claim is sent again")
                }
                Err(error) => tracing::debug!(%error, call, "a claim is sent again"),
            }
        }
    }

    /// Sends the outcome of a claimed call to a hub, which stores it. If no hub answers, tries again in the background.
    pub async fn end(&self, call: &str, reply: &Reply<impl Serialize>) {
        let ask = serde_json::to_value(reply).and_then(|mut reply| {
            if reply.to_string().len() > LONGEST_OUTCOME {
                let why = "the call was carried out, but its result is too long to be stored";
                reply = serde_json::to_value(Reply::<()>::Refused(why.to_owned()))?;
            }
            Ok(Question::End { call: call.to_owned(), reply: serde_json::from_value(reply)? })
        });
        // This can't fail, because the reply is plain data.
        let Ok(ask) = ask else { return };
        if self.is_kept(&ask).await {
            return;
        }
        let claims = self.clone();
        tokio::spawn(async move {
            for pause in PAUSES {
                sleep(pause).await;
                if claims.is_kept(&ask).await {
                    return;
                }
            }
            tracing::warn!("the outcome of a call could not be stored");
        });
    }

    /// Whether a hub has stored an outcome, or will never accept it.
    async fn is_kept(&self, ask: &Question) -> bool {
        match self.0.ask(ask).await {
            Ok(QuestionReply::Failed(_)) | Err(_) => false,
            Ok(QuestionReply::Refused(why)) => {
                tracing::warn!(why, "the outcome of a call was not stored");
                true
            }
            Ok(QuestionReply::Done | QuestionReply::BegunBefore) => true,
        }
    }
}

/// Checks that a call's id is safe as part of a key.
///
/// # Errors
/// The id is not safe. A message for the hub.
pub fn check_id(call: &str) -> Result<(), String> {
    match is_call_id(call) {
        true => Ok(()),
        false => Err("a call's id has at most 64 letters and digits".to_owned()),
    }
}
