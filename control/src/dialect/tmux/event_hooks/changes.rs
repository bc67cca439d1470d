//! The events between two states of the sessions.

use std::collections::{BTreeMap, BTreeSet};

use crate::dialect::tmux::{state::State, world::World};

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Happened {
    /// The name of the hook.
    pub name: &'static str,
    /// The session and its name.
    pub session: Option<(u64, String)>,
    /// The window and its name.
    pub window: Option<(u64, String)>,
    /// The pane.
    pub pane: Option<u64>,
    /// The name of the client.
    pub client: Option<String>,
}

/// The sessions at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    sessions: BTreeMap<u64, SeenSession>,
    windows: BTreeMap<u64, SeenWindow>,
    panes: BTreeMap<u64, SeenPane>,
    clients: BTreeMap<u64, SeenClient>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SeenSession {
    name: String,
    current: u64,
    windows: BTreeSet<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SeenWindow {
    name: String,
    area: (u32, u32),
    layout: String,
    active: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SeenPane {
    window: u64,
    title: String,
    is_dead: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SeenClient {
    name: String,
    session: Option<u64>,
    size: (u16, u16),
}

impl Snapshot {
    /// The sessions and clients of a server.
    pub fn of(world: &World, state: &State, server: &str) -> Self {
        let mut seen = Self::default();
        for session in &world.sessions {
            let windows = session.windows.iter().map(|window| window.id).collect();
            let current = session.windows[session.current].id;
            let name = session.name.clone();
            seen.sessions.insert(session.id, SeenSession { name, current, windows });
            for window in &session.windows {
                for placed in &window.panes {
                    let pane = &world.listing.panes[placed.row];
                    // A dead pane that closes when its program ends is removed at once, so it does not count as dead.
                    let (title, is_dead) = (pane.title.clone(), pane.is_dead && !pane.closes);
                    seen.panes.insert(pane.id, SeenPane { window: window.id, title, is_dead });
                }
                let (name, layout) = (window.name.clone(), window.layout(true));
                let (area, active) = (window.area, window.active);
                seen.windows.insert(window.id, SeenWindow { name, area, layout, active });
            }
        }
        for client in state.clients.attached(server) {
            let (name, session, size) = (client.name.clone(), client.session, client.size);
            seen.clients.insert(client.id, SeenClient { name, session, size });
        }
        seen
    }

    /// The window of a pane, with its name, and the first session that contains it.
    pub fn place_of(&self, pane: u64, happened: &mut Happened) {
        let Some(seen) = self.panes.get(&pane) else { return };
        happened.pane = Some(pane);
        self.in_window(seen.window, happened);
    }

    fn in_window(&self, window: u64, happened: &mut Happened) {
        let name = self.windows.get(&window).map(|it| it.name.clone()).unwrap_or_default();
        happened.window = Some((window, name));
        let session = self.sessions.iter().find(|(_, it)| it.windows.contains(&window));
        happened.session = session.map(|(id, it)| (*id, it.name.clone()));
    }

    /// The events that lead from `before` to this state.
    pub fn since(&self, before: &Self) -> Vec<Happened> {
        let mut all = Vec::new();
        self.session_events(before, &mut all);
        self.window_events(before, &mut all);
        self.pane_events(before, &mut all);
        self.client_events(before, &mut all);
        all
    }

    fn session_events(&self, before: &Self, all: &mut Vec<Happened>) {
        let none = SeenSession::default();
        let ids: BTreeSet<u64> =
            self.sessions.keys().chain(before.sessions.keys()).copied().collect();
        for id in ids {
            let (new, old) = (self.sessions.get(&id), before.sessions.get(&id));
            let of = |session: &SeenSession| Some((id, session.name.clone()));
            let mut happen = |name, session: &SeenSession, window: Option<(u64, String)>| {
                all.push(Happened { name, session: of(session), window, ..Happened::default() });
            };
            let named = |of: &Self, window: u64| {
                let name = of.windows.get(&window).map(|it| it.name.clone());
                Some((window, name.unwrap_or_default()))
            };
            let (now, then) = (new.unwrap_or(&none), old.unwrap_or(&none));
            let shown = new.or(old).unwrap_or(&none);
            if old.is_none() {
                happen("session-created", shown, None);
            }
            for window in now.windows.difference(&then.windows) {
                happen("window-linked", shown, named(self, *window));
            }
            for window in then.windows.difference(&now.windows) {
                happen("window-unlinked", shown, named(before, *window));
            }
            if new.is_none() {
                happen("session-closed", shown, None);
            }
            if let (Some(new), Some(old)) = (new, old) {
                if new.name != old.name {
                    happen("session-renamed", new, None);
                }
                if new.current != old.current {
                    happen("session-window-changed", new, named(self, new.current));
                }
            }
        }
    }

    fn window_events(&self, before: &Self, all: &mut Vec<Happened>) {
        for (id, new) in &self.windows {
            let Some(old) = before.windows.get(id) else { continue };
            let changes = [
                ("window-renamed", new.name != old.name),
                ("window-pane-changed", new.active != old.active),
                ("window-resized", new.area != old.area),
                ("window-layout-changed", new.layout != old.layout),
            ];
            for (name, _) in changes.into_iter().filter(|(_, is_changed)| *is_changed) {
                let mut happened = Happened { name, ..Happened::default() };
                self.in_window(*id, &mut happened);
                happened.pane = (name == "window-pane-changed").then_some(new.active);
                all.push(happened);
            }
        }
    }

    fn pane_events(&self, before: &Self, all: &mut Vec<Happened>) {
        for (id, old) in &before.panes {
            let (name, place) = match self.panes.get(id) {
                None if !old.is_dead => ("pane-exited", before),
                Some(new) if new.is_dead && !old.is_dead => ("pane-died", self),
                Some(new) if new.title != old.title => ("pane-title-changed", self),
                _ => continue,
            };
            let mut happened = Happened { name, ..Happened::default() };
            place.place_of(*id, &mut happened);
            all.push(happened);
        }
    }

    fn client_events(&self, before: &Self, all: &mut Vec<Happened>) {
        let mut happen = |name, client: &SeenClient, of: &Self| {
            let session = client.session.and_then(|id| Some((id, of.sessions.get(&id)?)));
            let session = session.map(|(id, session)| (id, session.name.clone()));
            let client = Some(client.name.clone());
            all.push(Happened { name, session, client, ..Happened::default() });
        };
        for (id, new) in &self.clients {
            let Some(old) = before.clients.get(id) else {
                happen("client-attached", new, self);
                continue;
            };
            if old.session != new.session {
                happen("client-session-changed", new, self);
            }
            if old.size != new.size {
                happen("client-resized", new, self);
            }
        }
        let gone = before.clients.iter().filter(|(id, _)| !self.clients.contains_key(id));
        gone.for_each(|(_, old)| happen("client-detached", old, before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        let window = |name: &str, active| SeenWindow {
            name: name.to_owned(),
            area: (80, 24),
            layout: "a".to_owned(),
            active,
        };
        let session = |name: &str, windows: &[u64]| SeenSession {
            name: name.to_owned(),
            current: windows[0],
            windows: windows.iter().copied().collect(),
        };
        let pane = |window| SeenPane { window, ..SeenPane::default() };
        Snapshot {
            sessions: [(0, session("main", &[1, 2])), (3, session("other", &[4]))].into(),
            windows: [(1, window("a", 10)), (2, window("b", 11)), (4, window("c", 12))].into(),
            panes: [(10, pane(1)), (11, pane(2)), (12, pane(4)), (13, pane(1))].into(),
            clients: BTreeMap::new(),
        }
    }

    /// The events of a change: name, session, window, pane.
    fn events(change: impl FnOnce(&mut Snapshot)) -> Vec<String> {
        let mut now = snapshot();
        change(&mut now);
        let all = now.since(&snapshot()).into_iter().map(|it| {
            let name = |of: Option<(u64, String)>| of.map_or("-".to_owned(), |(_, name)| name);
            let pane = it.pane.map_or("-".to_owned(), |pane| pane.to_string());
            format!("{} {} {} {pane}", it.name, name(it.session), name(it.window))
        });
        all.collect()
    }

    #[test]
    fn sessions_and_their_windows_change() {
        assert!(events(|_| ()).is_empty());
        assert_eq!(
            events(|now| {
                let session = now.sessions.get_mut(&0).unwrap();
                session.name = "new".to_owned();
                session.current = 2;
                session.windows.insert(4);
            }),
            ["window-linked new c -", "session-renamed new - -", "session-window-changed new b -"]
        );
        assert_eq!(
            events(|now| {
                now.sessions.remove(&3);
                now.windows.remove(&4);
                now.panes.remove(&12);
            }),
            ["window-unlinked other c -", "session-closed other - -", "pane-exited other c 12"]
        );
    }

    #[test]
    fn windows_panes_and_clients_change() {
        assert_eq!(
            events(|now| {
                let window = now.windows.get_mut(&1).unwrap();
                (window.name, window.active) = ("z".to_owned(), 13);
                now.windows.get_mut(&2).unwrap().layout = "b".to_owned();
                now.panes.get_mut(&11).unwrap().is_dead = true;
                now.panes.get_mut(&13).unwrap().title = "t".to_owned();
            }),
            [
                "window-renamed main z -",
                "window-pane-changed main z 13",
                "window-layout-changed main b -",
                "pane-died main b 11",
                "pane-title-changed main z 13",
            ]
        );
        let client = |session| SeenClient { session: Some(session), ..SeenClient::default() };
        let names = |before: &[(u64, u64)], after: &[(u64, u64)]| {
            let with = |clients: &[(u64, u64)]| Snapshot {
                clients: clients.iter().map(|(id, session)| (*id, client(*session))).collect(),
                ..snapshot()
            };
            let all = with(after).since(&with(before)).into_iter();
            all.map(|it| format!("{} {}", it.name, it.session.unwrap().1)).collect::<Vec<_>>()
        };
        assert_eq!(names(&[], &[(1, 3)]), ["client-attached other"]);
        assert_eq!(names(&[(1, 3)], &[(1, 0)]), ["client-session-changed main"]);
        assert_eq!(names(&[(1, 3)], &[]), ["client-detached other"]);
    }
}
