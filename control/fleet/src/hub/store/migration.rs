//! Moves the state of a fleet of an earlier version into the hubs' account. In that version, machines wrote to two
//! buckets of their own account, which are deleted.

use anyhow::{Context as _, Result};
use async_nats::jetstream::{
    self, ErrorCode,
    context::{GetStreamError, GetStreamErrorKind},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    hub::{
        bucket::Bucket,
        call_states::{CallState, Calls},
    },
    identity::MachineId,
    protocol::{LONGEST_OUTCOME, Reply, is_call_id},
};

/// The bucket of calls that connectors had begun. A key is `MACHINE.CALL`, or `hub.CALL` for a call on the hub's host.
const CALLS: &str = "fleet_calls";
/// The streams of the buckets that machines could write.
const STREAMS: [&str; 2] = ["KV_fleet_presence", "KV_fleet_calls"];

/// A call in the bucket.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Claim {
    Begun,
    Ended(Reply<Value>),
}

/// Copies the calls, and deletes the buckets that machines could write. A hub that is killed meanwhile repeats this at
/// its next start.
///
/// # Errors
/// NATS does not answer.
pub async fn migrate(machines: &jetstream::Context, calls: &Calls) -> Result<()> {
    for name in STREAMS {
        let mut stream = match machines.get_stream(name).await {
            Ok(stream) => stream,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(error).context(name),
        };
        // After the stream is sealed, no machine can write to it, so no call can be begun that would not be copied.
        let mut config = stream.info().await?.config.clone();
        if !config.sealed {
            config.sealed = true;
            machines.update_stream(config).await.context(name)?;
        }
        if name.ends_with(CALLS) {
            copy(&Bucket::new(machines.get_key_value(CALLS).await?, machines.clone()), calls)
                .await?;
        }
        machines.delete_stream(name).await.context(name)?;
        tracing::info!(name, "moved state of an earlier version into the hubs' account");
    }
    Ok(())
}

/// Whether the error means that the stream does not exist, or that the account has no JetStream.
fn is_absent(error: &GetStreamError) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(error) => matches!(
            error.error_code(),
            ErrorCode::STREAM_NOT_FOUND
                | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT
                | ErrorCode::JETSTREAM_NOT_ENABLED
        ),
        _ => false,
    }
}

async fn copy(from: &Bucket, calls: &Calls) -> Result<()> {
    for (key, claim) in from.all::<Claim>().await? {
        let Some((owner, call)) = key.split_once('.') else { continue };
        let is_owner = owner == "hub" || MachineId::try_from(owner.to_owned()).is_ok();
        if !is_owner || !is_call_id(call) {
            continue;
        }
        calls.states.create(&key, &CallState::Begun(String::new())).await?;
        if let Claim::Ended(reply) = claim
            && serde_json::to_vec(&reply)?.len() <= LONGEST_OUTCOME
        {
            calls.outcomes.create(&key, &reply).await?;
        }
    }
    Ok(())
}
