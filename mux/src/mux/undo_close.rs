//! Closes panes so that the closing can be undone for some time.
//!
//! Owns the panes that were closed this way. Their programs keep running, but these panes can no longer be found, and
//! calls in progress see them as removed. Such a pane ends after some time, with the mux, or when its program ends.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Mux, MuxEvent, State, closed::Closed};
use crate::{Axis, Pane, PaneId, Tab};

impl Mux {
    /// Closes panes of one tab like [`Mux::close_pane`], but lets their programs run until [`Mux::end_closed`]. Returns
    /// false if no tab contains any of the panes. The closing of panes of tmux can't be undone, because tmux ends their
    /// programs.
    pub fn close_undoably(&self, ids: &[PaneId]) -> bool {
        if ids.iter().any(|id| self.pane(*id).is_some_and(|pane| pane.is_in_tmux())) {
            return self.remove(ids);
        }
        let taken = {
            let mut state = self.state.lock();
            let index = ids.iter().find_map(|id| state.layout.tab_of(*id));
            let Some(index) = index else { return false };
            let tab = state.layout.tabs[index].clone();
            let area = state.areas.get(&tab.id).copied();
            let own: Vec<PaneId> =
                ids.iter().copied().filter(|id| tab.root.contains(*id)).collect();
            let taken = state.take(&own);
            let panes = taken.panes.clone();
            state.closed.push(Closed { panes, tab, index, area, at: Instant::now() });
            taken
        };
        taken.panes.iter().for_each(|pane| pane.set_aside(true));
        self.announce_removed(&taken);
        true
    }

    /// Restores the panes that were closed last, and focuses them. Returns false if no closed panes are left.
    ///
    /// A closed tab is restored unchanged. A closed pane returns to its position if its tab has not changed since,
    /// otherwise it appears beside the tab's focused pane.
    pub fn undo_close(&self) -> bool {
        let panes = {
            let mut state = self.state.lock();
            let Some(closed) = state.closed.pop().filter(|_| !state.is_closed) else {
                return false;
            };
            let Closed { panes, tab, index, area, .. } = closed;
            for pane in &panes {
                state.panes.insert(pane.id(), Arc::clone(pane));
            }
            let ids: Vec<PaneId> = panes.iter().map(|pane| pane.id()).collect();
            if let Some(area) = area {
                state.areas.insert(tab.id, area);
            }
            state.bring_back(&ids, tab, index);
            panes
        };
        for pane in &panes {
            pane.set_aside(false);
            self.observers.event(MuxEvent::PaneOpened(pane.id()));
        }
        self.observers.event(MuxEvent::Layout);
        self.divide_cells();
        true
    }

    /// Ends the programs of panes that were closed at least this long ago.
    pub fn end_closed(&self, age: Duration) {
        let ended: Vec<Closed> = {
            let mut state = self.state.lock();
            state.closed.extract_if(.., |closed| closed.at.elapsed() >= age).collect()
        };
        ended.iter().flat_map(|closed| &closed.panes).for_each(|pane| pane.close());
    }

    /// Whether [`Mux::undo_close`] would restore a pane.
    pub fn has_closed(&self) -> bool {
        !self.state.lock().closed.is_empty()
    }

    /// Forgets a closed pane whose program has ended. Returns false if the pane is not among the closed panes.
    pub(super) fn forget_closed(&self, id: PaneId) -> bool {
        let ended: Vec<Arc<Pane>> = {
            let mut state = self.state.lock();
            let panes = |closed: &mut Closed| {
                closed.panes.extract_if(.., |pane| pane.id() == id).collect::<Vec<_>>()
            };
            let ended = state.closed.iter_mut().flat_map(panes).collect();
            state.closed.retain(|closed| !closed.panes.is_empty());
            ended
        };
        ended.iter().for_each(|pane| pane.close());
        !ended.is_empty()
    }
}

impl State {
    /// Inserts closed panes into the layout again.
    fn bring_back(&mut self, ids: &[PaneId], mut old: Tab, index: usize) {
        let layout = self.layout_mut();
        let Some(now) = layout.tabs.iter().position(|tab| tab.id == old.id) else {
            // The whole tab was closed. Some of its programs may have ended meanwhile.
            let gone = old.panes().into_iter().filter(|id| !ids.contains(id));
            for gone in gone.collect::<Vec<_>>() {
                if let Some(heir) = old.root.remove(gone)
                    && old.focused == gone
                {
                    old.focused = heir;
                }
            }
            old.zoomed &= old.panes().len() > 1;
            let index = index.min(layout.tabs.len());
            layout.tabs.insert(index, old);
            layout.active = index;
            return;
        };
        let tab = &mut layout.tabs[now];
        let mut rest = old.clone();
        let others = ids.iter().all(|id| rest.root.remove(*id).is_some());
        let mut panes = (rest.panes(), tab.panes());
        panes.0.sort_unstable();
        panes.1.sort_unstable();
        if others && panes.0 == panes.1 {
            tab.root = old.root;
        } else {
            for id in ids {
                tab.root.split(tab.focused, Axis::Horizontal, *id);
            }
        }
        tab.zoomed = false;
        if let Some(id) = ids.first() {
            tab.focused = *id;
        }
        layout.active = now;
    }
}
