//! Adapters. Each adapter drives one program through a plugin. The methods `adapter.*` act on adapters.
//!
//! An adapter consists of a session, an instance of its plugin, and the last intent. Its lock serializes requests:
//! `adapter.turn` holds the lock from its first action until the turn ends. A request that is canceled during a wait,
//! or before it gets the lock, has no lasting effect. Once the actions of an intent have begun, all of them are
//! performed.

mod actions;
mod context;
pub mod methods;
mod panes;
mod read;
mod redact;
mod start;
mod turn;
mod wait_ids;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use unterm_plugin::{Instance, Manifest, Permission};

use self::wait_ids::WaitIds;
use super::{
    error::{Error, Result},
    sessions::{Session, Sessions},
};
use crate::services::pane::plugin_calls::Calls;

/// The adapters of a server.
pub struct Adapters {
    sessions: Arc<Sessions>,
    list: Mutex<BTreeMap<u64, Arc<Adapter>>>,
    next: AtomicU64,
    waits: Arc<WaitIds>,
}

/// A program that a plugin drives.
pub struct Adapter {
    id: String,
    /// The plugin's manifest when the adapter was started. Its permissions never change.
    manifest: Manifest,
    session: Arc<Session>,
    instance: Arc<Instance>,
    calls: Calls,
    lock: Arc<tokio::sync::Mutex<LastIntent>>,
}

/// The name of the last intent, as the plugin set it. `None` if it set none.
type LastIntent = Option<String>;

/// A locked adapter.
struct Locked {
    adapter: Arc<Adapter>,
    last_intent: OwnedMutexGuard<LastIntent>,
}

impl Adapter {
    /// Checks that the plugin's manifest has the permissions that a method needs.
    fn permit(&self, method: &str) -> Result<()> {
        permit(&self.manifest, method)
    }

    /// Locks the adapter.
    ///
    /// # Errors
    /// The adapter was closed meanwhile.
    async fn lock(self: Arc<Self>) -> Result<Locked> {
        let last_intent = self.lock.clone().lock_owned().await;
        if self.session.progress().is_closed {
            return Err(Error::closed(format!("adapter {} was closed", self.id)));
        }
        Ok(Locked { adapter: self, last_intent })
    }
}

impl Adapters {
    /// Creates an empty set of adapters. `sessions` contains the adapters' sessions.
    pub fn new(sessions: Arc<Sessions>) -> Arc<Self> {
        Arc::new(Self {
            sessions,
            list: Mutex::default(),
            next: AtomicU64::new(1),
            waits: Arc::default(),
        })
    }

    /// All sessions, whether or not they belong to an adapter.
    pub fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// Closes all adapters and sessions. Errors of a backend that no longer answers are ignored.
    pub async fn close_all(&self) {
        self.sessions.close_all().await;
        self.list.lock().clear();
    }

    /// All adapters, in the order of their numbers.
    fn all(&self) -> Vec<Arc<Adapter>> {
        self.list.lock().values().cloned().collect()
    }

    fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The adapter with this id.
    ///
    /// # Errors
    /// There is no adapter with this id, or it was closed.
    fn get(&self, id: &str) -> Result<Arc<Adapter>> {
        let number = id.strip_prefix('e').and_then(|number| number.parse::<u64>().ok());
        let found = number.and_then(|number| self.list.lock().get(&number).cloned());
        found.filter(|adapter| adapter.id == id).ok_or_else(|| {
            let shown: String = id.chars().take(64).collect();
            Error::invalid_params(format!(
                "unknown adapter {shown:?}: it was never started, or it was closed"
            ))
        })
    }

    /// Ends an adapter's program, and removes the adapter and its session.
    async fn close(&self, locked: Locked) -> Result<()> {
        let Locked { adapter, last_intent } = locked;
        self.sessions.close(&adapter.session).await?;
        self.list.lock().retain(|_, other| !Arc::ptr_eq(other, &adapter));
        drop(last_intent);
        Ok(())
    }
}

/// Runs work to its end, even if the client disconnects meanwhile.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    tokio::spawn(work).await.map_err(|error| Error::internal(error.to_string()))?
}

/// Checks that a plugin's manifest has the permissions that a method needs.
fn permit(manifest: &Manifest, method: &str) -> Result<()> {
    let missing = permissions(method).iter().find(|needed| !manifest.has(**needed));
    let Some(missing) = missing else { return Ok(()) };
    let (plugin, permission) = (&manifest.name, missing.name());
    let message = format!(
        "{method} needs the permission {permission}, which the manifest of the plugin {plugin:?} does not declare"
    );
    Err(Error::permission(message, method, permission))
}

/// The permissions that a method needs.
fn permissions(method: &str) -> &'static [Permission] {
    match method {
        "adapter.start" | "adapter.resume" => &[Permission::SessionSpawn],
        "adapter.send" => &[Permission::InputWrite],
        "adapter.wait" => &[Permission::MatcherWait],
        "adapter.turn" => &[Permission::InputWrite, Permission::MatcherWait],
        "adapter.snapshot" | "adapter.state" | "adapter.inspect" => &[Permission::ScreenRead],
        "adapter.transcript" => &[Permission::TranscriptRead],
        "adapter.close" => &[Permission::SessionKill],
        _ => &[],
    }
}
