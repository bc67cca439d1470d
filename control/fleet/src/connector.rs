//! The connector: serves a hub on this machine.
//!
//! Dials out to NATS and listens on nothing. Serves requests about the panes of all live instances in this home, states the
//! machine's presence, and remembers which calls it has begun. A hub gets no more than a token for agents gives: the connector uses
//! one that it asks an instance for when it is paired, and a person can revoke it.

mod claims;
mod connection;
mod foreground;
mod headless;
mod instances;
mod programs;
mod requests;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result};
use async_nats::{HeaderMap, header::NATS_MESSAGE_TTL, jetstream};
use futures_util::StreamExt as _;
use tokio::time::{Instant, MissedTickBehavior, interval};

pub use self::connection::{Connection, Invitation, PairReply, PairRequest, machine_key, pair};
use self::{claims::Claims, headless::Headless, instances::Instances, programs::Programs};
use crate::{
    identity::{MachineId, machine_name},
    nats,
    protocol::{self, PRESENCE_TTL, Presence, RENEWAL, Session},
    signature::Verifier,
};

/// How often the connector looks for changed sessions.
const LOOK: Duration = Duration::from_secs(2);
/// The most requests that are served at a time. Further ones are refused.
const MOST_REQUESTS: usize = 64;

/// What a connector does.
#[derive(Clone, Debug)]
pub struct Options {
    /// Unterm's home, whose instances it offers.
    pub home: PathBuf,
    /// Whether it starts an instance without a window while none runs.
    pub starts_headless: bool,
}

/// Serves the hub until the future is dropped.
///
/// # Errors
/// The connection's key is of no use, or the subscription fails. An unreachable server is no error: the connector keeps trying.
pub async fn run(connection: Connection, options: Options) -> Result<()> {
    let machine = connection.machine()?;
    let inbox = protocol::inbox(&machine);
    let client = connection.credentials().connect("unterm-connect", Some(&inbox), true).await?;
    let jetstream = nats::jetstream(&client);
    let verifier = Arc::new(Verifier::of_token(&connection.credentials().jwt)?);
    let instances = Arc::new(Instances::new(options.home.clone(), connection));
    let claims = Arc::new(Claims::new(jetstream.clone(), machine.clone()));
    let mut subscription = client.subscribe(protocol::requests(&machine)).await?;
    tracing::info!(%machine, "the connector serves");
    let headless = options.starts_headless.then(|| Headless::new(options.home));
    let presence = PresenceTask {
        instances: instances.clone(),
        client: client.clone(),
        jetstream,
        machine,
        headless,
        programs: Programs::default(),
    };
    let serve = async {
        let places = Arc::new(tokio::sync::Semaphore::new(MOST_REQUESTS));
        while let Some(request) = subscription.next().await {
            let received = Instant::now();
            let Ok(place) = places.clone().try_acquire_owned() else {
                // A request that waits would be carried out after the hub has given it up.
                if let Some(reply) = request.reply {
                    let _ = client.publish(reply, requests::busy().into()).await;
                }
                continue;
            };
            let (client, instances, claims) = (client.clone(), instances.clone(), claims.clone());
            let verifier = verifier.clone();
            tokio::spawn(async move {
                let _place = place;
                let Some(reply) = &request.reply else { return };
                let answer = match verifier.check(&request) {
                    Ok(()) => requests::answer(&request, received, &instances, &claims).await,
                    Err(why) => {
                        tracing::warn!(subject = %request.subject, why, "a request was refused");
                        requests::refusal(why)
                    }
                };
                if let Err(error) = client.publish(reply.clone(), answer.into()).await {
                    tracing::warn!(%error, "a reply could not be sent");
                }
            });
        }
        anyhow::bail!("the connection to NATS was closed")
    };
    tokio::select! {
        end = serve => end,
        end = presence.keep() => end,
    }
}

/// Connects to NATS once, and states the machine's presence, to check the way.
///
/// # Errors
/// NATS can't be reached, or does not accept the machine's key.
pub async fn check(connection: &Connection) -> Result<()> {
    let machine = connection.machine()?;
    let inbox = protocol::inbox(&machine);
    let client = connection.credentials().connect("unterm-connect", Some(&inbox), false).await?;
    Claims::new(nats::jetstream(&client), machine).check().await
}

/// The sessions that a hub sees of the live instances in a home.
pub async fn sessions(home: &Path, connection: Connection) -> Vec<Session> {
    Instances::new(home.to_owned(), connection).sessions().await
}

/// States the machine's presence when it changes, and often enough that it does not expire.
struct PresenceTask {
    instances: Arc<Instances>,
    client: async_nats::Client,
    jetstream: jetstream::Context,
    machine: MachineId,
    headless: Option<Headless>,
    programs: Programs,
}

impl PresenceTask {
    async fn keep(mut self) -> Result<()> {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last: Option<(Presence, Instant, u64)> = None;
        loop {
            ticks.tick().await;
            if let Some(headless) = &mut self.headless {
                headless.start_if_none_runs().await;
            }
            let presence = self.look().await;
            // A server that restarted has forgotten it.
            let connects =
                self.client.statistics().connects.load(std::sync::atomic::Ordering::Relaxed);
            let is_due = last.as_ref().is_none_or(|(stated, at, before)| {
                *stated != presence || at.elapsed() >= RENEWAL || *before != connects
            });
            if !is_due {
                continue;
            }
            match self.state(&presence).await {
                Ok(()) => last = Some((presence, Instant::now(), connects)),
                Err(error) => tracing::debug!(%error, "the presence could not be stated"),
            }
        }
    }

    async fn look(&mut self) -> Presence {
        let sessions = self.instances.sessions().await;
        let running = sessions.iter().filter_map(|session| session.ai.as_deref());
        Presence {
            name: machine_name(),
            platform: std::env::consts::OS.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scan: self.programs.scan(running).await,
            sessions,
        }
    }

    async fn state(&self, presence: &Presence) -> Result<()> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_TTL, PRESENCE_TTL.as_secs().to_string());
        let value = serde_json::to_vec(presence)?;
        let subject = protocol::presence(&self.machine);
        let stored = self.jetstream.publish_with_headers(subject, headers, value.into()).await?;
        stored.await.context("storing the presence")?;
        Ok(())
    }
}
