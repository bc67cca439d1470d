//! The pending replies of a client. A client that stops sending but keeps reading still receives every pending reply.
//!
//! In that case, a relay sends the notification [`LAST`] and keeps the connection open in both directions, so that the
//! end of the relay is noticed. If a connection ends without that notification, rmcp drops the running calls after five
//! seconds.

use std::{collections::HashSet, time::Duration};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientNotification, JsonRpcMessage, JsonRpcNotification, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};

use super::long_messages::LongMessages;
use crate::{client::LAST, offload};

/// The maximum time to wait for replies after the client's last message. It is longer than any call takes, unless the
/// client requested more time.
const LONGEST: Duration = Duration::from_secs(60);

/// The maximum time to wait until the client reads the connection's last error.
const REFUSING: Duration = Duration::from_secs(2);

/// The unanswered requests of a connection.
pub type PendingReplies = watch::Sender<HashSet<RequestId>>;

/// A transport that closes after the client has sent its last message and the last reply was sent.
pub struct UntilAnswered<T> {
    inner: T,
    pending: PendingReplies,
    /// Whether the client has sent its last message.
    gone: watch::Sender<bool>,
    /// The time when the remaining replies are dropped. It is set after the last message.
    until: Option<Instant>,
    /// The memory of long messages.
    long: LongMessages,
}

impl<T> UntilAnswered<T> {
    /// Creates the transport. It sets `gone` when the client has sent its last message, so that calls that would never
    /// end are stopped.
    pub fn new(
        inner: T,
        pending: PendingReplies,
        gone: watch::Sender<bool>,
        long: LongMessages,
    ) -> Self {
        Self { inner, pending, gone, until: None, long }
    }

    fn note(&self, message: Option<&RxJsonRpcMessage<RoleServer>>) {
        self.long.received(match message {
            Some(JsonRpcMessage::Request(request)) => Some(&request.id),
            _ => None,
        });
        match message {
            Some(JsonRpcMessage::Request(request)) => {
                self.pending.send_modify(|pending| {
                    pending.insert(request.id.clone());
                });
            }
            // A canceled request needs no reply.
            Some(JsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancelled),
                ..
            })) => {
                settle(&self.pending, &self.long, cancelled.params.request_id.as_ref());
            }
            Some(_) => {}
            None => {
                self.gone.send_replace(true);
            }
        }
    }
}

fn settle(pending: &PendingReplies, long: &LongMessages, id: Option<&RequestId>) {
    if let Some(id) = id {
        long.answered(id);
        pending.send_if_modified(|pending| pending.remove(id));
    }
}

/// Whether a message is the notification that ends a relay's input.
fn is_last(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    match message {
        JsonRpcMessage::Notification(JsonRpcNotification {
            notification: ClientNotification::CustomNotification(note),
            ..
        }) => note.method == LAST,
        _ => false,
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for UntilAnswered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let (pending, long) = (self.pending.clone(), self.long.clone());
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            settle(&pending, &long, answered.as_ref());
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let long = self.long.clone();
            let is_long = || long.is_long();
            let message = match self.until {
                None => offload::long_polls(self.inner.receive(), is_long).await,
                Some(until) => {
                    let mut pending = self.pending.subscribe();
                    tokio::select! {
                        biased;
                        message = offload::long_polls(self.inner.receive(), is_long) => message,
                        _ = pending.wait_for(HashSet::is_empty) => None,
                        () = sleep_until(until) => None,
                    }
                }
            };
            if message.as_ref().is_some_and(is_last) {
                self.until = Some(Instant::now() + LONGEST);
                self.gone.send_replace(true);
                continue;
            }
            self.note(message.as_ref());
            if message.is_none()
                && let Some(why) = self.long.refusal()
            {
                let error = ErrorData::internal_error(why.to_string(), None);
                let refusal = self.inner.send(TxJsonRpcMessage::<RoleServer>::error(error, None));
                // The time is limited, because the client may not be reading.
                let _ = timeout(REFUSING, refusal).await;
            }
            return message;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, io, pin::pin, task::Poll};

    use serde_json::{Value, json};
    use tokio::sync::mpsc;

    use super::*;
    use crate::{caller::TokenKind, services::limits::message_budget::MessageBudget};

    /// A client that sends the test's messages and discards replies.
    struct Client(mpsc::UnboundedReceiver<RxJsonRpcMessage<RoleServer>>);

    impl Transport<RoleServer> for Client {
        type Error = io::Error;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            self.0.recv().await
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    type Says = mpsc::UnboundedSender<RxJsonRpcMessage<RoleServer>>;

    /// A connection, the sender of the client's messages, and the signal that the last message was sent.
    fn connection() -> (UntilAnswered<Client>, Says, watch::Receiver<bool>) {
        let (says, said) = mpsc::unbounded_channel();
        let gone = watch::Sender::new(false);
        let is_gone = gone.subscribe();
        let budget = MessageBudget::default();
        let long = LongMessages::new(budget.reserve(TokenKind::Instance));
        (UntilAnswered::new(Client(said), PendingReplies::default(), gone, long), says, is_gone)
    }

    fn say(says: &Says, message: Value) {
        says.send(serde_json::from_str(&message.to_string()).unwrap()).unwrap();
    }

    fn last() -> Value {
        json!({"jsonrpc": "2.0", "method": LAST})
    }

    fn ping(id: u64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    async fn waits(transport: &mut UntilAnswered<Client>) -> bool {
        let mut receive = pin!(transport.receive());
        poll_fn(|context| Poll::Ready(receive.as_mut().poll(context).is_pending())).await
    }

    async fn answer(transport: &mut UntilAnswered<Client>, id: i64) {
        let error = ErrorData::internal_error("no", None);
        let answer = JsonRpcMessage::error(error, Some(RequestId::Number(id)));
        transport.send(answer).await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_asks_for_nothing_more_has_its_last_answer() {
        let (mut transport, says, is_gone) = connection();
        for id in [1, 2] {
            say(&says, ping(id));
            assert!(transport.receive().await.is_some());
        }
        say(&says, last());
        assert!(waits(&mut transport).await);
        assert!(*is_gone.borrow());
        answer(&mut transport, 1).await;
        assert!(waits(&mut transport).await, "another is pending");
        answer(&mut transport, 2).await;
        assert!(transport.receive().await.is_none());
    }

    #[tokio::test]
    async fn a_client_without_pending_replies_is_closed_at_once() {
        let (mut transport, says, _) = connection();
        say(&says, ping(1));
        assert!(transport.receive().await.is_some());
        let params = json!({"requestId": 1});
        say(
            &says,
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
        assert!(transport.receive().await.is_some());
        say(&says, last());
        assert!(transport.receive().await.is_none());
    }

    #[tokio::test]
    async fn a_connection_that_breaks_ends_whatever_is_owed() {
        for is_last in [false, true] {
            let (mut transport, says, is_gone) = connection();
            say(&says, ping(1));
            assert!(transport.receive().await.is_some());
            assert!(waits(&mut transport).await, "it may ask for more");
            if is_last {
                say(&says, last());
                assert!(waits(&mut transport).await);
            }
            drop(says);
            assert!(transport.receive().await.is_none());
            assert!(*is_gone.borrow());
        }
    }
}
