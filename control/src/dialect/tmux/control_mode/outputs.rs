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

/// The maximum number of rows of history that are sent with the screen of a new pane.
const MOST_ROWS: u64 = 1000;
/// At most this many bytes of a pane are sent before other panes have their turn, in addition to one item of the queue.
const PART: usize = 16 << 10;

/// The panes whose output a client receives.
#[derive(Default)]
pub struct Outputs {
    panes: BTreeMap<u64, Followed>,
    /// The panes that may have output, in the order of their turns.
    ready: VecDeque<u64>,
}

struct Followed {
    tap: Tap,
    pane: Arc<Pane>,
    /// The screen and history of the terminal, if they are sent first.
    first: Option<Vec<u8>>,
    /// The `seq` of the terminal that `first` includes. Output up to it is skipped.
    past: u64,
    has_ended: bool,
}

/// Output for a client.
#[derive(Debug, PartialEq, Eq)]
pub enum PaneOutput {
    /// The number of a pane, its output, and how long the first byte of it has waited.
    Bytes(u64, Vec<u8>, Duration),
    /// The client is too slow for the output of this pane.
    Behind(u64),
}

impl Outputs {
    /// Removes all panes except `wanted`. Returns the wanted panes that must be added, each with whether a new program
    /// has replaced an ended program.
    pub fn keep(&mut self, wanted: &BTreeSet<u64>) -> Vec<(u64, bool)> {
        // The output of a new program has its own queue, so the pane must be added again.
        let is_over = |of: &Followed| of.has_ended && of.pane.state() == PaneState::Running;
        let over: BTreeSet<u64> =
            self.panes.iter().filter(|(_, of)| is_over(of)).map(|(id, _)| *id).collect();
        self.panes.retain(|id, _| wanted.contains(id) && !over.contains(id));
        let missing = wanted.iter().copied().filter(|id| !self.panes.contains_key(id));
        missing.map(|id| (id, over.contains(&id))).collect()
    }

    /// Adds a pane. `is_new`: the client has not received any of its output, so the terminal's screen and history are
    /// sent first.
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

    /// Removes a pane.
    pub fn remove(&mut self, pane: u64) {
        self.panes.remove(&pane);
    }

    /// Queues a pane that may have output for its turn.
    pub fn mark(&mut self, pane: u64) {
        if self.panes.contains_key(&pane) && !self.ready.contains(&pane) {
            self.ready.push_back(pane);
        }
    }

    /// Whether a pane may have output.
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The output of the next pane in the queue. `None` if there is none. `longest`: the maximum time that output may
    /// have waited.
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
