//! Sends the content of the window to screen readers, and carries out their requests.

use std::sync::atomic::Ordering;

use unterm_mux::{Layout, PaneId, Rect, TabId};

use crate::window::{
    app::App,
    system::access::{
        Open,
        tree::{SentTree, Target, target},
    },
};

impl App {
    /// Sends the current content of the window to connected readers.
    pub(crate) fn update_readers(&mut self, layout: &Layout, placed: &[(PaneId, Rect)]) {
        let Some(mut open) = self.system.access.0.take() else { return };
        let Open { adapter, is_new, sent, .. } = &mut open;
        // AccessKit reports all text between the first and the last changed letter as new. After a scroll, that would
        // be the whole screen. Therefore a first update removes the lines that scrolled away, and a second update adds
        // only new lines.
        let mut now = None;
        adapter.update_if_active(|| {
            if is_new.swap(false, Ordering::Relaxed) {
                *sent = SentTree::default();
            }
            let (tree, knows) = self.tree(layout, placed, sent);
            match sent.without_what_left(&tree, &knows) {
                Some(less) => {
                    now = Some((tree, knows));
                    less
                }
                None => {
                    *sent = knows;
                    tree
                }
            }
        });
        if let Some((tree, knows)) = now {
            adapter.update_if_active(|| {
                is_new.store(false, Ordering::Relaxed);
                *sent = knows;
                tree
            });
        }
        self.system.access.0 = Some(open);
    }

    /// Carries out a reader's request on the tab or pane of a node.
    pub(crate) fn reader_asks(&mut self, node: u64) {
        match target(node) {
            Some(Target::Tab(id)) => self.report(self.mux.activate_tab(TabId(id))),
            Some(Target::Pane(id)) => self.report(self.mux.focus(PaneId(id))),
            None => {}
        }
    }
}
