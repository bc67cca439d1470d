//! The fleet's state: buckets and streams of NATS's JetStream, in an account that only hubs use. A hub keeps no other
//! state, so that hubs can be replaced and added. The machines' account has no streams: a hub stores what a machine
//! reports (`machine_questions.rs`).

mod migration;

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use async_nats::{
    Client,
    jetstream::{
        self, kv,
        stream::{self, DiscardPolicy, RetentionPolicy},
    },
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{bucket::Bucket, call_states::Calls};
use crate::{
    nats,
    nats_server::MOST_STORED,
    protocol::{CALL_MEMORY, PRESENCE_TTL},
};

/// The stream of calls that wait while their conversation is paused.
pub const HELD: &str = "FLEET_HELD";
/// The prefix of the subjects of held calls. It is followed by the key of a conversation.
pub const HELD_SUBJECT: &str = "fleet.held";
/// The maximum number of calls of a conversation that wait.
const MOST_HELD: i64 = 1000;
/// The stream of the audit log.
pub const AUDIT: &str = "FLEET_AUDIT";
/// The prefix of the subjects of the audit log. It is followed by the id of a token.
pub const AUDIT_SUBJECT: &str = "fleet.audit";
/// The time for which an entry of the audit log is kept.
const AUDIT_AGE: Duration = Duration::from_secs(365 * 24 * 3600);
/// The maximum number of bytes of the audit log. The oldest entries are deleted for new ones.
const AUDIT_BYTES: i64 = 1 << 30;
/// The maximum number of bytes of a value in a bucket.
const LONGEST_VALUE: i32 = 512 << 10;
/// The maximum number of bytes of a bucket. A full bucket refuses writes, so that the disk does not fill up. NATS requires
/// that its limit of stored bytes is at least the sum of all limits.
const BUCKET_BYTES: i64 = 64 << 20;
/// The maximum number of bytes of a small bucket.
const SMALL_BUCKET_BYTES: i64 = 8 << 20;
/// The maximum number of bytes of a large bucket.
const LARGE_BUCKET_BYTES: i64 = 256 << 20;
/// The maximum number of bytes of all calls that wait.
const HELD_BYTES: i64 = 256 << 20;
/// The time for which an invitation is valid.
pub const INVITATION_AGE: Duration = Duration::from_secs(600);
/// The time for which a code for the dashboard is valid.
const CODE_AGE: Duration = Duration::from_secs(600);
/// The maximum time of a sign-in.
const SIGN_IN_AGE: Duration = Duration::from_secs(12 * 3600);
/// The time for which the outcome of a call is kept. A hub asks for the outcome if another hub ended before the
/// machine's reply arrived.
const OUTCOME_AGE: Duration = Duration::from_secs(6 * 3600);
/// The time for which a revocation is kept. It is longer than any token of a machine is used.
const REVOCATION_AGE: Duration = Duration::from_secs(5 * 365 * 24 * 3600);
/// The time for which a refused line waits for a user. It is shorter than [`CALL_MEMORY`], so that no line is released
/// twice.
const LINE_AGE: Duration = Duration::from_secs(24 * 3600);
/// The time in which a browser must answer a challenge with a passkey.
pub const CHALLENGE_AGE: Duration = Duration::from_secs(300);
/// The fleet's state.
pub struct Store {
    /// The connection to the account that hubs share with machines. That account has no streams.
    pub client: Client,
    /// The streams and buckets of the hubs' own account.
    pub jetstream: jetstream::Context,
    /// The presence of each machine, as its connector reports it. Each entry expires.
    pub presence: Bucket,
    /// The paired machines.
    pub machines: Bucket,
    /// The tokens of agents. Only a hash of each token is stored.
    pub tokens: Bucket,
    /// The time at which each token was last used.
    pub token_uses: Bucket,
    /// The conversations, with the decisions about them.
    pub conversations: Bucket,
    /// The invitations that have not been used.
    pub invitations: Bucket,
    /// Codes for signing in to the dashboard, by their digests.
    pub codes: Bucket,
    /// The sign-ins of the dashboard, by the digests of their secrets.
    pub sign_ins: Bucket,
    /// The passkeys of the dashboard, as one value.
    pub passkeys: Bucket,
    /// The digests of used challenges, kept for longer than a challenge is valid.
    pub used_challenges: Bucket,
    /// Switches for the whole fleet, such as the emergency stop.
    pub switches: Bucket,
    /// The calls that hubs have sent to machines.
    pub calls: Calls,
    /// The keys of removed machines, each with the time of its revocation in seconds since 1970.
    pub revoked: Bucket,
    /// Calls with a line that the rules of a machine refuse, by the ids of the calls.
    pub blocked_lines: Bucket,
}

impl Store {
    /// Opens the state, and creates missing parts. Moves the data that an earlier version kept in the machines'
    /// account. `replicas`: the number of a cluster's servers that keep the state.
    ///
    /// # Errors
    /// NATS has no JetStream, or does not answer.
    pub async fn open(machines: Client, state: &Client, replicas: usize) -> Result<Self> {
        let jetstream = nats::jetstream(state);
        let bucket_in = async |name: &str, max_age, limit_markers, max_bytes| {
            let config = kv::Config {
                bucket: name.to_owned(),
                history: 1,
                max_age,
                limit_markers,
                max_value_size: LONGEST_VALUE,
                max_bytes,
                num_replicas: replicas,
                ..kv::Config::default()
            };
            let made = jetstream.create_or_update_key_value(config).await;
            made.map(|made| Bucket::new(made, jetstream.clone()))
                .map_err(|error| explained(&error, name))
        };
        let bucket = async |name, max_age| bucket_in(name, max_age, None, BUCKET_BYTES).await;
        let (forever, large) = (Duration::ZERO, LARGE_BUCKET_BYTES);
        let (passkeys, used) = ("fleet_passkeys", "fleet_used_challenges");
        let small = SMALL_BUCKET_BYTES;
        let store = Self {
            presence: bucket_in("fleet_presence", forever, Some(PRESENCE_TTL), large).await?,
            calls: Calls {
                states: bucket_in("fleet_calls", CALL_MEMORY, None, large).await?,
                outcomes: bucket_in("fleet_outcomes", OUTCOME_AGE, None, large).await?,
            },
            revoked: bucket_in("fleet_revoked", REVOCATION_AGE, None, small).await?,
            machines: bucket("fleet_machines", forever).await?,
            tokens: bucket("fleet_tokens", forever).await?,
            token_uses: bucket("fleet_token_uses", forever).await?,
            conversations: bucket_in("fleet_conversations", forever, None, large).await?,
            invitations: bucket("fleet_invitations", INVITATION_AGE).await?,
            codes: bucket("fleet_codes", CODE_AGE).await?,
            sign_ins: bucket("fleet_sign_ins", SIGN_IN_AGE).await?,
            passkeys: bucket_in(passkeys, forever, None, small).await?,
            used_challenges: bucket_in(used, 2 * CHALLENGE_AGE, None, small).await?,
            switches: bucket("fleet_switches", forever).await?,
            blocked_lines: bucket("fleet_blocked_lines", LINE_AGE).await?,
            client: machines,
            jetstream: jetstream.clone(),
        };
        let held = stream::Config {
            name: HELD.to_owned(),
            subjects: vec![format!("{HELD_SUBJECT}.>")],
            retention: RetentionPolicy::WorkQueue,
            // A call that is replayed after its id has been forgotten might run twice.
            max_age: CALL_MEMORY - Duration::from_secs(24 * 3600),
            max_messages_per_subject: MOST_HELD,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            max_bytes: HELD_BYTES,
            num_replicas: replicas,
            ..stream::Config::default()
        };
        let audit = stream::Config {
            name: AUDIT.to_owned(),
            subjects: vec![format!("{AUDIT_SUBJECT}.>")],
            max_age: AUDIT_AGE,
            max_bytes: AUDIT_BYTES,
            num_replicas: replicas,
            ..stream::Config::default()
        };
        for config in [held, audit] {
            let name = config.name.clone();
            jetstream
                .get_or_create_stream(config)
                .await
                .map_err(|error| explained(&error, &name))?;
        }
        let shared = nats::jetstream(&store.client);
        migration::migrate(&shared, &store.calls)
            .await
            .context("moving state of an earlier version")?;
        Ok(store)
    }
}

/// The message for a bucket or a stream that could not be opened.
fn explained(error: &dyn std::error::Error, name: &str) -> anyhow::Error {
    let text = error.to_string();
    match text.contains("insufficient storage") {
        true => anyhow!(
            "the NATS server may store too little for a fleet: set `max_file_store` to {MOST_STORED} (bytes), and reload it"
        ),
        false => anyhow!("opening {name}: {text}"),
    }
}

/// The time since a time that [`now`] returned. `None` if the text is not such a time.
pub fn age(time: &str) -> Option<Duration> {
    let time = OffsetDateTime::parse(time, &Rfc3339).ok()?;
    Some((OffsetDateTime::now_utc() - time).try_into().unwrap_or_default())
}

/// The current time (RFC 3339, UTC), in whole seconds.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}
