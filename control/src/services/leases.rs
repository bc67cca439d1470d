//! Leases: a pane whose input one caller keeps for itself, until it gives it back, its time is over, its connection ends,
//! a person types there or the pane is gone. Without one, everybody may type; but who lost one to the person is kept out
//! until it takes another, since it believes that nobody types between.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Mux, MuxEvent, Observer, Pane, PaneId, PaneState};

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

/// Why a caller may not type in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Somebody else has it.
    Leased(String),
    /// A person has typed there since the caller took its lease.
    TakenOver,
}

#[derive(Default)]
struct Held {
    leases: HashMap<PaneId, Lease>,
    /// The connections that lost a pane to a person, and took no other lease of it.
    lost: HashSet<(PaneId, u64)>,
}

impl Held {
    /// Takes note of a lease that is over.
    fn look(&mut self, pane: &Pane) {
        let Some(lease) = self.leases.get(&pane.id()).filter(|lease| !lease.holds(pane)) else {
            return;
        };
        // Whether before or after its time was over: who had it does not know of what was typed.
        if lease.touches != pane.touches() {
            self.lost.insert((pane.id(), lease.connection));
        }
        self.leases.remove(&pane.id());
    }

    /// Who else has a pane.
    fn other(&self, caller: &Caller, pane: &Pane) -> Option<String> {
        let lease = self.leases.get(&pane.id())?;
        (lease.connection != caller.connection).then(|| lease.holder.clone())
    }

    /// A pane is gone.
    fn forget(&mut self, pane: PaneId) {
        self.leases.remove(&pane);
        self.lost.retain(|(of, _)| *of != pane);
    }
}

/// Who has which pane.
#[derive(Default)]
pub struct Leases(Mutex<Held>);

/// Hears of panes that are gone. It does not keep the leases alive: a mux keeps its observers.
struct Ear(Weak<Leases>);

impl Observer for Ear {
    fn output(&self, _: PaneId) {}

    fn event(&self, event: MuxEvent) {
        if let (MuxEvent::PaneRemoved(pane), Some(leases)) = (event, self.0.upgrade()) {
            leases.0.lock().forget(pane);
        }
    }
}

impl Leases {
    /// None yet, of the panes of a mux.
    pub fn new(mux: &Mux) -> Arc<Self> {
        let leases = Arc::<Self>::default();
        mux.observe(Arc::new(Ear(Arc::downgrade(&leases))));
        leases
    }

    /// Gives a pane to a caller, or the caller more time; an error names who has it.
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
        // One that was closed meanwhile has been forgotten, and would stay.
        if pane.state() != PaneState::Removed {
            held.leases.insert(pane.id(), lease);
        }
        Ok(holder)
    }

    /// Whether a caller has a pane.
    pub fn has(&self, caller: &Caller, pane: &Pane) -> bool {
        let mut held = self.0.lock();
        held.look(pane);
        held.leases.get(&pane.id()).is_some_and(|lease| lease.connection == caller.connection)
    }

    /// Takes a caller's lease back; false when it had none any more.
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

    /// Takes all back that a connection had; false: it had none.
    pub fn release_all(&self, connection: u64) -> bool {
        let mut held = self.0.lock();
        held.lost.retain(|(_, loser)| *loser != connection);
        let before = held.leases.len();
        held.leases.retain(|_, lease| lease.connection != connection);
        held.leases.len() < before
    }

    /// Who has a pane, and until when.
    pub fn of(&self, pane: &Pane) -> Option<Driver> {
        let held = self.0.lock();
        let lease = held.leases.get(&pane.id()).filter(|lease| lease.holds(pane))?;
        Some(Driver { client: lease.holder.clone(), until: lease.until })
    }

    /// Whether a caller may type in a pane, as far as leases go.
    pub fn admit(&self, caller: &Caller, pane: &Pane) -> Result<(), Kept> {
        let mut held = self.0.lock();
        held.look(pane);
        if held.lost.contains(&(pane.id(), caller.connection)) {
            return Err(Kept::TakenOver);
        }
        held.other(caller, pane).map_or(Ok(()), |holder| Err(Kept::Leased(holder)))
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
            approved: None,
            subscription: Default::default(),
            cancel: Default::default(),
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
        assert_eq!(leases.admit(&caller(1), &pane), Err(Kept::TakenOver));
        leases.take(&caller(2), &pane, USUAL).unwrap();
        let count = || {
            let held = leases.0.lock();
            (held.leases.len(), held.lost.len())
        };
        assert_eq!(count(), (1, 1));
        mux.close_pane(pane.id()).unwrap();
        assert_eq!(count(), (0, 0));
        // Who was about to take it knows the pane still.
        leases.take(&caller(2), &pane, USUAL).unwrap();
        assert_eq!(count(), (0, 0));
        mux.shutdown();
    }
}
