//! Answers what machines ask: stores their presence, marks calls as begun and ended, and renews tokens.
//!
//! Each paired machine has its own subscription with a queue of bounded length and size, and its questions are answered
//! one after the other. So a machine that asks too much loses only its own questions. A hub does not answer a machine that was
//! removed, and publishes its answer only to subjects that the machine may subscribe to.

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::Result;
use async_nats::{Client, Message};
use futures_util::{Stream, StreamExt as _, stream::select};
use serde_json::Value;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{AbortHandle, JoinSet},
    time::{Instant, sleep},
};

use super::{
    machines::{Machines, bounded},
    pairing::Pairing,
    store::Store,
};
use crate::{
    identity::MachineId,
    nats::reply_within,
    protocol::{self, LONGEST_PRESENCE, PRESENCE_TTL, Presence, Question, QuestionReply, Reply},
};

/// The maximum number of a machine's questions that may wait. Further questions are dropped. A connector executes up to
/// 128 calls at a time, and asks two questions for each call.
pub const WAITING: usize = 256;
/// The maximum number of bytes of a machine's questions that may wait. Further questions are dropped. Each message may
/// have 1 MiB, so a limit on their number alone would let one machine fill the hub's memory.
const WAITING_BYTES: usize = 4 << 20;
/// The name of the queue group of the hubs. NATS gives each question to one hub of the group.
const GROUP: &str = "hubs";
/// The pause after a question that was refused.
const PAUSE: Duration = Duration::from_millis(20);
/// The minimum time between two presences of a machine that are stored.
const PRESENCES_APART: Duration = Duration::from_millis(500);
/// The maximum number of bytes of outcomes that a hub stores for a machine within [`OUTCOME_PERIOD`].
const OUTCOME_SHARE: usize = 1 << 20;
/// The period to which [`OUTCOME_SHARE`] applies.
const OUTCOME_PERIOD: Duration = Duration::from_secs(3600);

/// Answers the machines of a fleet.
pub struct MachineQuestions {
    store: Arc<Store>,
    machines: Machines,
    pairing: Arc<Pairing>,
    /// A separate connection, so that questions do not delay the replies to the hub's requests.
    client: Client,
}

/// A machine's message that waits for its answer.
struct Waiting {
    message: Message,
    /// Whether the message is an [`Question`], and not a request for new tokens.
    is_ask: bool,
    /// The message's share of [`WAITING_BYTES`].
    _bytes: OwnedSemaphorePermit,
}

/// The part of its limits that a machine has used.
struct Used {
    presence_at: Option<Instant>,
    since: Instant,
    outcome_bytes: usize,
}

impl MachineQuestions {
    /// Creates the answers of a fleet. `client`: a connection to the machines' account, whose subscriptions have queues
    /// of [`WAITING`] messages.
    pub fn new(
        store: Arc<Store>,
        machines: Machines,
        pairing: Arc<Pairing>,
        client: Client,
    ) -> Self {
        Self { store, machines, pairing, client }
    }

    /// Answers while the future is polled.
    pub async fn serve(self: &Arc<Self>) {
        let mut pairings = self.machines.pairings();
        let mut tasks = JoinSet::new();
        let mut served = HashMap::<MachineId, AbortHandle>::new();
        loop {
            pairings.mark_unchanged();
            let paired = self.machines.paired();
            served.retain(|id, task| {
                let stays = paired.contains(id) && !task.is_finished();
                if !stays {
                    task.abort();
                }
                stays
            });
            for id in paired {
                served.entry(id.clone()).or_insert_with(|| {
                    let asks = self.clone();
                    tasks.spawn(async move {
                        if let Err(error) = asks.serve_machine(&id).await {
                            tracing::warn!(%id, %error, "a machine's questions are not answered");
                        }
                    })
                });
            }
            tokio::select! {
                changed = pairings.changed() => if changed.is_err() { return },
                // A subscription ends if the connection is closed.
                Some(_) = tasks.join_next() => sleep(PAUSE).await,
            }
        }
    }

    async fn serve_machine(&self, id: &MachineId) -> Result<()> {
        let subscribe =
            async |subject| self.client.queue_subscribe(subject, GROUP.to_owned()).await;
        let asks = subscribe(protocol::asks(id)).await?;
        let renewals = subscribe(protocol::renewals(id)).await?;
        let earlier = subscribe(protocol::earlier_renewals(id)).await?;
        let arriving = select(
            asks.map(|ask| (ask, true)),
            select(renewals, earlier).map(|renewal| (renewal, false)),
        );
        let (send, waiting) = mpsc::channel(WAITING);
        // Receive messages while an answer is prepared. In the client's own queue, only their number would be limited,
        // not their size.
        let ((), answered) = tokio::join!(receive(arriving, send), self.answer_all(id, waiting));
        answered
    }

    async fn answer_all(&self, id: &MachineId, mut waiting: mpsc::Receiver<Waiting>) -> Result<()> {
        let inbox = protocol::inbox(id);
        let mut used = Used { presence_at: None, since: Instant::now(), outcome_bytes: 0 };
        while let Some(Waiting { message, is_ask, _bytes }) = waiting.recv().await {
            let Some(reply) = reply_within(&message, &inbox) else {
                sleep(PAUSE).await;
                continue;
            };
            let (answer, pauses) = match is_ask {
                true => {
                    let answer = self.answer(id, &message, &mut used).await;
                    (serde_json::to_vec(&answer)?, matches!(answer, QuestionReply::Refused(_)))
                }
                false => (self.renew(id).await?, true),
            };
            self.client.publish(reply, answer.into()).await?;
            if pauses {
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    async fn answer(&self, id: &MachineId, message: &Message, used: &mut Used) -> QuestionReply {
        let answer = match serde_json::from_slice(&message.payload) {
            Ok(Question::Presence(presence)) => self.keep_presence(id, presence, used).await,
            Ok(Question::Begin { call, attempt }) => {
                self.store.calls.begin(id, &call, &attempt).await
            }
            Ok(Question::End { call, reply }) => self.keep_outcome(id, &call, reply, used).await,
            Err(_) => Ok(QuestionReply::Refused("malformed question".to_owned())),
        };
        answer.unwrap_or_else(|error| {
            tracing::warn!(%id, error = %format!("{error:#}"), "a machine's report was not stored");
            QuestionReply::Failed("the fleet's store does not answer".to_owned())
        })
    }

    async fn keep_presence(
        &self,
        id: &MachineId,
        presence: Presence,
        used: &mut Used,
    ) -> Result<QuestionReply> {
        if used.presence_at.is_some_and(|at| at.elapsed() < PRESENCES_APART) {
            return Ok(QuestionReply::Refused("presences come too fast".to_owned()));
        }
        used.presence_at = Some(Instant::now());
        let presence = bounded(presence, LONGEST_PRESENCE)?;
        self.store.presence.put_for(id.as_str(), &presence, PRESENCE_TTL).await?;
        Ok(QuestionReply::Done)
    }

    async fn keep_outcome(
        &self,
        id: &MachineId,
        call: &str,
        reply: Reply<Value>,
        used: &mut Used,
    ) -> Result<QuestionReply> {
        if used.since.elapsed() >= OUTCOME_PERIOD {
            (used.since, used.outcome_bytes) = (Instant::now(), 0);
        }
        used.outcome_bytes += serde_json::to_vec(&reply)?.len();
        if used.outcome_bytes > OUTCOME_SHARE {
            return Ok(QuestionReply::Refused(
                "the machine's share of outcomes is used up".to_owned(),
            ));
        }
        self.store.calls.end(id, call, &reply).await
    }

    /// New tokens for a machine as JSON, if the machine is still paired.
    async fn renew(&self, id: &MachineId) -> Result<Vec<u8>> {
        let renewed = match self.machines.find(id).await {
            Ok(Some(machine)) => self.pairing.tokens(&machine.key),
            Ok(None) => Err(anyhow::anyhow!("the machine was removed")),
            Err(error) => Err(error),
        };
        Ok(match renewed {
            Ok(tokens) => serde_json::to_vec(&tokens)?,
            Err(error) => serde_json::to_vec(&QuestionReply::Refused(format!("{error:#}")))?,
        })
    }
}

/// Passes a machine's messages on, until the subscriptions end or the receiver is dropped. Drops messages for which no
/// room is left.
async fn receive(
    mut arriving: impl Stream<Item = (Message, bool)> + Unpin,
    send: mpsc::Sender<Waiting>,
) {
    let room = Arc::new(Semaphore::new(WAITING_BYTES));
    while let Some((message, is_ask)) = arriving.next().await {
        let bytes = u32::try_from(message.length).unwrap_or(u32::MAX);
        let Ok(bytes) = room.clone().try_acquire_many_owned(bytes) else { continue };
        if let Err(mpsc::error::TrySendError::Closed(_)) =
            send.try_send(Waiting { message, is_ask, _bytes: bytes })
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    fn message(length: usize) -> (Message, bool) {
        let message = Message {
            subject: "fleet.hub.x".into(),
            reply: None,
            payload: vec![b'x'; length].into(),
            headers: None,
            status: None,
            description: None,
            length,
        };
        (message, true)
    }

    #[tokio::test]
    async fn waiting_questions_are_bounded_in_number_and_size() {
        for (length, most) in [(1 << 20, WAITING_BYTES >> 20), (1, WAITING)] {
            let (send, mut waiting) = mpsc::channel(WAITING);
            receive(stream::iter((0..WAITING + 44).map(|_| message(length))), send).await;
            let mut kept = 0;
            while waiting.try_recv().is_ok() {
                kept += 1;
            }
            assert_eq!(kept, most, "messages of {length} bytes");
        }
        // An answered question makes room for the next question.
        let (send, mut waiting) = mpsc::channel(WAITING);
        let (more, arriving) = mpsc::channel(1);
        let arriving =
            Box::pin(stream::unfold(arriving, async |mut from| Some((from.recv().await?, from))));
        let receiving = tokio::spawn(receive(arriving, send));
        for _ in 0..3 * (WAITING_BYTES >> 20) {
            more.send(message(1 << 20)).await.unwrap();
            assert!(waiting.recv().await.is_some());
        }
        drop(more);
        receiving.await.unwrap();
    }
}
