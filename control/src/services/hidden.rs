//! Hidden panes: no tab shows them, no list has them, and their size is their own. A pane has one owner; it ends with the owner,
//! or once the owner has not used it for a while.
//!
//! Owns which hidden panes there are, whose they are, and their limits. What their programs write is kept raw by [`Bytes`].

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Mux, PaneId};

use super::bytes::Bytes;

/// Hidden panes at a time, of all owners.
pub const MOST: usize = 100;
/// How long a pane that its owner does not use is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The hidden panes.
#[derive(Clone)]
pub struct HiddenPanes(Arc<Inner>);

struct Inner {
    mux: Arc<Mux>,
    bytes: Arc<Bytes>,
    idle: Duration,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    panes: Vec<Hidden>,
    /// Panes that are being opened have their places already.
    opening: usize,
    /// The task that ends idle panes runs.
    is_watched: bool,
}

struct Hidden {
    pane: PaneId,
    /// The number of the owner's connection.
    owner: u64,
    used: Instant,
}

impl HiddenPanes {
    /// None yet, of the panes of a mux.
    pub fn new(mux: Arc<Mux>, bytes: Arc<Bytes>) -> Self {
        Self::idle_for(mux, bytes, IDLE)
    }

    fn idle_for(mux: Arc<Mux>, bytes: Arc<Bytes>, idle: Duration) -> Self {
        Self(Arc::new(Inner { mux, bytes, idle, held: Mutex::default() }))
    }

    /// A place for a pane that is about to be opened; `None`: there are [`MOST`].
    pub fn reserve(&self) -> Option<Place> {
        let mut held = self.0.held.lock();
        if held.panes.len() + held.opening >= MOST {
            return None;
        }
        held.opening += 1;
        Some(Place(self.clone()))
    }

    /// Notes that its owner uses a pane; false: the pane was ended.
    pub fn note_use(&self, pane: PaneId) -> bool {
        let mut held = self.0.held.lock();
        let Some(hidden) = held.panes.iter_mut().find(|hidden| hidden.pane == pane) else {
            return false;
        };
        hidden.used = Instant::now();
        true
    }

    /// Whether a pane is held, that is, was not ended.
    pub fn has(&self, pane: PaneId) -> bool {
        self.0.held.lock().panes.iter().any(|hidden| hidden.pane == pane)
    }

    /// Puts a pane in the place of another; false: that was ended.
    pub fn replace(&self, old: PaneId, new: PaneId) -> bool {
        let mut held = self.0.held.lock();
        let found = held.panes.iter_mut().find(|hidden| hidden.pane == old);
        found.is_some_and(|hidden| {
            hidden.pane = new;
            true
        })
    }

    /// Lets go of a pane, which its owner closes; false: it was ended.
    pub fn remove(&self, pane: PaneId) -> bool {
        !self.take(|hidden| hidden.pane == pane).is_empty()
    }

    /// Ends all panes of an owner.
    pub async fn release(&self, owner: u64) {
        let panes = self.take(|hidden| hidden.owner == owner);
        self.end(panes).await;
    }

    fn take(&self, is_it: impl Fn(&Hidden) -> bool) -> Vec<PaneId> {
        let mut held = self.0.held.lock();
        held.panes.extract_if(.., |hidden| is_it(hidden)).map(|hidden| hidden.pane).collect()
    }

    async fn end(&self, panes: Vec<PaneId>) {
        for pane in panes {
            self.0.bytes.forget(pane);
            let mux = self.0.mux.clone();
            let closed = tokio::task::spawn_blocking(move || mux.close_pane(pane)).await;
            tracing::debug!(?pane, ?closed, "a hidden pane ended");
        }
    }

    /// Ends panes that nobody uses, as long as there are panes.
    async fn end_idle(self) {
        loop {
            let due = {
                let mut held = self.0.held.lock();
                let Some(first) = held.panes.iter().map(|hidden| hidden.used).min() else {
                    held.is_watched = false;
                    return;
                };
                first + self.0.idle
            };
            tokio::time::sleep_until(due.into()).await;
            let idle = self.take(|hidden| hidden.used.elapsed() >= self.0.idle);
            self.end(idle).await;
        }
    }
}

/// The place of a pane that is being opened; given back when it is dropped.
pub struct Place(HiddenPanes);

impl Place {
    /// From now on the pane is its owner's. Needs a runtime.
    pub fn fill(self, owner: u64, pane: PaneId) {
        let mut held = self.0.0.held.lock();
        held.panes.push(Hidden { pane, owner, used: Instant::now() });
        if !held.is_watched {
            held.is_watched = true;
            tokio::spawn(self.0.clone().end_idle());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.0.held.lock().opening -= 1;
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::{MuxOptions, Spawn};
    use unterm_term::Size;

    use super::*;

    fn panes(idle: Duration) -> (Arc<Mux>, HiddenPanes) {
        let mux = Mux::new(MuxOptions::default());
        (mux.clone(), HiddenPanes::idle_for(mux, Arc::default(), idle))
    }

    fn open(mux: &Mux) -> PaneId {
        let cat = Spawn { program: Some("cat".to_owned()), ..Spawn::default() };
        mux.open_hidden(cat, Size::cells(20, 5)).unwrap().id()
    }

    #[tokio::test]
    async fn panes_end_with_their_owner_and_no_other() {
        let (mux, hidden) = panes(IDLE);
        let [mine, another, theirs] = [1, 1, 2].map(|owner| {
            let pane = open(&mux);
            hidden.reserve().unwrap().fill(owner, pane);
            pane
        });
        let restarted = open(&mux);
        assert!(hidden.replace(another, restarted) && !hidden.replace(another, mine));
        hidden.release(1).await;
        let there = |pane| mux.pane(pane).is_some();
        assert_eq!([mine, restarted, theirs].map(there), [false, false, true]);
        // Whoever let it go closes it.
        assert!(there(another) && !hidden.has(another));
        assert!(hidden.remove(theirs) && !hidden.note_use(theirs) && there(theirs));
        mux.shutdown();
    }

    #[tokio::test]
    async fn a_pane_that_is_not_used_ends() {
        let (mux, hidden) = panes(Duration::ZERO);
        let pane = open(&mux);
        hidden.reserve().unwrap().fill(1, pane);
        while mux.pane(pane).is_some() {
            tokio::task::yield_now().await;
        }
        assert!(!hidden.has(pane));
        mux.shutdown();
    }

    #[test]
    fn places_are_bounded_and_given_back() {
        let (_mux, hidden) = panes(IDLE);
        let places: Vec<_> = (0..MOST).map(|_| hidden.reserve().unwrap()).collect();
        assert!(hidden.reserve().is_none());
        drop(places);
        assert!(hidden.reserve().is_some());
    }
}
