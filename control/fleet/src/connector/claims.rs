//! Which calls this machine has begun, so that each runs at most once: also if a hub asks again because the hub, NATS or the
//! connector ended before the reply arrived.
//!
//! A call is claimed in a bucket of NATS before anything is typed. Only the first message under its key is accepted.

use anyhow::{Context as _, Result};
use async_nats::{
    HeaderMap,
    header::{NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, NATS_MESSAGE_ID},
    jetstream::{self, context::PublishErrorKind},
};
use serde::Serialize;

use crate::{
    digest,
    identity::MachineId,
    protocol::{self, Claim, Reply},
};

/// The longest id of a call.
const LONGEST_ID: usize = 64;
/// The most bytes of an outcome that is kept.
const LONGEST_OUTCOME: usize = 64 << 10;
/// How often a claim is sent if the store does not answer.
const TRIES: usize = 2;

/// The calls of a machine.
pub struct Claims {
    jetstream: jetstream::Context,
    machine: MachineId,
}

impl Claims {
    /// Those of a machine.
    pub fn new(jetstream: jetstream::Context, machine: MachineId) -> Self {
        Self { jetstream, machine }
    }

    /// Claims a call, whose id has passed [`check_id`]. False: it was claimed before.
    ///
    /// # Errors
    /// NATS did not store the claim, so the call must not run.
    pub async fn claim(&self, call: &str) -> Result<bool> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, "0");
        // The store may have accepted the claim although its reply was lost. By this id, it recognizes the repeat, and replies
        // again.
        headers.insert(NATS_MESSAGE_ID, format!("{call}.{}", digest::random::<8>()?));
        let mut tries = TRIES;
        loop {
            tries -= 1;
            let stored = self.publish(call, headers.clone(), &Claim::Begun).await?;
            match stored.await {
                Ok(_) => return Ok(true),
                Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                    return Ok(false);
                }
                Err(error) if tries == 0 => {
                    return Err(error).context("the fleet's store does not answer");
                }
                Err(error) => tracing::debug!(%error, call, "a claim is stored again"),
            }
        }
    }

    /// Stores a claim of no call, to check that the store accepts this machine.
    ///
    /// # Errors
    /// It does not.
    pub async fn check(&self) -> Result<()> {
        self.publish("check", HeaderMap::new(), &Claim::Begun).await?.await?;
        Ok(())
    }

    /// Stores the outcome of a claimed call.
    pub async fn end(&self, call: &str, reply: &Reply<impl Serialize>) {
        let stored = async {
            let mut reply = serde_json::to_value(reply)?;
            if reply.to_string().len() > LONGEST_OUTCOME {
                let why = "the call was carried out, but its result is too long to be stored";
                reply = serde_json::to_value(Reply::<()>::Refused(why.to_owned()))?;
            }
            let claim = Claim::Ended(serde_json::from_value(reply)?);
            self.publish(call, HeaderMap::new(), &claim).await?.await.map_err(anyhow::Error::from)
        };
        if let Err(error) = stored.await {
            tracing::warn!(%error, call, "the outcome of a call could not be stored");
        }
    }

    async fn publish(
        &self,
        call: &str,
        headers: HeaderMap,
        claim: &Claim,
    ) -> Result<jetstream::context::PublishAckFuture> {
        let subject = protocol::call(&self.machine, call);
        let value = serde_json::to_vec(claim)?;
        Ok(self.jetstream.publish_with_headers(subject, headers, value.into()).await?)
    }
}

/// Checks that a call's id is safe as part of a subject.
///
/// # Errors
/// It is not. A message for the hub.
pub fn check_id(call: &str) -> Result<(), String> {
    let is_id = (1..=LONGEST_ID).contains(&call.len())
        && call.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match is_id {
        true => Ok(()),
        false => Err(format!("a call's id has at most {LONGEST_ID} letters and digits")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_ids_become_subjects() {
        assert_eq!(check_id("0a9F"), Ok(()));
        for wrong in ["", "a.b", "*", ">", "a b", "é", &"a".repeat(LONGEST_ID + 1)] {
            assert!(check_id(wrong).is_err(), "{wrong}");
        }
    }
}
