//! Hidden panes. No tab and no list shows them, and each has its own size. A hidden pane has one owner. It is closed
//! together with its owner, or when the owner has not used it for a while.
//!
//! Owns the list of hidden panes, their owners and their limits. [`Bytes`](super::bytes::Bytes) keeps the raw output of
//! their programs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Mux, PaneId};

use crate::{
    caller::TokenKind,
    services::limits::fair_share::{FairShare, SharePart},
};

/// The maximum number of hidden panes of the owner's token while no other token has any.
pub const MOST: usize = 100;
/// The number of hidden panes that all tokens share. If only one token has hidden panes, it may use half of this
/// number.
const OF_ALL: usize = 2 * MOST;
/// A pane that is unused for this long is closed.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The hidden panes.
#[derive(Clone)]
pub struct HiddenPanes(Arc<Inner>);

struct Inner {
    mux: Arc<Mux>,
    idle: Duration,
    held: Mutex<HeldPanes>,
    places: Arc<FairShare>,
}

#[derive(Default)]
struct HeldPanes {
    panes: Vec<Hidden>,
    /// Whether the task that closes idle panes is running.
    is_watched: bool,
}

struct Hidden {
    pane: PaneId,
    /// The number of the owner's connection.
    owner: u64,
    used: Instant,
    _part: SharePart,
}

impl HiddenPanes {
    /// Creates an empty set of hidden panes for a mux.
    pub fn new(mux: Arc<Mux>) -> Self {
        Self::idle_for(mux, IDLE)
    }

    fn idle_for(mux: Arc<Mux>, idle: Duration) -> Self {
        Self(Arc::new(Inner { mux, idle, held: Mutex::default(), places: FairShare::new(OF_ALL) }))
    }

    /// Reserves a slot for a pane that a token's caller will open. `None` if the token has used up its share.
    pub fn reserve(&self, token: TokenKind) -> Option<ReservedPlace> {
        let mut part = self.0.places.part(token);
        part.resize(1).ok()?;
        Some(ReservedPlace { panes: self.clone(), part })
    }

    /// Records that a pane's owner uses the pane. Returns false if the pane was closed.
    pub fn note_use(&self, pane: PaneId) -> bool {
        let mut held = self.0.held.lock();
        let Some(hidden) = held.panes.iter_mut().find(|hidden| hidden.pane == pane) else {
            return false;
        };
        hidden.used = Instant::now();
        true
    }

    /// Whether a pane is in the set. A closed pane is not in the set.
    pub fn has(&self, pane: PaneId) -> bool {
        self.0.held.lock().panes.iter().any(|hidden| hidden.pane == pane)
    }

    /// Replaces a pane with another. Returns false if the old pane was closed.
    pub fn replace(&self, old: PaneId, new: PaneId) -> bool {
        let mut held = self.0.held.lock();
        let found = held.panes.iter_mut().find(|hidden| hidden.pane == old);
        found.is_some_and(|hidden| {
            hidden.pane = new;
            true
        })
    }

    /// Removes a pane that its owner closes. Returns false if it was already closed.
    pub fn remove(&self, pane: PaneId) -> bool {
        !self.take(|hidden| hidden.pane == pane).is_empty()
    }

    /// Closes all panes of an owner.
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
            let mux = self.0.mux.clone();
            let closed = tokio::task::spawn_blocking(move || mux.close_pane(pane)).await;
            tracing::debug!(?pane, ?closed, "a hidden pane ended");
        }
    }

    /// Closes panes that have been idle too long. The task runs as long as there are panes.
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

/// A reserved slot for a pane. Dropping it frees the slot.
pub struct ReservedPlace {
    panes: HiddenPanes,
    part: SharePart,
}

impl ReservedPlace {
    /// Fills the slot with a pane of this owner. Needs a tokio runtime.
    pub fn fill(self, owner: u64, pane: PaneId) {
        let Self { panes, part } = self;
        let mut held = panes.0.held.lock();
        held.panes.push(Hidden { pane, owner, used: Instant::now(), _part: part });
        if !held.is_watched {
            held.is_watched = true;
            tokio::spawn(panes.clone().end_idle());
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::{MuxOptions, Spawn};
    use unterm_term::Size;

    use super::*;

    const OWN: TokenKind = TokenKind::Instance;

    fn panes(idle: Duration) -> (Arc<Mux>, HiddenPanes) {
        let mux = Mux::new(MuxOptions::default());
        (mux.clone(), HiddenPanes::idle_for(mux, idle))
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
            hidden.reserve(OWN).unwrap().fill(owner, pane);
            pane
        });
        let restarted = open(&mux);
        assert!(hidden.replace(another, restarted) && !hidden.replace(another, mine));
        hidden.release(1).await;
        let there = |pane| mux.pane(pane).is_some();
        assert_eq!([mine, restarted, theirs].map(there), [false, false, true]);
        // The caller that removed the pane from the set must close it.
        assert!(there(another) && !hidden.has(another));
        assert!(hidden.remove(theirs) && !hidden.note_use(theirs) && there(theirs));
        mux.shutdown();
    }

    #[tokio::test]
    async fn a_pane_that_is_not_used_ends() {
        let (mux, hidden) = panes(Duration::ZERO);
        let pane = open(&mux);
        hidden.reserve(OWN).unwrap().fill(1, pane);
        while mux.pane(pane).is_some() {
            tokio::task::yield_now().await;
        }
        assert!(!hidden.has(pane));
        mux.shutdown();
    }

    #[test]
    fn places_are_bounded_and_given_back() {
        let (_mux, hidden) = panes(IDLE);
        let fill = |token| std::iter::from_fn(|| hidden.reserve(token)).collect::<Vec<_>>();
        let places = fill(OWN);
        assert_eq!(places.len(), MOST);
        assert!(!fill(TokenKind::Agent(1)).is_empty(), "another token has a share");
        drop(places);
        assert!(hidden.reserve(OWN).is_some());
    }
}
