//! A cache of recently requested screen texts.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use unterm_mux::PaneId;

/// The latest replies of `screen.text`. A reply is valid until the terminal changes. The cache exists because agents
/// often ask again for an unchanged screen, and reading a terminal blocks its program.
#[derive(Default)]
pub struct TextCache(Mutex<VecDeque<(PaneId, u64, Arc<RawValue>)>>);

impl TextCache {
    /// The maximum number of cached replies, and the maximum length of a reply in bytes.
    const COUNT: usize = 32;
    const LONGEST: usize = 64 << 10;

    pub fn get(&self, pane: PaneId, seq: u64) -> Option<Arc<RawValue>> {
        let texts = self.0.lock();
        let (.., text) = texts.iter().find(|(of, at, _)| (*of, *at) == (pane, seq))?;
        Some(text.clone())
    }

    pub fn put(&self, pane: PaneId, seq: u64, text: &Arc<RawValue>) {
        let mut texts = self.0.lock();
        texts.retain(|(of, ..)| *of != pane);
        if text.get().len() <= Self::LONGEST {
            texts.truncate(Self::COUNT - 1);
            texts.push_front((pane, seq, text.clone()));
        }
    }
}
