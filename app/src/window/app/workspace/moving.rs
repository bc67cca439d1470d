//! Moves panes and tabs to other windows, and all tabs of other windows to this one. Their programs keep running.

use unterm_control::{
    Mover,
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
        app::App,
        overlays::{choice::Choice, panel::item::Item},
        surface::x_server,
        system::errand::ErrandResult,
    },
};

/// The topic of messages about windows.
const ABOUT: &str = "window";

impl App {
    /// Moves a tab to a new window. Returns false if it is the only tab of this window.
    pub(crate) fn tab_to_new_window(&mut self, tab: &Tab) -> bool {
        if self.mux.layout().tabs.len() < 2 {
            return false;
        }
        self.move_panes(tab.panes(), None);
        true
    }

    /// Moves a tab to the window of another instance. Without a name, lists the windows.
    pub(crate) fn tab_to_window(&mut self, tab: &Tab, name: Option<String>) {
        match name {
            Some(name) => self.move_panes(tab.panes(), Some(name)),
            None => self.pick_window("Move the tab to a window", &Action::TabToNewWindow, |name| {
                Action::TabToWindow(Some(name))
            }),
        }
    }

    /// Moves the focused pane of a tab to a new window. Returns false if it is the only pane of this window.
    pub(crate) fn pane_to_new_window(&mut self, tab: &Tab) -> bool {
        if self.mux.layout().tabs.len() < 2 && tab.panes().len() < 2 {
            return false;
        }
        self.move_panes(vec![tab.focused], None);
        true
    }

    /// Moves the focused pane of a tab to the window of another instance. Without a name, lists the windows.
    pub(crate) fn pane_to_window(&mut self, tab: &Tab, name: Option<String>) {
        match name {
            Some(name) => self.move_panes(vec![tab.focused], Some(name)),
            None => {
                self.pick_window("Move the pane to a window", &Action::PaneToNewWindow, |name| {
                    Action::PaneToWindow(Some(name))
                });
            }
        }
    }

    /// Moves all tabs of other instances to this window.
    pub(crate) fn gather_tabs(&mut self) {
        let Some(mover) = self.mover() else { return };
        let own =
            self.server.as_ref().map_or_else(String::new, unterm_control::Server::instance_id);
        self.errand(ABOUT, move || match gather(&mover, &own) {
            Ok(0) => ErrandResult::Said(ABOUT, "No other window has tabs.".to_owned()),
            Ok(_) => ErrandResult::Nothing,
            Err(why) => ErrandResult::Failed(ABOUT, why),
        });
    }

    /// Moves a tab that was dropped outside the bar: to the window of another instance, if the pointer is there, or else to
    /// a new window. Does nothing if it is the only tab of this window, and the pointer is over no other.
    pub(crate) fn tear_off(&mut self, tab: TabId) {
        let layout = self.mux.layout();
        let Some(tab) = layout.tabs.iter().find(|one| one.id == tab) else { return };
        let (panes, is_only) = (tab.panes(), layout.tabs.len() < 2);
        let Some(mover) = self.mover() else { return };
        let screen = self.surface.screen.as_ref();
        let is_on_x = screen.is_some_and(|screen| x_server::id(&screen.window).is_some());
        self.errand(ABOUT, move || {
            let process = if is_on_x { x_server::process_under_pointer() } else { None };
            let others = mover.others().unwrap_or_default();
            let to = others.into_iter().find(|record| Some(record.pid) == process);
            match to {
                None if is_only => ErrandResult::Nothing,
                to => moved(&mover, &panes, to.map(|record| record.id).as_deref()),
            }
        });
    }

    /// Lists the other windows, and a new window. Running `to_new` or `to_instance` of a name moves something there.
    fn pick_window(&mut self, hint: &str, to_new: &Action, to_instance: impl Fn(String) -> Action) {
        let Some(mover) = self.mover() else { return };
        let others = mover.others().unwrap_or_default().into_iter().map(|record| {
            let title = record.title.clone();
            Item::new(title, Choice::Act(to_instance(record.id.clone()))).noted(record.id)
        });
        let new = Item::new("New window", Choice::Act(to_new.clone()));
        let items = others.chain([new]).collect();
        self.pick(hint, items, 0);
    }

    fn move_panes(&mut self, panes: Vec<PaneId>, to: Option<String>) {
        let Some(mover) = self.mover() else { return };
        self.errand(ABOUT, move || moved(&mover, &panes, to.as_deref()));
    }

    /// `None`, after a message, if the control server is not running.
    fn mover(&mut self) -> Option<Mover> {
        let mover = self.server.as_ref().map(unterm_control::Server::mover);
        if mover.is_none() {
            self.complain(ABOUT, "The control server is not running.".to_owned());
        }
        mover
    }
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
        // Each call moves a tab. An instance ends with its last one.
        loop {
            let list = client.call::<session::List>(NoParams {});
            let Some(first) = list.ok().and_then(|list| list.sessions.into_iter().next()) else {
                break;
            };
            let params = MoveToWindowParams {
                to: own.into(),
                tab: true.into(),
                ..MoveToWindowParams::of(first.id)
            };
            client.call::<MoveToWindow>(params).map_err(|error| error.to_string())?;
            count += 1;
        }
    }
    Ok(count)
}
