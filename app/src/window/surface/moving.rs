//! Moves panes and tabs to other windows, and all tabs of other windows to this one. Their programs keep running.

use unterm_control::{
    Mover, Server,
    client::{Client, Endpoint},
    methods::{
        moving::{MoveToWindow, MoveToWindowParams},
        params::NoParams,
        session,
    },
};
use unterm_mux::{PaneId, Tab, TabId};

use crate::{
    action::Action,
    window::{
        cx::Cx,
        errand::ErrandResult,
        overlays::{Overlays, choice::Choice, panel::item::Item},
        surface::x_server,
    },
};

/// The topic of messages about windows.
const ABOUT: &str = "window";

/// Moves a tab to a new window. Returns false if it is the only tab of this window.
pub(crate) fn tab_to_new_window(tab: &Tab, cx: &mut Cx<'_>) -> bool {
    if cx.mux.layout().tabs.len() < 2 {
        return false;
    }
    move_panes(tab.panes(), None, cx);
    true
}

/// Moves a tab to the window of another instance. Without a name, lists the windows.
pub(crate) fn tab_to_window(
    tab: &Tab,
    name: Option<String>,
    overlays: &mut Overlays,
    cx: &mut Cx<'_>,
) {
    match name {
        Some(name) => move_panes(tab.panes(), Some(name), cx),
        None => {
            let hint = "Move the tab to a window";
            let to_instance = |name| Action::TabToWindow(Some(name));
            pick_window(hint, Action::TabToNewWindow, to_instance, overlays, cx);
        }
    }
}

/// Moves the focused pane of a tab to a new window. Returns false if it is the only pane of this window.
pub(crate) fn pane_to_new_window(tab: &Tab, cx: &mut Cx<'_>) -> bool {
    if cx.mux.layout().tabs.len() < 2 && tab.panes().len() < 2 {
        return false;
    }
    move_panes(vec![tab.focused], None, cx);
    true
}

/// Moves the focused pane of a tab to the window of another instance. Without a name, lists the windows.
pub(crate) fn pane_to_window(
    tab: &Tab,
    name: Option<String>,
    overlays: &mut Overlays,
    cx: &mut Cx<'_>,
) {
    match name {
        Some(name) => move_panes(vec![tab.focused], Some(name), cx),
        None => {
            let hint = "Move the pane to a window";
            let to_instance = |name| Action::PaneToWindow(Some(name));
            pick_window(hint, Action::PaneToNewWindow, to_instance, overlays, cx);
        }
    }
}

/// Moves all tabs of other instances to this window.
pub(crate) fn gather_tabs(cx: &mut Cx<'_>) {
    let Some(mover) = mover(cx) else { return };
    let own = cx.server.map(Server::instance_id).unwrap_or_default();
    cx.errand(ABOUT, move || match gather(&mover, &own) {
        Ok(0) => ErrandResult::Said(ABOUT, "No other window has tabs.".to_owned()),
        Ok(_) => ErrandResult::Nothing,
        Err(why) => ErrandResult::Failed(ABOUT, why),
    });
}

/// Moves a tab that was dropped outside the bar: to the window of another instance, if the pointer is there, or else to a
/// new window. Does nothing if it is the only tab of this window, and the pointer is over no other. `is_on_x`: whether the
/// window is on an X server.
pub(crate) fn tear_off(tab: TabId, is_on_x: bool, cx: &mut Cx<'_>) {
    let layout = cx.mux.layout();
    let Some(tab) = layout.tabs.iter().find(|one| one.id == tab) else { return };
    let (panes, is_only) = (tab.panes(), layout.tabs.len() < 2);
    let Some(mover) = mover(cx) else { return };
    cx.errand(ABOUT, move || {
        let process = if is_on_x { x_server::process_under_pointer() } else { None };
        let others = mover.others().unwrap_or_default();
        let to = others.into_iter().find(|record| Some(record.pid) == process);
        match to {
            None if is_only => ErrandResult::Nothing,
            to => moved(&mover, &panes, to.map(|record| record.id).as_deref()),
        }
    });
}

/// Lists the other windows, and a new window. The action `to_new` moves something to a new window, and `to_instance` to
/// the window of that name.
fn pick_window(
    hint: &str,
    to_new: Action,
    to_instance: impl Fn(String) -> Action,
    overlays: &mut Overlays,
    cx: &mut Cx<'_>,
) {
    let Some(mover) = mover(cx) else { return };
    let others = mover.others().unwrap_or_default().into_iter().map(|record| {
        let title = record.title.clone();
        Item::new(title, Choice::Act(to_instance(record.id.clone()))).noted(record.id)
    });
    let new = Item::new("New window", Choice::Act(to_new));
    overlays.pick(hint, others.chain([new]).collect(), 0, cx);
}

fn move_panes(panes: Vec<PaneId>, to: Option<String>, cx: &mut Cx<'_>) {
    let Some(mover) = mover(cx) else { return };
    cx.errand(ABOUT, move || moved(&mover, &panes, to.as_deref()));
}

/// If the control server is not running, shows a message and returns `None`.
fn mover(cx: &mut Cx<'_>) -> Option<Mover> {
    let mover = cx.server.map(Server::mover);
    if mover.is_none() {
        cx.complain(ABOUT, "The control server is not running.");
    }
    mover
}

/// Moves panes, and reports why they can't move.
fn moved(mover: &Mover, panes: &[PaneId], to: Option<&str>) -> ErrandResult {
    match mover.run(panes, to) {
        Ok(_) => ErrandResult::Nothing,
        Err(error) => ErrandResult::Failed(ABOUT, format!("Nothing was moved.\n{error}")),
    }
}

/// Makes all other instances move their tabs to the instance `own`. Returns the number of tabs.
fn gather(mover: &Mover, own: &str) -> Result<usize, String> {
    let mut count = 0;
    for record in mover.others().map_err(|error| error.to_string())? {
        let client =
            Client::connect_to(&Endpoint::from(record)).map_err(|error| error.to_string())?;
        // A tab that comes to the instance meanwhile stays there. Otherwise, two windows that gather at the same time could
        // exchange their tabs without end.
        let Ok(list) = client.call::<session::List>(NoParams {}) else { continue };
        let mut rest: Vec<u64> = list.sessions.iter().map(|session| session.id).collect();
        while let Some(first) = rest.first() {
            let params = MoveToWindowParams {
                to: own.into(),
                tab: true.into(),
                ..MoveToWindowParams::of(*first)
            };
            let reply = client.call::<MoveToWindow>(params).map_err(|error| error.to_string())?;
            rest.retain(|id| !reply.moved.contains(id));
            count += 1;
        }
    }
    Ok(count)
}
