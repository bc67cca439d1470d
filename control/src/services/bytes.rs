//! What the programs of hidden panes wrote, as they wrote it: the last of it, for those who want more than a screen.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use unterm_mux::{PaneId, Tap, TapDirection, TapItem};

/// Bytes that are kept of each pane.
const KEPT: usize = 1 << 20;

type Kept = Arc<Mutex<VecDeque<u8>>>;

/// Of every hidden pane.
#[derive(Default)]
pub struct Bytes(Mutex<HashMap<PaneId, Kept>>);

impl Bytes {
    /// Keeps what a tap yields from now on, until the pane is forgotten. Needs a runtime.
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

    /// What is kept of a pane; `None`: nothing ever was.
    pub fn of(&self, pane: PaneId) -> Option<Vec<u8>> {
        let kept = self.0.lock().get(&pane).cloned()?;
        let bytes = kept.lock().iter().copied().collect();
        Some(bytes)
    }

    /// Forgets a pane.
    pub fn forget(&self, pane: PaneId) {
        self.0.lock().remove(&pane);
    }
}
