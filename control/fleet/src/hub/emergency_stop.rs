//! The emergency stop: while it is set, every call of every agent is refused, at all hubs.

use std::sync::Arc;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{
    audit::{self, Entry, Event, PERSON},
    store::{Store, now},
};

/// The key of the stop in its bucket.
const KEY: &str = "stop";

/// The emergency stop of a fleet.
#[derive(Clone)]
pub struct EmergencyStop(Arc<Store>);

#[derive(Serialize, Deserialize)]
struct StopSwitch {
    is_set: bool,
    at: String,
}

impl EmergencyStop {
    /// Creates the emergency stop of a store.
    pub fn new(store: Arc<Store>) -> Self {
        Self(store)
    }

    /// Whether the emergency stop is set.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn is_set(&self) -> Result<bool> {
        Ok(self.0.switches.get::<StopSwitch>(KEY).await?.is_some_and(|stop| stop.is_set))
    }

    /// Sets or releases the emergency stop.
    ///
    /// # Errors
    /// NATS does not store the change.
    pub async fn set(&self, is_set: bool) -> Result<()> {
        self.0.switches.put(KEY, &StopSwitch { is_set, at: now() }).await?;
        let name = if is_set { "stop-agents" } else { "start-agents" };
        audit::record(&self.0, Entry::new(Event::Decided, name, PERSON)).await
    }
}
