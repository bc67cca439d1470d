//! The texts of screens that were asked for last.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use unterm_mux::PaneId;

/// The last replies of `screen.text`, each good for as long as nothing changes in its terminal: agents ask again and
/// again for screens that stand still, and a terminal that is asked holds up its program.
#[derive(Default)]
pub struct TextCache(Mutex<VecDeque<(PaneId, u64, Arc<RawValue>)>>);

impl TextCache {
    /// How many are kept, and the longest that is.
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
