//! The output of the panes that a client sees.
//!
//! Each pane has a bounded queue (`unterm_mux::TAP_CAPACITY`), which the pane never waits for. The client's task takes
//! parts of the queues in turn.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::{Duration, SystemTime},
};

use unterm_mux::{Pane, PaneState, Tap, TapDirection, TapItem};

use crate::services::pane::bytes::blacken;

/// The maximum number of rows of history of a pane that is sent as it is.
const MOST_ROWS: u64 = 1000;
/// At most this many bytes of a pane are sent before other panes have their turn, in addition to one item of the queue.
const PART: usize = 16 << 10;

/// The panes that a client gets the output of.
#[derive(Default)]
pub struct Outputs {
    panes: BTreeMap<u64, Followed>,
    /// The panes that may have output, in the order of their turns.
    ready: VecDeque<u64>,
}

struct Followed {
    tap: Tap,
    pane: Arc<Pane>,
    /// What the terminal shows, if that is sent first.
    first: Option<Vec<u8>>,
    /// The `seq` of the terminal up to which the output is sent already.
    past: u64,
    has_ended: bool,
}

/// Output for a client.
#[derive(Debug, PartialEq, Eq)]
pub enum PaneOutput {
    /// Bytes, and how long the first of them has waited.
    Bytes(u64, Vec<u8>, Duration),
    /// The client is too slow for the output of this pane.
    Behind(u64),
}

impl Outputs {
    /// Forgets all panes but these. Returns those of them that must be added, and whether another program was started
    /// in the place of an ended one.
    pub fn keep(&mut self, wanted: &BTreeSet<u64>) -> Vec<(u64, bool)> {
        // The new program's output has a queue of its own.
        let is_over = |of: &Followed| of.has_ended && of.pane.state() == PaneState::Running;
        let over: BTreeSet<u64> =
            self.panes.iter().filter(|(_, of)| is_over(of)).map(|(id, _)| *id).collect();
        self.panes.retain(|id, _| wanted.contains(id) && !over.contains(id));
        let missing = wanted.iter().copied().filter(|id| !self.panes.contains_key(id));
        missing.map(|id| (id, over.contains(&id))).collect()
    }

    /// Adds a pane. `is_new`: the client has seen none of its output, so what the terminal shows is sent first.
    pub fn add(&mut self, pane: Arc<Pane>, tap: Tap, is_new: bool) {
        let id = pane.id().0;
        let (first, past) = match is_new {
            true => {
                let term = pane.term();
                (Some(term.to_vt_text(MOST_ROWS)).filter(|_| term.seq() > 0), term.seq())
            }
            false => (None, 0),
        };
        self.panes.insert(id, Followed { tap, pane, first, past, has_ended: false });
        self.mark(id);
    }

    /// Forgets a pane.
    pub fn remove(&mut self, pane: u64) {
        self.panes.remove(&pane);
    }

    /// Gives a pane that may have output its turn.
    pub fn mark(&mut self, pane: u64) {
        if self.panes.contains_key(&pane) && !self.ready.contains(&pane) {
            self.ready.push_back(pane);
        }
    }

    /// Whether a pane may have output.
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The output of the next pane. `None` if it has none. `longest`: how long output may wait.
    pub fn next(&mut self, longest: Duration) -> Option<PaneOutput> {
        let id = self.ready.pop_front()?;
        let followed = self.panes.get_mut(&id)?;
        if let Some(bytes) = followed.first.take() {
            self.ready.push_back(id);
            return Some(PaneOutput::Bytes(id, bytes, Duration::ZERO));
        }
        let (mut bytes, mut age) = (Vec::new(), None);
        let now = SystemTime::now();
        while bytes.len() < PART {
            match followed.tap.try_next() {
                Some(TapItem::Bytes {
                    direction: TapDirection::Output,
                    bytes: more,
                    time,
                    seq,
                    ..
                }) if seq > followed.past => {
                    age.get_or_insert(now.duration_since(time).unwrap_or_default());
                    bytes.extend_from_slice(&more);
                }
                Some(TapItem::Bytes { .. }) => {}
                Some(TapItem::Gap { .. }) => return Some(PaneOutput::Behind(id)),
                Some(TapItem::End) => followed.has_ended = true,
                None => break,
            }
        }
        if bytes.len() >= PART {
            self.ready.push_back(id);
        }
        let age = age?;
        if age > longest {
            return Some(PaneOutput::Behind(id));
        }
        if let Some(nonce) = followed.pane.nonce() {
            blacken(&mut bytes, nonce.as_bytes());
        }
        Some(PaneOutput::Bytes(id, bytes, age))
    }
}
