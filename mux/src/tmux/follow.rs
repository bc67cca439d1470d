//! Turns the user's changes of tabs into requests to tmux.

use std::collections::BTreeMap;

use unterm_tmux as tmux;

use super::{
    fit::{moved_dividers, swapped_panes},
    link::{State, TabWindow},
};
use crate::{Layout, PaneId, Tab};

impl State {
    /// Sends the differences between the tabs and the windows that tmux has described. Returns the windows whose tabs
    /// must be arranged again, because tmux can't follow.
    pub(crate) fn follow(&mut self, layout: &Layout) -> Vec<tmux::WindowId> {
        let targets: BTreeMap<PaneId, tmux::PaneId> =
            self.panes.iter().map(|(target, (pane, _))| (*pane, *target)).collect();
        let active = layout.active_tab().map(|tab| tab.id);
        let mut lost = Vec::new();
        for (&window, shown) in &mut self.windows {
            let Some(tab) = layout.tabs.iter().find(|tab| tab.id == shown.tab) else { continue };
            if active == Some(tab.id) {
                self.client.select_window(window);
            }
            follow_focus(&mut self.client, window, shown, tab, &targets);
            let title = tab.title.as_deref().unwrap_or_default();
            if title != shown.view.name.trim() {
                self.client.rename(window, title);
                title.clone_into(&mut shown.view.name);
            }
            if !follow_arrangement(&mut self.client, window, shown, tab, &targets) {
                lost.push(window);
            }
        }
        lost
    }
}

fn follow_focus(
    client: &mut tmux::Client,
    window: tmux::WindowId,
    shown: &mut TabWindow,
    tab: &Tab,
    targets: &BTreeMap<PaneId, tmux::PaneId>,
) {
    let Some(&target) = targets.get(&tab.focused) else { return };
    let view = &mut shown.view;
    if view.active != Some(target) {
        client.select_pane(window, target);
        view.active = Some(target);
        // tmux ends the zoom of another pane.
        view.is_zoomed = false;
    }
    if view.is_zoomed != tab.zoomed {
        client.toggle_zoom(window, target);
        view.is_zoomed = tab.zoomed;
    }
}

/// Returns false if the tab has another arrangement that can't be requested.
fn follow_arrangement(
    client: &mut tmux::Client,
    window: tmux::WindowId,
    shown: &mut TabWindow,
    tab: &Tab,
    targets: &BTreeMap<PaneId, tmux::PaneId>,
) -> bool {
    let Some(root) = &shown.root else { return false };
    if *root == tab.root {
        return true;
    }
    if let Some(layout) = moved_dividers(&shown.view.layout, root, &tab.root) {
        client.set_layout(window, &layout);
    } else if let Some((one, other)) = swapped_panes(root, &tab.root)
        && let (Some(one), Some(other)) = (targets.get(&one), targets.get(&other))
    {
        client.swap_panes(*one, *other);
    } else {
        return false;
    }
    shown.root = Some(tab.root.clone());
    true
}
