//! Concurrent requests of one connection.
//!
//! Decides which requests run and which wait for a slot. A request that finishes without waiting is answered
//! immediately. Any other request becomes a task, which is dropped when the connection ends. Waiting requests and
//! unread replies are limited: if either limit is reached, no more input is read.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    task::Poll,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    task::JoinSet,
};

use super::{
    BATCH, Connection, Dialect, FrameRead, MessageEffect, Refusal, next_event, write_event,
};
use crate::{
    offload,
    poll::poll_once,
    services::limits::message_budget::{Reservation, SHORT},
    transport::{framing::Framing, turn::Turn},
};

/// The requests of a connection.
#[derive(Default)]
struct Requests {
    /// The running requests. Each task returns its reply.
    running: JoinSet<(Vec<u8>, MessageEffect)>,
    /// Requests that wait for a slot, in order.
    waiting: VecDeque<Message>,
    /// The total size of the waiting requests, in bytes.
    waiting_bytes: usize,
}

/// A request, and the memory that is reserved for it until it is answered.
struct Message {
    bytes: Vec<u8>,
    _reservation: Option<Reservation>,
}

impl<D: Dialect, W: AsyncWrite + Send + Unpin> Connection<D, W> {
    /// Serves the client until its input ends, or it violates the protocol. Then abandons the client's running
    /// requests.
    pub(super) async fn talk_concurrently(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        framing: &mut D::Framing,
    ) -> io::Result<()> {
        let mut requests = Requests::default();
        let end = self.serve_concurrently(reader, framing, &mut requests).await;
        // This waits until the tasks have ended, so that nothing runs for a client whose connection was released.
        requests.running.shutdown().await;
        match end? {
            Some(refusal) => self.refuse(reader, &refusal).await,
            None => Ok(()),
        }
    }

    async fn serve_concurrently(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        framing: &mut D::Framing,
        requests: &mut Requests,
    ) -> io::Result<Option<Refusal>> {
        let mut written = 0;
        let mut turn = Turn::default();
        loop {
            if self.handover.is_some() {
                self.out.drain(..written);
                self.flush().await?;
                return Ok(None);
            }
            // Slots may have become free.
            while requests.running.len() < D::AT_ONCE
                && let Some(message) = requests.waiting.pop_front()
            {
                requests.waiting_bytes -= message.bytes.len();
                self.begin(message, requests).await;
            }
            let has_room = requests.waiting_bytes < BATCH && self.out.len() < BATCH;
            let mut is_more_wanted = false;
            if has_room {
                let longest = self.longest();
                let refusal = match framing.next(longest) {
                    FrameRead::Message(message) => {
                        let reservation = self.reservation.as_mut().map(Reservation::take);
                        let message =
                            Message { bytes: message.to_vec(), _reservation: reservation };
                        self.take(message, requests).await;
                        turn.count_request().await;
                        continue;
                    }
                    FrameRead::More => {
                        // This releases the memory of messages that were answered.
                        framing.space();
                        self.reserve(framing.buffered())
                    }
                    FrameRead::Http => return Ok(None),
                    FrameRead::TooLong => Some(Refusal::TooLong(longest)),
                    FrameRead::Broken(why) => Some(Refusal::Broken(why)),
                };
                if refusal.is_some() {
                    self.out.drain(..written);
                    return Ok(refusal);
                }
                is_more_wanted = true;
            }
            tokio::select! {
                Some(ended) = requests.running.join_next() => {
                    // A panic in a method has already become an error. So a panic here is a bug in the dialect.
                    let (reply, outcome) = ended.map_err(io::Error::other)?;
                    self.end(reply, outcome);
                }
                count = self.writer.write(&self.out[written..]), if written < self.out.len() => {
                    written += match count? {
                        0 => return Err(ErrorKind::WriteZero.into()),
                        count => count,
                    };
                    if written == self.out.len() {
                        self.out.clear();
                        self.out.shrink_to(BATCH);
                        written = 0;
                        self.writer.flush().await?;
                    }
                }
                count = reader.read_buf(framing.space()), if is_more_wanted => {
                    if count? == 0 {
                        return Ok(None);
                    }
                    if let Some(refusal) = self.reserve(framing.buffered()) {
                        self.out.drain(..written);
                        return Ok(Some(refusal));
                    }
                }
                event = next_event(&mut self.subscription), if self.out.is_empty() => {
                    if !self.may_listen() {
                        return Ok(None);
                    }
                    write_event(&self.service.dialect, &event, &mut self.out);
                }
            }
        }
    }

    /// Starts a request, or queues it until a slot is free.
    async fn take(&mut self, message: Message, requests: &mut Requests) {
        let has_place = requests.running.len() < D::AT_ONCE && requests.waiting.is_empty();
        if has_place || self.service.dialect.is_urgent(&message.bytes) {
            self.begin(message, requests).await;
        } else {
            requests.waiting_bytes += message.bytes.len();
            requests.waiting.push_back(message);
        }
    }

    async fn begin(&mut self, message: Message, requests: &mut Requests) {
        let (service, peer) = (self.service.clone(), self.peer.clone());
        let mut request = Box::pin(async move {
            let mut reply = Vec::new();
            let is_long = message.bytes.len() > SHORT;
            let answer = service.dialect.answer(&peer, &message.bytes, &mut reply);
            let outcome = offload::long_polls(answer, || is_long).await;
            (reply, outcome)
        });
        match poll_once(&mut request).await {
            Poll::Ready((reply, outcome)) => self.end(reply, outcome),
            Poll::Pending => {
                requests.running.spawn(request);
            }
        }
    }

    fn end(&mut self, mut reply: Vec<u8>, outcome: MessageEffect) {
        self.settle(outcome);
        if !reply.is_empty() {
            D::Framing::frame(&mut reply, &mut self.out);
        }
    }
}
