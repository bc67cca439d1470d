//! Leases: a pane whose input one caller keeps for itself, until it gives it back, its time is over, its connection ends
//! or a person types there. Without one, everybody may type.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Pane, PaneId};

use super::drivers::Driver;
use crate::caller::Caller;

/// How long a lease is when nobody says.
pub const USUAL: Duration = Duration::from_secs(60);
/// How long it may be.
pub const LONGEST: Duration = Duration::from_secs(60 * 60);

struct Lease {
    connection: u64,
    holder: String,
    until: Instant,
    /// How often a person had typed when it began.
    touches: u64,
}

impl Lease {
    fn holds(&self, pane: &Pane) -> bool {
        self.until > Instant::now() && self.touches == pane.touches()
    }
}

/// Who has which pane.
#[derive(Default)]
pub struct Leases(Mutex<HashMap<PaneId, Lease>>);

impl Leases {
    /// Gives a pane to a caller, or the caller more time; an error names who has it.
    pub fn take(&self, caller: &Caller, pane: &Pane, length: Duration) -> Result<String, String> {
        let mut leases = self.0.lock();
        leases.retain(|_, lease| lease.until > Instant::now());
        if let Some(lease) = leases.get(&pane.id())
            && lease.connection != caller.connection
            && lease.holds(pane)
        {
            return Err(lease.holder.clone());
        }
        let holder = caller.client.clone();
        let holder = holder.unwrap_or_else(|| format!("connection {}", caller.connection));
        let lease = Lease {
            connection: caller.connection,
            holder: holder.clone(),
            until: Instant::now() + length,
            touches: pane.touches(),
        };
        leases.insert(pane.id(), lease);
        Ok(holder)
    }

    /// Takes a caller's lease back; false when it had none any more.
    pub fn release(&self, caller: &Caller, pane: &Pane) -> bool {
        let mut leases = self.0.lock();
        let is_own = |lease: &Lease| lease.connection == caller.connection;
        if !leases.get(&pane.id()).is_some_and(is_own) {
            return false;
        }
        leases.remove(&pane.id()).is_some_and(|lease| lease.holds(pane))
    }

    /// Takes all back that a connection had; false: it had none.
    pub fn release_all(&self, connection: u64) -> bool {
        let mut leases = self.0.lock();
        let before = leases.len();
        leases.retain(|_, lease| lease.connection != connection);
        leases.len() < before
    }

    /// Who has a pane, and until when.
    pub fn of(&self, pane: &Pane) -> Option<Driver> {
        let leases = self.0.lock();
        let lease = leases.get(&pane.id()).filter(|lease| lease.holds(pane))?;
        Some(Driver { client: lease.holder.clone(), until: lease.until })
    }

    /// Who keeps a caller from typing in a pane.
    pub fn holder(&self, caller: &Caller, pane: &Pane) -> Option<String> {
        let mut leases = self.0.lock();
        let lease = leases.get(&pane.id())?;
        if !lease.holds(pane) {
            leases.remove(&pane.id());
            return None;
        }
        (lease.connection != caller.connection).then(|| lease.holder.clone())
    }
}
