//! Which calls this machine has begun, so that each runs at most once: also if a hub asks again because the hub, NATS or the
//! connector ended before the reply arrived.
//!
//! A call is claimed in a bucket of NATS before anything is typed. Only the first message under its key is accepted.

use anyhow::{Context as _, Result, ensure};
use async_nats::{
    HeaderMap,
    header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE,
    jetstream::{self, context::PublishErrorKind},
};

use crate::{
    identity::MachineId,
    protocol::{self, Claim, Reply, Typed},
};

/// The longest id of a call.
const LONGEST_ID: usize = 64;

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

    /// Claims a call. False: it was claimed before.
    ///
    /// # Errors
    /// NATS did not store the claim, so the call must not run.
    pub async fn claim(&self, call: &str) -> Result<bool> {
        ensure!(is_id(call), "a call's id has at most {LONGEST_ID} letters and digits");
        let mut headers = HeaderMap::new();
        headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, "0");
        let stored = self.publish(call, headers, &Claim::Begun).await?;
        match stored.await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(false),
            Err(error) => Err(error).context("the fleet's store does not answer"),
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
    pub async fn end(&self, call: &str, reply: Reply<Typed>) {
        let stored = async {
            let claim = Claim::Ended(reply);
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

/// Whether a text is safe as part of a subject.
fn is_id(text: &str) -> bool {
    (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_ids_become_subjects() {
        assert!(is_id("0a9F"));
        for wrong in ["", "a.b", "*", ">", "a b", "é", &"a".repeat(LONGEST_ID + 1)] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }
}
