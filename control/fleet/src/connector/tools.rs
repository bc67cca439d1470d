//! Connections to the tools of this machine's instances, one for each client of a hub: handles and leases belong to a connection.

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use parking_lot::Mutex;
use tokio::time::Instant;
use unterm_control::client::Tools;

use super::instances::{Instances, shown_client};

/// The most connections that are kept.
const MOST: usize = 64;
/// How long a connection without calls is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The connections.
pub struct InstanceTools {
    instances: Arc<Instances>,
    /// By the instance's start and the client's name, with the time of the last call.
    kept: Mutex<HashMap<(String, String), (Tools, Instant)>>,
}

impl InstanceTools {
    /// To these instances.
    pub fn new(instances: Arc<Instances>) -> Self {
        Self { instances, kept: Mutex::default() }
    }

    /// The connection of a client to an instance. An empty name stands for the only instance.
    ///
    /// # Errors
    /// There is no such instance, or it refuses.
    pub async fn client(&self, instance: &str, client: &str) -> Result<Tools> {
        let (endpoint, start) = self.instances.endpoint(instance).await?;
        let key = (start, client.to_owned());
        if let Some((tools, used)) = self.kept.lock().get_mut(&key).filter(|(t, _)| t.is_open()) {
            *used = Instant::now();
            return Ok(tools.clone());
        }
        let name = shown_client(client);
        let tools = Tools::connect(&endpoint, Some(&name), "unterm", None).await;
        let tools = tools.context("the instance refuses")?;
        let mut kept = self.kept.lock();
        kept.retain(|_, (tools, used)| tools.is_open() && used.elapsed() < IDLE);
        if kept.len() >= MOST {
            let oldest = kept.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|key| kept.remove(&key));
        }
        kept.insert(key, (tools.clone(), Instant::now()));
        Ok(tools)
    }
}
