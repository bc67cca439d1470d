//! The last bytes that the programs of hidden panes wrote, for callers that need more than a screen.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use unterm_mux::{PaneId, Tap, TapDirection, TapItem};

/// The most bytes that are kept per pane.
const KEPT: usize = 1 << 20;

type Kept = Arc<Mutex<VecDeque<u8>>>;

/// The bytes of every hidden pane.
#[derive(Default)]
pub struct Bytes(Mutex<HashMap<PaneId, Kept>>);

impl Bytes {
    /// Keeps the bytes of a tap until the pane is forgotten. Needs a tokio runtime.
    pub fn keep(&self, pane: PaneId, mut tap: Tap) {
        let kept = Kept::default();
        let weak = Arc::downgrade(&kept);
        self.0.lock().insert(pane, kept);
        tokio::spawn(async move {
            while let Some(item) = tap.next().await {
                let Some(kept) = weak.upgrade() else { return };
                if let TapItem::Bytes { direction: TapDirection::Output, bytes, .. } = item {
                    let mut kept = kept.lock();
                    kept.extend(bytes.iter());
                    let excess = kept.len().saturating_sub(KEPT);
                    kept.drain(..excess);
                }
            }
        });
    }

    /// The bytes kept for a pane, with each byte of `secret` replaced by `*`. `None` if none were ever kept.
    pub fn of(&self, pane: PaneId, secret: Option<&str>) -> Option<Vec<u8>> {
        let kept = self.0.lock().get(&pane).cloned()?;
        let mut bytes: Vec<u8> = kept.lock().iter().copied().collect();
        if let Some(secret) = secret {
            blacken(&mut bytes, secret.as_bytes());
        }
        Some(bytes)
    }

    /// Forgets a pane's bytes.
    pub fn forget(&self, pane: PaneId) {
        self.0.lock().remove(&pane);
    }
}

/// Overwrites a secret in a text with stars. The text may begin or end inside the secret. A part of less than a quarter
/// reveals too little of the rest, and stays.
fn blacken(text: &mut [u8], secret: &[u8]) {
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

    #[test]
    fn no_part_of_a_secret_is_left() {
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
