//! Connections to the tools of this machine's instances. Each client of a hub has its own connection, because handles
//! and leases belong to a connection.

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use parking_lot::Mutex;
use tokio::time::Instant;
use unterm_control::client::Tools;

use super::{
    blocked_lines::Rules,
    instances::{InstanceStart, Instances, shown_client},
};
use crate::protocol::ToolCall;

/// The maximum number of connections that are kept.
const MOST: usize = 64;
/// The maximum number of connections of one token that are kept.
const MOST_OF_TOKEN: usize = 16;
/// A connection without calls is closed after this time.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The connections.
pub struct InstanceTools {
    instances: Arc<Instances>,
    kept: Mutex<HashMap<ConnectionKey, KeptConnection>>,
}

/// The owner of a connection.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ConnectionKey {
    start: InstanceStart,
    token: String,
    conversation: String,
}

struct KeptConnection {
    tools: Tools,
    used: Instant,
}

impl InstanceTools {
    /// Creates an empty set of connections to these instances.
    pub fn new(instances: Arc<Instances>) -> Self {
        Self { instances, kept: Mutex::default() }
    }

    /// The connection for a call, the start of its instance, and that instance's rules.
    ///
    /// # Errors
    /// There is no such instance, or it refuses the connection.
    pub async fn client(&self, call: &ToolCall) -> Result<(Tools, InstanceStart, Rules)> {
        let (endpoint, start, rules) = self.instances.endpoint(&call.instance).await?;
        let (token, conversation) = (call.token.clone(), call.conversation.clone());
        let key = ConnectionKey { start: start.clone(), token, conversation };
        if let Some(kept) = self.kept.lock().get_mut(&key).filter(|kept| kept.tools.is_open()) {
            kept.used = Instant::now();
            return Ok((kept.tools.clone(), start, rules));
        }
        let name = shown_client(&call.client);
        let tools = Tools::connect(&endpoint, Some(&name), "unterm", None).await;
        let tools = tools.context("the instance refused the connection")?;
        let mut kept = self.kept.lock();
        kept.retain(|_, kept| kept.tools.is_open() && kept.used.elapsed() < IDLE);
        // Another call may have opened the connection meanwhile.
        if let Some(kept) = kept.get(&key) {
            return Ok((kept.tools.clone(), start, rules));
        }
        // If the token has the maximum number of connections, first close one of that token's connections.
        if kept.keys().filter(|of| of.token == key.token).count() >= MOST_OF_TOKEN {
            drop_oldest(&mut kept, |of| of.token == key.token);
        } else if kept.len() >= MOST {
            drop_oldest(&mut kept, |_| true);
        }
        kept.insert(key, KeptConnection { tools: tools.clone(), used: Instant::now() });
        Ok((tools, start, rules))
    }
}

/// Closes the least recently used connection among those for which `is_one` returns true.
fn drop_oldest(
    kept: &mut HashMap<ConnectionKey, KeptConnection>,
    is_one: impl Fn(&ConnectionKey) -> bool,
) {
    let some = kept.iter().filter(|(key, _)| is_one(key));
    let oldest = some.min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        kept.remove(&oldest);
    }
}
