//! The output of panes as bytes, for callers that need them. A hidden pane's last megabyte is kept. A streamed pane's
//! bytes are kept until a caller has read them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use unterm_mux::{Mux, MuxEvent, Observer, PaneId, Tap, TapDirection, TapItem};

/// The maximum number of bytes that are kept per pane.
const KEPT: usize = 1 << 20;

/// The kept output of panes, by pane.
#[derive(Default)]
pub struct Bytes(Mutex<HashMap<PaneId, Arc<Output>>>);

/// The output of one pane.
pub struct Output {
    kept: Mutex<KeptBytes>,
    /// Whether the program waits while the kept bytes are unread. Otherwise, new bytes replace the oldest.
    is_streamed: bool,
    /// Changes when bytes arrive and when the output ends.
    arrived: watch::Sender<()>,
    /// Wakes the task that waits for free space.
    room: Notify,
}

#[derive(Default)]
struct KeptBytes {
    bytes: VecDeque<u8>,
    /// The number of bytes that have arrived.
    end: u64,
    /// The number of bytes that are missing because the program stopped waiting for the reader.
    lost: u64,
    has_ended: bool,
    /// Whether the pane was removed, so that its output is not read any longer.
    is_forgotten: bool,
}

/// A part of a pane's output.
pub struct OutputPiece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The number of output bytes before this piece.
    pub from: u64,
    /// The number of bytes that are missing up to here, because the program stopped waiting for the reader.
    pub lost: u64,
    /// Whether the program has ended, so that no more bytes follow.
    pub has_ended: bool,
    /// Whether the pane was removed.
    pub is_forgotten: bool,
}

impl Bytes {
    /// Keeps the last megabyte of a tap's output until the pane is forgotten. Needs a tokio runtime.
    pub fn keep(&self, pane: PaneId, tap: Tap) {
        self.follow(pane, tap, false);
    }

    /// Keeps a tap's output until it is read. While a megabyte is unread, the program waits, for as long as the tap
    /// permits. Needs a tokio runtime.
    pub fn stream(&self, pane: PaneId, tap: Tap) {
        self.follow(pane, tap, true);
    }

    fn follow(&self, pane: PaneId, mut tap: Tap, is_streamed: bool) {
        let output = Arc::new(Output {
            kept: Mutex::default(),
            is_streamed,
            arrived: watch::Sender::new(()),
            room: Notify::new(),
        });
        let weak = Arc::downgrade(&output);
        self.0.lock().insert(pane, output);
        tokio::spawn(async move {
            while let Some(item) = tap.next().await {
                let Some(output) = weak.upgrade() else { return };
                match item {
                    TapItem::Bytes { direction: TapDirection::Output, bytes, .. } => {
                        output.push(&bytes).await;
                    }
                    TapItem::Bytes { .. } => {}
                    TapItem::Gap { bytes } => output.kept.lock().lost += bytes,
                    TapItem::End => break,
                }
            }
            if let Some(output) = weak.upgrade() {
                output.kept.lock().has_ended = true;
                output.arrived.send_replace(());
            }
        });
    }

    /// The output of a pane. `None` if the pane's output is not kept.
    pub fn output(&self, pane: PaneId) -> Option<Arc<Output>> {
        self.0.lock().get(&pane).cloned()
    }

    /// Forgets a pane's output.
    pub fn forget(&self, pane: PaneId) {
        let output = self.0.lock().remove(&pane);
        if let Some(output) = output {
            output.kept.lock().is_forgotten = true;
            output.room.notify_one();
            output.arrived.send_replace(());
        }
    }

    /// Forgets each pane's output when the pane is removed from the mux.
    pub fn follow_removals(self: &Arc<Self>, mux: &Mux) {
        mux.observe(Arc::new(Removals(Arc::downgrade(self))));
    }
}

impl Output {
    async fn push(&self, bytes: &[u8]) {
        loop {
            {
                let mut kept = self.kept.lock();
                let has_room = kept.bytes.is_empty() || kept.bytes.len() + bytes.len() <= KEPT;
                if has_room || !self.is_streamed || kept.is_forgotten {
                    kept.bytes.extend(bytes);
                    kept.end += bytes.len() as u64;
                    if !self.is_streamed || kept.is_forgotten {
                        let excess = kept.bytes.len().saturating_sub(KEPT);
                        kept.bytes.drain(..excess);
                    }
                    break;
                }
            }
            self.room.notified().await;
        }
        self.arrived.send_replace(());
    }

    /// Changes when bytes arrive, and when the output ends or is forgotten.
    pub fn watch(&self) -> watch::Receiver<()> {
        self.arrived.subscribe()
    }

    /// The kept bytes after the first `from`, with each byte of `secret` replaced by `*`. If the output is streamed and
    /// `releases` is true, earlier bytes are released, which lets a waiting program go on.
    pub fn after(&self, from: u64, secret: Option<&str>, releases: bool) -> OutputPiece {
        let mut kept = self.kept.lock();
        let first = kept.end - kept.bytes.len() as u64;
        let from = from.clamp(first, kept.end);
        let mut skipped = (from - first) as usize;
        if self.is_streamed && releases {
            kept.bytes.drain(..skipped);
            skipped = 0;
            self.room.notify_one();
        }
        let mut bytes: Vec<u8> = kept.bytes.range(skipped..).copied().collect();
        let KeptBytes { lost, has_ended, is_forgotten, .. } = *kept;
        drop(kept);
        if let Some(secret) = secret {
            blacken(&mut bytes, secret.as_bytes());
        }
        OutputPiece { bytes, from, lost, has_ended, is_forgotten }
    }
}

/// Observes removed panes. Holds a weak reference, because the mux keeps its observers alive.
struct Removals(Weak<Bytes>);

impl Observer for Removals {
    fn output(&self, _: PaneId) {}

    fn event(&self, event: MuxEvent) {
        if let (MuxEvent::PaneRemoved(pane), Some(bytes)) = (event, self.0.upgrade()) {
            bytes.forget(pane);
        }
    }
}

/// Overwrites a secret in a text with asterisks. The text may begin or end inside the secret. A piece shorter than a
/// quarter of the secret stays, because it reveals little of the rest.
pub(crate) fn blacken(text: &mut [u8], secret: &[u8]) {
    let whole: Vec<usize> = memchr::memmem::find_iter(text, secret).collect();
    for at in whole {
        text[at..at + secret.len()].fill(b'*');
    }
    let parts = (secret.len().div_ceil(4)..secret.len()).rev();
    let first = parts.clone().find(|&count| text.starts_with(&secret[secret.len() - count..]));
    text[..first.unwrap_or(0)].fill(b'*');
    let last = parts.clone().find(|&count| text.ends_with(&secret[..count]));
    let end = text.len() - last.unwrap_or(0);
    text[end..].fill(b'*');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(is_streamed: bool) -> Output {
        Output {
            kept: Mutex::default(),
            is_streamed,
            arrived: watch::Sender::new(()),
            room: Notify::new(),
        }
    }

    #[tokio::test]
    async fn output_is_read_from_where_the_last_read_ended() {
        let output = output(true);
        output.push(b"one ").await;
        output.push(b"two").await;
        let piece = output.after(0, None, true);
        assert_eq!((piece.from, &*piece.bytes), (0, &b"one two"[..]));
        // The first bytes were not released yet, so a reader may ask for them again.
        assert_eq!(output.after(4, None, false).bytes, b"two");
        assert_eq!(
            output.after(0, None, true).from,
            0,
            "a caller that may not act releases nothing"
        );
        assert_eq!(output.after(4, None, true).bytes, b"two");
        assert_eq!(output.after(0, None, true).from, 4, "what was read before is released");
        let end = output.after(99, None, true);
        assert_eq!((end.from, &*end.bytes), (7, &b""[..]));
    }

    #[tokio::test]
    async fn a_streamed_program_waits_and_others_drop_the_oldest_output() {
        let (streamed, whole) = (output(true), vec![b'x'; KEPT]);
        streamed.push(&whole).await;
        {
            let mut push = std::pin::pin!(streamed.push(b"more"));
            assert!(crate::poll::poll_once(&mut push).await.is_pending());
            assert_eq!(streamed.after(KEPT as u64, None, true).bytes, b"");
            push.await;
        }
        assert_eq!(streamed.after(0, None, true).bytes, b"more");
        let kept = output(false);
        kept.push(&whole).await;
        kept.push(b"more").await;
        let piece = kept.after(0, None, true);
        assert_eq!((piece.from, piece.bytes.len()), (4, KEPT));
        assert!(piece.bytes.ends_with(b"xmore"));
    }

    #[test]
    fn no_large_part_of_a_secret_is_left() {
        for (text, left) in [
            ("a;nonce=01234567;b01234567", "a;nonce=********;b********"),
            ("1234567;plain;nonce=0123456", "*******;plain;nonce=*******"),
            ("67;plain;nonce=01", "**;plain;nonce=**"),
            ("7;plain;0", "7;plain;0"),
            ("", ""),
        ] {
            let mut bytes = text.as_bytes().to_vec();
            blacken(&mut bytes, b"01234567");
            assert_eq!(String::from_utf8(bytes).unwrap(), left, "{text:?}");
        }
    }
}
