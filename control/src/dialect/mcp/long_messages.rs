//! The long messages of a connection, and the memory that is reserved for them.
//!
//! rmcp collects each line in a buffer that never shrinks, parses it, and keeps the parsed message until its reply is
//! sent. So memory is reserved for the longest line until the connection ends, and for each long request until the
//! request is answered.

use std::{
    collections::HashMap,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::io::{AsyncRead, ReadBuf};

use crate::services::limits::message_budget::{OverBudget, Reservation, SHORT};

/// The long messages of one connection. Clones share them.
#[derive(Clone)]
pub struct LongMessages(Arc<Mutex<State>>);

struct State {
    /// The number of bytes so far of the line that is being received.
    unfinished: usize,
    /// The memory of rmcp's buffer of lines.
    buffer: Reservation,
    /// The memory of the lines that rmcp has not returned as messages yet.
    finished: Reservation,
    /// The memory of each request that is not answered.
    pending: HashMap<RequestId, Reservation>,
    refusal: Option<OverBudget>,
}

impl LongMessages {
    /// Creates the state of a connection. `reservation`: an empty reservation of the connection's token.
    pub fn new(mut reservation: Reservation) -> Self {
        let finished = reservation.take();
        Self(Arc::new(Mutex::new(State {
            unfinished: 0,
            buffer: reservation,
            finished,
            pending: HashMap::new(),
            refusal: None,
        })))
    }

    /// Wraps `reader` and counts its bytes. If the memory for a long line can't be reserved, the wrapper reports the end of
    /// the input.
    pub fn metered<R>(&self, reader: R) -> Metered<R> {
        Metered { reader, messages: self.clone() }
    }

    /// Whether the message that is being received is long.
    pub fn is_long(&self) -> bool {
        self.0.lock().unfinished > SHORT
    }

    /// Records that a message was received. If the message is a request, `id` is its id, and its memory stays reserved
    /// until [`Self::answered`].
    pub fn received(&self, id: Option<&RequestId>) {
        let mut state = self.0.lock();
        let finished = state.finished.take();
        if let Some(id) = id.filter(|_| finished.bytes() > 0) {
            state.pending.insert(id.clone(), finished);
        }
    }

    /// Records that a request was answered, or needs no answer.
    pub fn answered(&self, id: &RequestId) {
        self.0.lock().pending.remove(id);
    }

    /// The reason why the connection ends. `None` if no long line is the reason.
    pub fn refusal(&self) -> Option<OverBudget> {
        self.0.lock().refusal
    }
}

impl State {
    /// Counts bytes that were read.
    fn count(&mut self, mut bytes: &[u8]) -> Result<(), OverBudget> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let length = self.unfinished + end;
            self.reserve_buffer(length)?;
            if length > SHORT {
                self.finished.resize(self.finished.bytes() + length)?;
            }
            self.unfinished = 0;
            bytes = &bytes[end + 1..];
        }
        self.unfinished += bytes.len();
        self.reserve_buffer(self.unfinished)
    }

    fn reserve_buffer(&mut self, length: usize) -> Result<(), OverBudget> {
        self.buffer.resize(length.max(self.buffer.bytes()))
    }
}

/// See [`LongMessages::metered`].
pub struct Metered<R> {
    reader: R,
    messages: LongMessages,
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(context, buffer))?;
        let mut state = self.messages.0.lock();
        if state.refusal.is_none() {
            state.refusal = state.count(&buffer.filled()[before..]).err();
        }
        if state.refusal.is_some() {
            // For the caller, this looks like the end of the input.
            buffer.set_filled(before);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;
    use crate::{caller::TokenKind, services::limits::message_budget::MessageBudget};

    const LONG: usize = 10 << 20;

    fn messages(budget: &MessageBudget) -> LongMessages {
        LongMessages::new(budget.reserve(TokenKind::Agent(1)))
    }

    async fn read(messages: &LongMessages, bytes: &[u8]) -> usize {
        let mut read = Vec::new();
        messages.metered(bytes).read_to_end(&mut read).await.unwrap()
    }

    fn reserved(messages: &LongMessages) -> [usize; 3] {
        let state = messages.0.lock();
        let pending = state.pending.values().map(Reservation::bytes).sum();
        [state.buffer.bytes(), state.finished.bytes(), pending]
    }

    #[tokio::test]
    async fn a_long_line_reserves_memory_until_its_reply() {
        let messages = messages(&MessageBudget::default());
        let id = RequestId::Number(1);
        read(&messages, &[b'x'; LONG]).await;
        assert!(messages.is_long());
        assert_eq!(reserved(&messages), [LONG, 0, 0]);
        read(&messages, b"y\nshort\n").await;
        assert!(!messages.is_long());
        assert_eq!(reserved(&messages), [LONG + 1, LONG + 1, 0]);
        messages.received(Some(&id));
        messages.received(Some(&RequestId::Number(2)));
        assert_eq!(reserved(&messages), [LONG + 1, 0, LONG + 1]);
        messages.answered(&id);
        assert_eq!(reserved(&messages), [LONG + 1, 0, 0]);
    }

    #[tokio::test]
    async fn the_input_ends_when_a_line_exceeds_the_share_of_its_token() {
        let budget = MessageBudget::default();
        let line = [&vec![b'x'; LONG][..], b"\n"].concat();
        let mut all = Vec::new();
        let refused = loop {
            let next = messages(&budget);
            if read(&next, &line).await < line.len() {
                break next;
            }
            all.push(next);
        };
        // The token gets half of the memory that is not reserved for the owner. Each line uses twice its length.
        assert_eq!(all.len(), (96 << 20) / (2 * LONG));
        let why = refused.refusal().unwrap().to_string();
        assert!(why.contains("of this token would take"), "{why}");
        drop(all);
        assert_eq!(read(&messages(&budget), &line).await, line.len());
    }
}
