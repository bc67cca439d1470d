//! Turns: only one call at a time types into a session, so that the parts of two calls don't mix.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// The turns of a machine's sessions.
#[derive(Default)]
pub struct Turns(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Turns {
    /// Waits for the turn to type into a session.
    pub async fn of(&self, sid: &str) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock();
            // Turns that no call holds or waits for are removed.
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            turns.entry(sid.to_owned()).or_default().clone()
        };
        turn.lock_owned().await
    }
}
