//! Follows a session's pane: reads its output as it arrives, and wakes the tasks that wait for changes.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::time::Instant;

use super::{Session, Sessions, raw_transcript::RawTranscript};
use crate::{
    methods::cells::{Bytes, BytesParams},
    offload::blocking,
};

/// The maximum time that one call waits for output. The next call follows immediately.
const WAIT_MS: u64 = 10 * 60 * 1000;

/// Follows a session until its program has ended, its pane is closed or the instance has ended.
pub async fn follow(
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    mut raw: Option<RawTranscript>,
) {
    let (mut from, mut lost) = (0, 0);
    while !session.progress().is_closed {
        let params = BytesParams {
            from: u64::into(from),
            wait_ms: WAIT_MS.into(),
            since_seq: session.progress().sequence.into(),
            ..BytesParams::of(session.pane)
        };
        let reply = match sessions.call::<Bytes>(params).await {
            Ok(reply) => reply,
            Err(error) => {
                tracing::debug!(session = session.id(), error.message, "no more output");
                break;
            }
        };
        let Ok(bytes) = STANDARD.decode(reply.base64) else { break };
        if reply.lost > lost {
            tracing::warn!(session = session.id(), bytes = reply.lost - lost, "output was lost");
            lost = reply.lost;
        }
        from = reply.from + bytes.len() as u64;
        session.transcript.lock().push(&bytes);
        if !bytes.is_empty()
            && let Some(file) = raw.take()
        {
            raw = write(&session, file, bytes).await;
        }
        let is_news = reply.seq > session.progress().sequence;
        session.progress.send_if_modified(|progress| {
            if is_news {
                progress.sequence = reply.seq;
                progress.changed = Instant::now();
            }
            true
        });
        sessions.news.send_replace(());
        if reply.ended {
            break;
        }
    }
    session.transcript.lock().finish();
    session.progress.send_modify(|progress| progress.has_ended = true);
    tracing::info!(session = session.id(), "the session's program has ended");
    sessions.news.send_replace(());
}

/// Writes output to a session's file. If that fails, nothing more is written to the file.
async fn write(
    session: &Session,
    mut file: RawTranscript,
    bytes: Vec<u8>,
) -> Option<RawTranscript> {
    let written = blocking(move || file.write(&bytes).map(|()| file)).await;
    match written {
        Ok(Ok(file)) => Some(file),
        Ok(Err(error)) => {
            tracing::error!(session = session.id(), %error, "the raw transcript ends here");
            None
        }
        Err(_) => None,
    }
}
