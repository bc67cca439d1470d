//! The fleet's state: buckets and streams of NATS's JetStream, in an account that only hubs use. A hub keeps nothing else, so that
//! hubs can be replaced and added. The machines' account has no streams: what a machine reports, a hub stores (`machine_asks.rs`).

mod earlier;

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

use super::{bucket::Bucket, calls::Calls};
use crate::{
    nats,
    protocol::{CALL_MEMORY, PRESENCE_TTL},
};

/// The stream of calls that wait while their conversation is paused.
pub const HELD: &str = "FLEET_HELD";
/// The prefix of its subjects. A conversation's key follows.
pub const HELD_SUBJECT: &str = "fleet.held";
/// The most calls of a conversation that wait.
const MOST_HELD: i64 = 1000;
/// The stream of the audit log.
pub const AUDIT: &str = "FLEET_AUDIT";
/// The prefix of its subjects. A token's id follows.
pub const AUDIT_SUBJECT: &str = "fleet.audit";
/// How long the audit log is kept.
const AUDIT_AGE: Duration = Duration::from_secs(365 * 24 * 3600);
/// The most bytes of the audit log. The oldest entries make room.
const AUDIT_BYTES: i64 = 1 << 30;
/// The most bytes of a value in a bucket, and of a bucket. A full bucket refuses writes, so that the disk does not fill up. NATS
/// requires this much free space when it creates the bucket.
const LONGEST_VALUE: i32 = 512 << 10;
const BUCKET_BYTES: i64 = 64 << 20;
const SMALL_BUCKET_BYTES: i64 = 8 << 20;
const LARGE_BUCKET_BYTES: i64 = 256 << 20;
/// How much free space the sum of these limits needs, in words.
const DISK_NEED: &str = "3 GB";
/// The most bytes of all calls that wait.
const HELD_BYTES: i64 = 256 << 20;
/// How long an invitation is valid.
pub const INVITATION_AGE: Duration = Duration::from_secs(600);
/// How long a code for the dashboard is valid, and how long a sign-in lasts.
const CODE_AGE: Duration = Duration::from_secs(600);
const SIGN_IN_AGE: Duration = Duration::from_secs(12 * 3600);
/// How long the outcome of a call is kept. A hub asks for it if another hub ended before the machine's reply arrived.
const OUTCOME_AGE: Duration = Duration::from_secs(6 * 3600);
/// How long a revocation is kept: longer than any token of a machine is in use.
const REVOCATION_AGE: Duration = Duration::from_secs(5 * 365 * 24 * 3600);
/// How long a line waits for a person. Shorter than [`CALL_MEMORY`], so that no line is released twice.
const LINE_AGE: Duration = Duration::from_secs(24 * 3600);
/// How long a browser has time to answer a challenge with a passkey.
pub const CHALLENGE_AGE: Duration = Duration::from_secs(300);
/// The fleet's state.
pub struct Store {
    /// The connection to the account that hubs share with machines. It has no streams.
    pub client: Client,
    /// The streams and buckets of the hubs' own account.
    pub jetstream: jetstream::Context,
    /// What connectors say of their machines. Each entry expires.
    pub presence: Bucket,
    /// The paired machines.
    pub machines: Bucket,
    /// The tokens of agents, hashed.
    pub tokens: Bucket,
    /// When each token was last used.
    pub token_uses: Bucket,
    /// The conversations, with the decisions about them.
    pub conversations: Bucket,
    /// The invitations that are not used up.
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
    /// Calls with a line that the rules of a machine refuse, by the calls' ids.
    pub blocked_lines: Bucket,
}

impl Store {
    /// Opens the state, and creates missing parts. Moves what an earlier version kept in the machines' account. `replicas`: on how
    /// many servers of a cluster it is kept.
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
            // A call that is replayed later than its id is remembered might run twice.
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
        earlier::migrate(&shared, &store.calls)
            .await
            .context("moving state of an earlier version")?;
        Ok(store)
    }
}

/// Why a bucket or a stream could not be opened.
fn explained(error: &dyn std::error::Error, name: &str) -> anyhow::Error {
    let text = error.to_string();
    match text.contains("insufficient storage") {
        true => anyhow!("the NATS server has too little disk space: a fleet needs {DISK_NEED}"),
        false => anyhow!("opening {name}: {text}"),
    }
}

/// The age of a time that [`now`] returned. `None` if the text is not such a time.
pub fn age(time: &str) -> Option<Duration> {
    let time = OffsetDateTime::parse(time, &Rfc3339).ok()?;
    Some((OffsetDateTime::now_utc() - time).try_into().unwrap_or_default())
}

/// The time (RFC 3339, UTC), to the second.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}
