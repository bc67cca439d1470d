//! Leases: only the holder of a pane's lease may type in the pane. A lease ends when its holder releases it, its time
//! is over, its connection ends, the user types in the pane or the pane is closed. Without a lease, every caller may
//! type.
//!
//! When a key of the user ends a lease, its former holder must request a new lease before it can type again, because it
//! assumes that only its own text was typed.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Mux, MuxEvent, Observer, Pane, PaneId, PaneState};

use super::drivers::Driver;
use crate::caller::Caller;

/// The default length of a lease.
pub const USUAL: Duration = Duration::from_secs(60);
/// The longest possible lease.
pub const LONGEST: Duration = Duration::from_secs(60 * 60);

struct Lease {
    connection: u64,
    holder: String,
    until: Instant,
    /// The number of keys that the user had pressed in the pane when the lease began.
    touches: u64,
}

impl Lease {
    fn holds(&self, pane: &Pane) -> bool {
        self.until > Instant::now() && self.touches == pane.touches()
    }
}

/// Why a caller may not type in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseRefusal {
    /// Another caller holds the lease. Contains that caller's name.
    Leased(String),
    /// The user has typed in the pane since the caller received its lease.
    TakenOver,
}

#[derive(Default)]
struct LeaseState {
    leases: HashMap<PaneId, Lease>,
    /// Connections that lost a pane's lease to the user's keys, and have not received a new one.
    lost: HashSet<(PaneId, u64)>,
}

impl LeaseState {
    /// Removes the pane's lease if it has ended, and records whether the user's keys ended it.
    fn look(&mut self, pane: &Pane) {
        let Some(lease) = self.leases.get(&pane.id()).filter(|lease| !lease.holds(pane)) else {
            return;
        };
        // Record this even if the lease expired first, because its holder does not know that the user has typed.
        if lease.touches != pane.touches() {
            self.lost.insert((pane.id(), lease.connection));
        }
        self.leases.remove(&pane.id());
    }

    /// The holder of a pane's lease, if the holder is another caller.
    fn other(&self, caller: &Caller, pane: &Pane) -> Option<String> {
        let lease = self.leases.get(&pane.id())?;
        (lease.connection != caller.connection).then(|| lease.holder.clone())
    }

    /// Forgets a pane that was closed.
    fn forget(&mut self, pane: PaneId) {
        self.leases.remove(&pane);
        self.lost.retain(|(of, _)| *of != pane);
    }
}

/// The leases of all panes.
#[derive(Default)]
pub struct Leases(Mutex<LeaseState>);

/// Observes which panes are closed. Holds a weak reference, because the mux keeps its observers alive.
struct MuxObserver(Weak<Leases>);

impl Observer for MuxObserver {
    fn output(&self, _: PaneId) {}

    fn event(&self, event: MuxEvent) {
        if let (MuxEvent::PaneRemoved(pane), Some(leases)) = (event, self.0.upgrade()) {
            leases.0.lock().forget(pane);
        }
    }
}

impl Leases {
    /// Creates an empty set of leases for the panes of a mux.
    pub fn new(mux: &Mux) -> Arc<Self> {
        let leases = Arc::<Self>::default();
        mux.observe(Arc::new(MuxObserver(Arc::downgrade(&leases))));
        leases
    }

    /// Grants a lease, or extends it. Returns the holder's name.
    ///
    /// # Errors
    /// Another caller holds the lease. The error is that caller's name.
    pub fn take(&self, caller: &Caller, pane: &Pane, length: Duration) -> Result<String, String> {
        let mut held = self.0.lock();
        held.look(pane);
        if let Some(holder) = held.other(caller, pane) {
            return Err(holder);
        }
        let holder = caller.client.clone();
        let holder = holder.unwrap_or_else(|| format!("connection {}", caller.connection));
        let lease = Lease {
            connection: caller.connection,
            holder: holder.clone(),
            until: Instant::now() + length,
            touches: pane.touches(),
        };
        held.lost.remove(&(pane.id(), caller.connection));
        // If the pane was closed meanwhile, its leases are already forgotten, and a new lease would stay forever.
        if pane.state() != PaneState::Removed {
            held.leases.insert(pane.id(), lease);
        }
        Ok(holder)
    }

    /// Whether a caller holds the lease on a pane.
    pub fn has(&self, caller: &Caller, pane: &Pane) -> bool {
        let mut held = self.0.lock();
        held.look(pane);
        held.leases.get(&pane.id()).is_some_and(|lease| lease.connection == caller.connection)
    }

    /// Ends a caller's lease. Returns false if it had none.
    pub fn release(&self, caller: &Caller, pane: &Pane) -> bool {
        let mut held = self.0.lock();
        held.look(pane);
        held.lost.remove(&(pane.id(), caller.connection));
        let is_own = |lease: &Lease| lease.connection == caller.connection;
        if !held.leases.get(&pane.id()).is_some_and(is_own) {
            return false;
        }
        held.leases.remove(&pane.id()).is_some()
    }

    /// Ends all leases of a connection. Returns false if it had none.
    pub fn release_all(&self, connection: u64) -> bool {
        let mut held = self.0.lock();
        held.lost.retain(|(_, loser)| *loser != connection);
        let before = held.leases.len();
        held.leases.retain(|_, lease| lease.connection != connection);
        held.leases.len() < before
    }

    /// The holder of a pane's lease, and the time when the lease ends.
    pub fn of(&self, pane: &Pane) -> Option<Driver> {
        let held = self.0.lock();
        let lease = held.leases.get(&pane.id()).filter(|lease| lease.holds(pane))?;
        Some(Driver { client: lease.holder.clone(), until: lease.until })
    }

    /// Whether leases permit a caller to type in a pane.
    pub fn admit(&self, caller: &Caller, pane: &Pane) -> Result<(), LeaseRefusal> {
        let mut held = self.0.lock();
        held.look(pane);
        if held.lost.contains(&(pane.id(), caller.connection)) {
            return Err(LeaseRefusal::TakenOver);
        }
        held.other(caller, pane).map_or(Ok(()), |holder| Err(LeaseRefusal::Leased(holder)))
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::{MuxOptions, Spawn};
    use unterm_term::Size;

    use super::*;
    use crate::caller::{Capabilities, Scopes, TokenKind, Wire};

    fn caller(connection: u64) -> Caller {
        Caller {
            wire: Wire::Tcp,
            connection,
            token: TokenKind::Instance,
            client: None,
            conversation: None,
            scopes: Scopes::all(),
            panes: None,
            capabilities: Capabilities::at_login(TokenKind::Instance, false),
            opener: None,
            process: None,
            approved: None,
            subscription: Default::default(),
            signals: Default::default(),
        }
    }

    #[test]
    fn of_a_pane_that_is_gone_nothing_stays() {
        let mux = Mux::new(MuxOptions::default());
        let leases = Leases::new(&mux);
        let cat = Spawn { program: Some("cat".to_owned()), ..Spawn::default() };
        let pane = mux.open_hidden(cat, Size::cells(20, 5)).unwrap();
        leases.take(&caller(1), &pane, USUAL).unwrap();
        pane.touch();
        assert_eq!(leases.admit(&caller(1), &pane), Err(LeaseRefusal::TakenOver));
        leases.take(&caller(2), &pane, USUAL).unwrap();
        let count = || {
            let held = leases.0.lock();
            (held.leases.len(), held.lost.len())
        };
        assert_eq!(count(), (1, 1));
        mux.close_pane(pane.id()).unwrap();
        assert_eq!(count(), (0, 0));
        // A caller may still have the pane's `Arc` when it requests a lease.
        leases.take(&caller(2), &pane, USUAL).unwrap();
        assert_eq!(count(), (0, 0));
        mux.shutdown();
    }
}
