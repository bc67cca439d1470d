//! Notices the user's changes in the tabs of a tmux server.

use std::sync::{Arc, Weak};

use super::Mux;
use crate::{MuxEvent, Observer, PaneId, tmux::Link};

/// Calls [`Mux::follow_user`] after each change of tabs.
struct Follower(Weak<Mux>);

impl Observer for Follower {
    fn output(&self, _pane: PaneId) {}

    fn event(&self, event: MuxEvent) {
        if event == MuxEvent::Layout
            && let Some(mux) = self.0.upgrade()
        {
            mux.follow_user();
        }
    }
}

/// The observer that follows the user's changes in a mux.
pub(super) fn observer(mux: Weak<Mux>) -> Arc<dyn Observer> {
    Arc::new(Follower(mux))
}

impl Mux {
    /// Sends the user's changes of tabs to the servers.
    fn follow_user(&self) {
        let links = self.state.lock().links.clone();
        for link in links {
            let is_applying = link.with(|state| {
                state.is_dirty |= state.applying > 0;
                state.applying > 0
            });
            if !is_applying {
                self.follow_link(&link);
            }
        }
    }

    /// Sends the user's changes of tabs to one server.
    pub(super) fn follow_link(&self, link: &Arc<Link>) {
        let layout = self.layout();
        let lost = link.with(|state| state.follow(&layout));
        for window in lost {
            // The new arrangement of this tab is not the user's, so it is not followed.
            link.with(|state| state.applying += 1);
            self.arrange_window(link, window);
            link.with(|state| {
                state.applying -= 1;
                state.is_dirty &= state.applying > 0;
            });
        }
    }

    /// Requests the sizes that the windows have room for, after the space of the tabs has changed.
    pub(in crate::mux) fn follow_space(&self) {
        let links = self.state.lock().links.clone();
        let (area, spacing) = self.space_of_tabs();
        let size = spacing.grid(area);
        for link in links {
            let windows: Vec<_> = link.with(|state| {
                state.size = (size.cols, size.rows);
                state.client.set_size(size.cols, size.rows);
                state.windows.keys().copied().collect()
            });
            self.while_applying(&link, || {
                windows.into_iter().for_each(|window| self.arrange_window(&link, window));
            });
        }
    }
}
