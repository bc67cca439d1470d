//! The protocol over two byte streams, with one message per line. TCP connections and streams of server-sent events use
//! it.

use rmcp::{ServerHandler, transport::async_rw::AsyncRwTransport};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use super::{
    long_messages::LongMessages,
    pending_replies::{PendingReplies, UntilAnswered},
};
use crate::{services::limits::message_budget::Reservation, transport::limits::LONGEST_MESSAGE};

/// Serves a client until it disconnects. `session`: creates the session. Its argument is a signal that is set when the
/// client has sent its last message. `pending`: the unanswered requests. `reservation`: the memory of long messages.
pub async fn serve_lines<S: ServerHandler>(
    session: impl FnOnce(watch::Receiver<bool>) -> S,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    pending: PendingReplies,
    reservation: Reservation,
) {
    let gone = watch::Sender::new(false);
    let session = session(gone.subscribe());
    let long = LongMessages::new(reservation);
    let reader = long.metered(reader);
    let transport =
        AsyncRwTransport::new_server(reader, writer).with_max_line_length(LONGEST_MESSAGE);
    match rmcp::serve_server(session, UntilAnswered::new(transport, pending, gone, long)).await {
        Ok(running) => {
            let end = running.waiting().await;
            tracing::debug!(?end, "a session of the Model Context Protocol ended");
        }
        Err(error) => tracing::debug!(%error, "no session began"),
    }
}
