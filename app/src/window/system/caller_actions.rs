//! The actions that callers of the control server run: the reasons to refuse one, and the input that one would type.
//!
//! Input rules and leases apply to callers, but not to the user.

use unterm_control::{Bounds, Typing};
use unterm_mux::{Mux, PaneId, Tab};

use crate::action::Action;
use crate::window::{
    system::folder::choose::typed_change,
    workspace::{blocks::actions::rerun_input, panes::Broadcast, view::Views},
};

/// The reason to refuse an action that a user may perform, but this caller may not: input rules exist and can't
/// check a paste, or another client has leased a pane.
pub(crate) fn refusal(
    action: &Action,
    bounds: &Bounds,
    broadcast: &Broadcast,
    mux: &Mux,
) -> Option<String> {
    let layout = mux.layout();
    let tab = layout.active_tab()?;
    let touched: Vec<PaneId> = match action {
        Action::Paste | Action::PastePrimary if bounds.rules => {
            let why = "there are rules on what may be entered; session.paste keeps to them";
            return Some(why.to_owned());
        }
        Action::Paste | Action::PastePrimary => {
            let listeners = broadcast.listeners(tab.focused, mux).into_iter().map(|pane| pane.id());
            listeners.chain([tab.focused]).collect()
        }
        Action::ClosePane | Action::PaneToNewWindow | Action::PaneToWindow(_) => {
            vec![tab.focused]
        }
        Action::CloseTab | Action::TabToNewWindow | Action::TabToWindow(_) => tab.panes(),
        Action::CloseWindow | Action::Detach | Action::Restart => {
            layout.tabs.iter().flat_map(Tab::panes).collect()
        }
        _ => return None,
    };
    let leased = touched.iter().find(|pane| bounds.leased.contains(*pane))?;
    Some(format!("session {} is leased by somebody else", leased.0))
}

/// The input that an action would type; `None` if the action types nothing.
pub(crate) fn typed_by(
    action: &Action,
    broadcast: &Broadcast,
    views: &Views,
    mux: &Mux,
) -> Option<Result<Vec<Typing>, String>> {
    let no_pane = || Err("there is no session to type into".to_owned());
    let focused = mux.layout().active_tab().map(|tab| tab.focused);
    let Some(pane) = focused.and_then(|id| mux.pane(id)) else {
        let types = matches!(
            action,
            Action::SendText(_) | Action::RerunCommand | Action::ChangeDirectoryTo(_)
        );
        return types.then(no_pane);
    };
    let typing = |bytes| vec![Typing { pane: pane.id(), bytes }];
    match action {
        Action::SendText(text) => {
            let panes = broadcast.listeners(pane.id(), mux).into_iter().chain([pane.clone()]);
            let bytes = text.as_bytes().to_vec();
            let typed = panes.map(|pane| Typing { pane: pane.id(), bytes: bytes.clone() });
            Some(Ok(typed.collect()))
        }
        Action::RerunCommand => {
            let none = "no command can be run again here now";
            Some(rerun_input(&pane, views).map(typing).ok_or_else(|| none.to_owned()))
        }
        Action::ChangeDirectoryTo(path) => {
            let line = typed_change(&pane, path.as_ref());
            Some(line.map(|line| typing(line.into_bytes())))
        }
        _ => None,
    }
}
