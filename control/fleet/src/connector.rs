//! The connector, which serves a hub on this machine.
//!
//! It connects to NATS and listens on no port. It serves requests about the panes of all live instances in this home.
//! It reports to hubs the machine's presence, and the calls that it has begun. A hub acts with an agent token. The
//! connector requests that token from an instance when it first needs it after pairing, and the user can revoke it. The
//! connector acts as the user only to read and release lines that the line policy blocks (`blocked_lines.rs`).

mod blocked_lines;
mod claims;
mod connection;
mod foreground;
mod headless;
mod hub_address;
mod hub_line;
mod instances;
mod panes;
mod programs;
mod requests;
mod tools;
mod turns;
mod watches;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Result, bail};
use futures_util::StreamExt as _;
use tokio::{
    sync::Semaphore,
    time::{Instant, MissedTickBehavior, interval},
};

pub use self::{
    blocked_lines::TypingError,
    connection::{
        CodedReply, CodedRequest, Connection, Invitation, PAIR, PairReply, PairRequest,
        machine_key, pair, pair_by_code,
    },
    hub_address::HubAddress,
    panes::{BoxFuture, Panes, TypingFuture},
};
use self::{
    claims::Claims, headless::Headless, hub_line::HubLine, instances::Instances, panes::LivePanes,
    requests::RequestContext, tools::InstanceTools, turns::Turns, watches::Watches,
};
use crate::{
    protocol::{self, Presence, Question, QuestionReply, RENEWAL, Session, Verb},
    signature::Verifier,
};

/// The interval at which the connector checks whether sessions have changed.
const LOOK: Duration = Duration::from_secs(2);
/// If no hub has stored the machine's presence: the pause before it is reported again.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// If no hub has stored the machine's presence: the maximum number of reports after `LOOK_AGAIN` in a row.
const SOON: u32 = 10;
/// The maximum number of requests that are served at the same time. The same maximum applies to calls of tools, which
/// may wait for long. Further requests are refused.
const MOST_REQUESTS: usize = 64;

/// The options of a connector.
#[derive(Clone, Debug)]
pub struct Options {
    /// Unterm's home. The connector offers the panes of the instances in it.
    pub home: PathBuf,
    /// Whether the connector starts an instance without a window if none is running.
    pub starts_headless: bool,
}

/// Offers the panes of live instances to the hub, until the future is dropped.
///
/// # Errors
/// The connection's key is unusable, or the subscription fails. An unreachable server is not an error, because the
/// connector keeps trying to connect.
pub async fn run(connection: Connection, options: Options) -> Result<()> {
    let hub = HubLine::connect(&connection, true).await?;
    let instances = Arc::new(Instances::new(options.home.clone(), connection.clone()));
    let watches = Watches::new(instances.clone(), hub.client().clone(), connection.machine()?);
    let live = (InstanceTools::new(instances.clone()), Arc::new(watches));
    let headless = options.starts_headless.then(|| Headless::new(options.home));
    let panes = Arc::new(LivePanes::new(instances, headless));
    serve(&connection, hub, panes, Some(live)).await
}

/// Offers these panes to the hub, for a machine that has no instance, until the future is dropped.
///
/// # Errors
/// The errors of [`run`].
pub async fn run_with(connection: Connection, panes: Arc<dyn Panes>) -> Result<()> {
    let hub = HubLine::connect(&connection, true).await?;
    serve(&connection, hub, panes, None).await
}

async fn serve(
    connection: &Connection,
    hub: HubLine,
    panes: Arc<dyn Panes>,
    live: Option<(InstanceTools, Arc<Watches>)>,
) -> Result<()> {
    let machine = connection.machine()?;
    let client = hub.client().clone();
    let verifier = Arc::new(Verifier::of_token(&connection.credentials().jwt)?);
    let claims = Claims::new(hub.clone());
    let turns = Turns::default();
    let served = Arc::new(RequestContext { panes: panes.clone(), live, claims, turns });
    let mut subscription = client.subscribe(protocol::requests(&machine)).await?;
    tracing::info!(%machine, "the connector serves");
    let presence = PresenceTask { panes, hub: hub.clone() };
    let serve = async {
        let [places, tool_places] = [(); 2].map(|()| Arc::new(Semaphore::new(MOST_REQUESTS)));
        let tool_subject = Verb::Tool.subject(&machine);
        while let Some(request) = subscription.next().await {
            let received = Instant::now();
            let is_tool = *request.subject == *tool_subject;
            let places = if is_tool { &tool_places } else { &places };
            let Ok(place) = places.clone().try_acquire_owned() else {
                // The request is refused instead of queued. A queued call might be executed after the hub has stopped
                // waiting for it.
                if let Some(reply) = request.reply {
                    let _ = client.publish(reply, requests::busy().into()).await;
                }
                continue;
            };
            let (client, served, verifier) = (client.clone(), served.clone(), verifier.clone());
            tokio::spawn(async move {
                let _place = place;
                let Some(reply) = &request.reply else { return };
                let answer = match verifier.check(&request) {
                    Ok(()) => requests::answer(&request, received, &served).await,
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
        () = hub.keep_token() => Ok(()),
    }
}

/// Connects to NATS once, and sends a hub a test question, to check the connection.
///
/// # Errors
/// NATS can't be reached or does not accept the machine's key, or no hub answers.
pub async fn check(connection: &Connection) -> Result<()> {
    let hub = HubLine::connect(connection, false).await?;
    hub.renew_if_needed().await?;
    // There is no such call, so the hub refuses the question.
    let (call, attempt) = ("check".to_owned(), "check".to_owned());
    match hub.ask(&Question::Begin { call, attempt }).await? {
        QuestionReply::Failed(why) => bail!("{why}"),
        _ => Ok(()),
    }
}

/// The sessions that a hub can see: those of the live instances in a home.
pub async fn sessions(home: &Path, connection: Connection) -> Vec<Session> {
    Instances::new(home.to_owned(), connection).sessions().await
}

/// Reports the machine's presence when it changes, and at intervals, so that it does not expire.
struct PresenceTask {
    panes: Arc<dyn Panes>,
    hub: HubLine,
}

impl PresenceTask {
    async fn keep(self) -> Result<()> {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last: Option<(Presence, Instant, u64)> = None;
        let mut soon = SOON;
        loop {
            ticks.tick().await;
            let presence = self.panes.presence().await;
            // If the connection was restored, the presence is reported again, because a server that restarted may have
            // lost it.
            let connects =
                self.hub.client().statistics().connects.load(std::sync::atomic::Ordering::Relaxed);
            let is_due = last.as_ref().is_none_or(|(stated, at, before)| {
                *stated != presence || at.elapsed() >= RENEWAL || *before != connects
            });
            if !is_due {
                continue;
            }
            match self.state(&presence).await {
                Ok(()) => {
                    last = Some((presence, Instant::now(), connects));
                    soon = SOON;
                }
                Err(error) => {
                    tracing::debug!(%error, "the presence could not be stated");
                    // A hub that has just paired the machine may not answer it yet.
                    if soon > 0 {
                        soon -= 1;
                        ticks.reset_after(LOOK_AGAIN);
                    }
                }
            }
        }
    }

    async fn state(&self, presence: &Presence) -> Result<()> {
        match self.hub.ask(&Question::Presence(presence.clone())).await? {
            QuestionReply::Done => Ok(()),
            answer => bail!("{answer:?}"),
        }
    }
}
