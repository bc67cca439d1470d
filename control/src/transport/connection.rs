//! One connection, from its first byte to its last.
//!
//! Owns the limits before login, the order of answers, batching of writes, events, and the end of the connection.
//! Connections share no state, so a client that does not read, or a request that waits, blocks no other connection.

mod concurrent_requests;

use std::{
    future::Future,
    io::{self, Cursor, ErrorKind},
    ops::ControlFlow,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{
    framing::{FrameRead, Framing},
    limits::{LONGEST_MESSAGE, LONGEST_MESSAGE_BEFORE_LOGIN, LoginLimits, PendingLogins},
    turn::Turn,
};
use crate::{
    dispatch::Dispatcher,
    offload,
    poll::poll_once,
    services::{
        limits::{
            fair_share::SharePart,
            message_budget::{Reservation, SHORT},
        },
        pane::events::Subscription,
    },
    transport::{
        contract::{Dialect, Handover, MessageEffect, Refusal},
        peer::{Instance, Peer},
    },
};

/// Buffered replies are written once they reach this many bytes.
const BATCH: usize = 64 << 10;

/// State that the connections of one listener share.
pub struct Service<D> {
    dialect: D,
    instance: Arc<Instance>,
    login_time: Duration,
    logins: Arc<PendingLogins>,
}

impl<D: Dialect> Service<D> {
    /// Creates the service of a dialect for the clients of an instance. `login` limits the time and the number of
    /// connections before login.
    pub fn new(dialect: D, instance: Arc<Instance>, login: LoginLimits) -> Self {
        let logins = PendingLogins::new(login.connections);
        Self { dialect, instance, login_time: login.time, logins }
    }

    /// The reason why a connection is closed, as a framed message.
    pub fn refusal(&self, refusal: &Refusal) -> Vec<u8> {
        let (mut message, mut out) = (Vec::new(), Vec::new());
        self.dialect.write_refusal(refusal, &mut message);
        D::Framing::frame(&mut message, &mut out);
        out
    }
}

/// Serves a client until its connection ends. `process` is the process at the client's end of a Unix socket.
pub async fn serve<D: Dialect>(
    mut reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    service: Arc<Service<D>>,
    process: Option<i32>,
) {
    let dispatcher = service.instance.dispatcher().clone();
    let id = dispatcher.next_connection();
    let _connected = OpenConnection { dispatcher, id };
    tracing::debug!(id, "connected");
    let mut framing = D::Framing::default();
    let peer = Arc::new(Peer::new(service.instance.clone(), id, process));
    let (out, reply) = (Vec::new(), Vec::new());
    let mut connection = Connection {
        service,
        id,
        peer,
        writer,
        out,
        reply,
        reservation: None,
        place: None,
        subscription: None,
        handover: None,
    };
    let mut end = connection.await_login(&mut reader, &mut framing).await;
    if end.is_ok() && connection.peer.caller().is_some() && connection.handover.is_none() {
        end = if D::AT_ONCE > 1 {
            connection.talk_concurrently(&mut reader, &mut framing).await
        } else {
            connection.talk(&mut reader, &mut framing, Phase::End).await
        };
    }
    let Connection { writer, handover, .. } = connection;
    if let (Ok(()), Some(handover)) = (&end, handover) {
        let reader = AsyncReadExt::chain(Cursor::new(framing.into_rest()), reader);
        handover(Box::new(reader), Box::new(writer)).await;
    }
    tracing::debug!(id, ?end, "disconnected");
}

/// An open connection. Dropping it releases everything that its client holds.
struct OpenConnection {
    dispatcher: Arc<Dispatcher>,
    id: u64,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.dispatcher.disconnected(self.id);
    }
}

/// One client.
struct Connection<D, W> {
    service: Arc<Service<D>>,
    id: u64,
    peer: Arc<Peer>,
    writer: W,
    /// Replies that have not been written yet.
    out: Vec<u8>,
    /// The reply to the current request.
    reply: Vec<u8>,
    /// The reservation of memory for long messages. `None` before login, when all messages must be short.
    reservation: Option<Reservation>,
    /// The connection's place among those after login. `None` before login.
    place: Option<SharePart>,
    /// The client's subscription to events.
    subscription: Option<Subscription>,
    /// The function that serves the rest of the connection, once pending replies are written.
    handover: Option<Handover>,
}

/// The end of the current phase of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Login,
    End,
}

impl<D: Dialect, W: AsyncWrite + Send + Unpin> Connection<D, W> {
    /// Serves the client until it has logged in. Ends the connection if the login takes too long, or if too many other
    /// connections have not logged in.
    async fn await_login(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        framing: &mut D::Framing,
    ) -> io::Result<()> {
        let time = self.service.login_time;
        let pending = self.service.logins.begin(self.id);
        let talk = tokio::time::timeout(time, self.talk(reader, framing, Phase::Login));
        let why = tokio::select! {
            biased;
            talked = talk => match talked {
                Ok(end) => return end,
                Err(_) => Refusal::LoginTime(time),
            },
            () = pending.evicted() => Refusal::LoginCount,
        };
        tracing::debug!(id = self.id, ?why, "dropped a connection");
        let refusal = self.service.refusal(&why);
        // The refusal is written with a single attempt, because the client may not be reading.
        let mut write = pin!(self.writer.write(&refusal));
        let _ = poll_once(&mut write).await;
        Err(ErrorKind::TimedOut.into())
    }

    /// Serves the client until it closes the connection, violates the protocol or switches to another protocol. With
    /// `Phase::Login`, also ends when the client has logged in.
    async fn talk(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        framing: &mut D::Framing,
        until: Phase,
    ) -> io::Result<()> {
        let mut turn = Turn::default();
        loop {
            let longest = self.longest();
            let refusal = match framing.next(longest) {
                FrameRead::Message(message) => {
                    let mut ahead = Ahead::new(reader);
                    if let Some(refusal) = self.answer(message, &mut ahead).await? {
                        return self.refuse(reader, &refusal).await;
                    }
                    ahead.append_to(framing.space());
                    if self.handover.is_some() {
                        return self.flush().await;
                    }
                    if until == Phase::Login && self.peer.caller().is_some() {
                        return Ok(());
                    }
                    if self.out.len() >= BATCH {
                        // The message is answered, so only memory for its reply stays reserved while the client does
                        // not read.
                        self.reserve(framing.buffered());
                        self.flush().await?;
                    }
                    turn.count_request().await;
                    continue;
                }
                FrameRead::More => match self.read(reader, framing).await? {
                    ControlFlow::Continue(()) => continue,
                    ControlFlow::Break(None) => return Ok(()),
                    ControlFlow::Break(Some(refusal)) => refusal,
                },
                FrameRead::Http => {
                    tracing::warn!(id = self.id, "dropped a connection that speaks HTTP");
                    return Ok(());
                }
                FrameRead::TooLong => Refusal::TooLong(longest),
                FrameRead::Broken(why) => Refusal::Broken(why),
            };
            return self.refuse(reader, &refusal).await;
        }
    }

    /// Writes the buffered replies, and then reads more bytes or sends an event. Returns `Break` if the connection must
    /// end. If the client should receive the reason, the `Break` contains a refusal.
    async fn read(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        framing: &mut D::Framing,
    ) -> io::Result<ControlFlow<Option<Refusal>>> {
        self.flush().await?;
        // This releases the memory of messages that were answered.
        framing.space();
        let mut refusal = self.reserve(framing.buffered());
        let event = next_event(&mut self.subscription);
        tokio::select! {
            count = reader.read_buf(framing.space()) => {
                if count? == 0 {
                    return Ok(ControlFlow::Break(None));
                }
                refusal = refusal.or(self.reserve(framing.buffered()));
            }
            event = event => {
                if !self.may_listen() {
                    return Ok(ControlFlow::Break(None));
                }
                write_event(&self.service.dialect, &event, &mut self.out);
            }
        }
        Ok(refusal.map_or(ControlFlow::Continue(()), |refusal| ControlFlow::Break(Some(refusal))))
    }

    /// The maximum length of the next message from the client.
    fn longest(&self) -> usize {
        match self.peer.caller() {
            Some(_) => LONGEST_MESSAGE,
            None => LONGEST_MESSAGE_BEFORE_LOGIN,
        }
    }

    /// Reserves memory for `arrived` bytes that have arrived and are not answered, and for replies that the client has
    /// not read. Returns a refusal if the client's token uses too much.
    fn reserve(&mut self, arrived: usize) -> Option<Refusal> {
        let bytes = arrived + self.out.len() + self.reply.len();
        let reserved = self.reservation.as_mut()?.resize(bytes);
        reserved.err().map(|why| Refusal::OverBudget(why.to_string()))
    }

    /// Whether events may still be sent. A subscription ends when the token of its caller ends.
    fn may_listen(&self) -> bool {
        let dispatcher = self.service.instance.dispatcher();
        self.peer.caller().is_none_or(|caller| dispatcher.check_token(caller).is_ok())
    }

    /// Answers one message, and appends the reply to `out`. Returns the refusal if the reply takes too much memory.
    async fn answer(
        &mut self,
        message: &[u8],
        ahead: &mut Ahead<'_, impl AsyncRead + Unpin>,
    ) -> io::Result<Option<Refusal>> {
        let Self { service, peer, writer, out, reply, subscription, .. } = self;
        reply.clear();
        let outcome = {
            let is_long = message.len() > SHORT;
            let answer = service.dialect.answer(peer, message, reply);
            let mut answer = pin!(offload::long_polls(answer, || is_long));
            match poll_once(&mut answer).await {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => {
                    finish(answer, ahead, writer, out, subscription, &service.dialect).await?
                }
            }
        };
        if let Some(refusal) = self.settle(outcome) {
            return Ok(Some(refusal));
        }
        if self.reply.len() > SHORT
            && let Some(refusal) = self.reserve(message.len())
        {
            return Ok(Some(refusal));
        }
        if !self.reply.is_empty() {
            D::Framing::frame(&mut self.reply, &mut self.out);
        }
        Ok(None)
    }

    /// Applies the outcome of a message to the connection. Returns a refusal if the token of a login has too many connections.
    fn settle(&mut self, outcome: MessageEffect) -> Option<Refusal> {
        let (caller, handover) = match outcome {
            MessageEffect::Answered => {
                let asked = self.peer.caller().and_then(|caller| caller.subscription.take());
                if let Some(asked) = asked {
                    self.subscription = asked;
                }
                return None;
            }
            MessageEffect::LoggedIn(caller) => (caller, None),
            MessageEffect::HandedOver(caller, handover) => (caller, Some(handover)),
        };
        let context = self.service.instance.dispatcher().context();
        match context.limits.connections.part(caller.token) {
            Ok(place) => self.place = Some(place),
            Err(why) => return Some(Refusal::OverBudget(why.to_string())),
        }
        self.handover = handover;
        // A new login ends the subscription of the previous login.
        self.subscription = None;
        let dispatcher = self.service.instance.dispatcher();
        if self.peer.caller().is_some_and(|before| before.token != caller.token) {
            // Everything that was held with the old token is released, because the new token may not have the rights
            // for it.
            dispatcher.disconnected(self.id);
        }
        dispatcher.logged_in(&caller);
        self.reservation = Some(dispatcher.context().limits.message_budget.reserve(caller.token));
        self.peer = Arc::new(self.peer.logged_in(caller));
        None
    }

    /// Writes the buffered replies. Waits if the client does not read.
    async fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.writer.write_all(&self.out).await?;
            self.writer.flush().await?;
            self.out.clear();
            self.out.shrink_to(BATCH);
            self.reply.shrink_to(BATCH);
        }
        Ok(())
    }

    /// Sends the reason to the client, and closes the connection.
    async fn refuse(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
        refusal: &Refusal,
    ) -> io::Result<()> {
        const LONGEST: Duration = Duration::from_secs(2);
        self.out.append(&mut self.service.refusal(refusal));
        let refused = async {
            self.flush().await?;
            self.writer.shutdown().await?;
            drain(reader).await
        };
        // The time is limited, because the client may neither read nor close the connection.
        tokio::time::timeout(LONGEST, refused).await.unwrap_or(Ok(()))
    }
}

/// The next event of a subscription. Without a subscription, never completes. Cancel-safe.
async fn next_event(subscription: &mut Option<Subscription>) -> serde_json::Value {
    match subscription {
        Some(subscription) => subscription.next().await,
        None => std::future::pending().await,
    }
}

fn write_event<D: Dialect>(dialect: &D, event: &serde_json::Value, out: &mut Vec<u8>) {
    let mut message = Vec::new();
    dialect.write_event(event, &mut message);
    D::Framing::frame(&mut message, out);
}

/// Reads ahead while a request of the client is running, in order to notice that the client has disconnected.
struct Ahead<'r, R> {
    reader: &'r mut R,
    bytes: Vec<u8>,
    is_over: bool,
}

impl<'r, R: AsyncRead + Unpin> Ahead<'r, R> {
    /// The maximum number of bytes that are read before the request is answered.
    const MOST: usize = 64 << 10;

    fn new(reader: &'r mut R) -> Self {
        Self { reader, bytes: Vec::new(), is_over: false }
    }

    /// Reads more bytes, and returns whether the input has ended. After the end, never completes. Cancel-safe.
    async fn read(&mut self) -> io::Result<bool> {
        if self.is_over || self.bytes.len() >= Self::MOST {
            std::future::pending::<()>().await;
        }
        self.is_over = self.reader.read_buf(&mut self.bytes).await? == 0;
        Ok(self.is_over)
    }

    fn append_to(self, space: &mut Vec<u8>) {
        space.extend_from_slice(&self.bytes);
    }
}

/// Waits until a request ends. Meanwhile, writes earlier replies and sends events.
///
/// # Errors
/// The client has disconnected, and the request is abandoned.
async fn finish<T, D: Dialect>(
    mut request: Pin<&mut impl Future<Output = T>>,
    ahead: &mut Ahead<'_, impl AsyncRead + Unpin>,
    writer: &mut (impl AsyncWrite + Unpin),
    out: &mut Vec<u8>,
    subscription: &mut Option<Subscription>,
    dialect: &D,
) -> io::Result<T> {
    let mut written = 0;
    loop {
        tokio::select! {
            biased;
            result = &mut request => {
                out.drain(..written);
                return Ok(result);
            }
            count = writer.write(&out[written..]), if !out.is_empty() => {
                written += match count? {
                    0 => return Err(ErrorKind::WriteZero.into()),
                    count => count,
                };
                if written == out.len() {
                    out.clear();
                    written = 0;
                }
            }
            is_over = ahead.read() => {
                if is_over? {
                    // A client that closed only its writing half still reads the reply. A write shows the difference:
                    // if the client closed the Unix socket completely, even an empty write fails (unix(7), EPIPE).
                    let _: usize = writer.write(&[]).await?;
                }
            }
            // Events are sent one at a time. If the client is slow, further events stay in the queue, which counts
            // dropped events.
            event = next_event(subscription), if out.is_empty() => write_event(dialect, &event, out),
        }
    }
}

/// Reads the remaining input of a refused client, up to a limit of bytes. Closing the socket with unread bytes would
/// reset the connection, and the client would not receive the refusal.
async fn drain(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    const MOST: u64 = 64 << 20;
    let rest = &mut AsyncReadExt::take(reader, MOST);
    tokio::io::copy(rest, &mut tokio::io::sink()).await.map(drop)
}
