//! The notifications that report changes of the sessions to a client.

use std::collections::BTreeMap;

use crate::dialect::tmux::{
    formats::{self, Clock},
    state::State,
    variables::{ClientValues, Scope},
    world::World,
};

/// The notification about a window's layout.
const LAYOUT: &str =
    "%layout-change #{window_id} #{window_layout} #{window_visible_layout} #{window_raw_flags}";

/// The sessions that were last reported to a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSessions {
    /// The session that the client is attached to.
    pub attached: Option<u64>,
    sessions: Vec<KnownSession>,
    windows: Vec<KnownWindow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownSession {
    id: u64,
    name: String,
    /// The current window.
    current: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownWindow {
    id: u64,
    session: u64,
    name: String,
    /// Two layouts: of all panes, and of the visible panes only.
    layouts: (String, String),
    /// The notification about the layouts.
    line: String,
    active: u64,
}

impl KnownSessions {
    /// The sessions of a server. `attached`: the session of the client.
    pub fn of(world: &World, state: &State, client: &ClientValues, attached: Option<u64>) -> Self {
        let mut known = Self { attached, ..Self::default() };
        let clock = Clock { now: 0, offset: 0 };
        for (at, session) in world.sessions.iter().enumerate() {
            known.sessions.push(KnownSession {
                id: session.id,
                name: session.name.clone(),
                current: session.windows[session.current].id,
            });
            for (index, window) in session.windows.iter().enumerate() {
                // Several sessions can contain a window. Report it in the client's own session, if that contains it.
                let there = known.windows.iter().position(|it| it.id == window.id);
                match there {
                    Some(there) if Some(session.id) == attached => {
                        known.windows.remove(there);
                    }
                    Some(_) => continue,
                    None => {}
                }
                let target = Some(world.of_window(at, index));
                let scope = Scope { world, state, client, target, more: BTreeMap::new() };
                known.windows.push(KnownWindow {
                    id: window.id,
                    session: session.id,
                    name: window.name.clone(),
                    layouts: (window.layout(false), window.layout(true)),
                    line: formats::expand(LAYOUT, &scope, &clock),
                    active: window.active,
                });
            }
        }
        known
    }

    /// Whether the client's session exists.
    pub fn has_session(&self) -> bool {
        self.sessions.iter().any(|session| Some(session.id) == self.attached)
    }

    /// The notifications for a client to which `before` was reported, in the order of tmux.
    pub fn changes(&self, before: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.attached.is_some() {
            self.window_changes(before, &mut lines);
        }
        let ids = |of: &Self| of.sessions.iter().map(|session| session.id).collect::<Vec<_>>();
        for session in &self.sessions {
            let Some(old) = before.sessions.iter().find(|old| old.id == session.id) else {
                continue;
            };
            if old.current != session.current {
                lines.push(format!("%session-window-changed ${} @{}", session.id, session.current));
            }
            if old.name != session.name {
                lines.push(format!("%session-renamed ${} {}", session.id, session.name));
            }
        }
        if ids(self) != ids(before) {
            lines.push("%sessions-changed".to_owned());
        }
        if self.attached != before.attached
            && let Some(session) = self.sessions.iter().find(|it| Some(it.id) == self.attached)
        {
            lines.push(format!("%session-changed ${} {}", session.id, session.name));
        }
        lines
    }

    fn window_changes(&self, before: &Self, lines: &mut Vec<String>) {
        let is_own = |window: &KnownWindow| Some(window.session) == self.attached;
        let unlinked = |window: &KnownWindow| if is_own(window) { "" } else { "unlinked-" };
        let find = |of: &'_ Self, id: u64| of.windows.iter().position(|window| window.id == id);
        for window in &self.windows {
            let old = find(before, window.id).map(|at| &before.windows[at]);
            if old.is_none_or(|old| old.session != window.session) {
                lines.push(format!("%{}window-add @{}", unlinked(window), window.id));
            }
            let Some(old) = old else { continue };
            if old.name != window.name {
                let (which, id, name) = (unlinked(window), window.id, &window.name);
                lines.push(format!("%{which}window-renamed @{id} {name}"));
            }
            if old.active != window.active {
                lines.push(format!("%window-pane-changed @{} %{}", window.id, window.active));
            }
            if old.layouts != window.layouts && is_own(window) {
                lines.push(window.line.clone());
            }
        }
        for old in &before.windows {
            let new = find(self, old.id).map(|at| &self.windows[at]);
            if new.is_none_or(|new| new.session != old.session && is_own(old)) {
                lines.push(format!("%{}window-close @{}", unlinked(old), old.id));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(id: u64, session: u64, name: &str, layout: &str) -> KnownWindow {
        KnownWindow {
            id,
            session,
            name: name.to_owned(),
            layouts: (layout.to_owned(), layout.to_owned()),
            line: format!("%layout-change @{id} {layout} {layout} *"),
            active: id,
        }
    }

    fn known() -> KnownSessions {
        let session =
            |id: u64, name: &str, current| KnownSession { id, name: name.to_owned(), current };
        KnownSessions {
            attached: Some(0),
            sessions: vec![session(0, "main", 1), session(1, "other", 3)],
            windows: vec![window(1, 0, "a", "A"), window(2, 0, "b", "B"), window(3, 1, "c", "C")],
        }
    }

    fn changes(change: impl FnOnce(&mut KnownSessions)) -> Vec<String> {
        let mut now = known();
        change(&mut now);
        now.changes(&known())
    }

    #[test]
    fn windows_are_added_renamed_and_closed() {
        assert!(changes(|_| {}).is_empty());
        assert_eq!(
            changes(|now| {
                now.windows.push(window(4, 0, "d", "D"));
                now.windows.push(window(5, 1, "e", "E"));
                now.windows[2].name = "z".to_owned();
            }),
            ["%unlinked-window-renamed @3 z", "%window-add @4", "%unlinked-window-add @5"]
        );
        assert_eq!(
            changes(|now| {
                now.windows.remove(0);
                now.sessions[0].current = 2;
            }),
            ["%window-close @1", "%session-window-changed $0 @2"]
        );
        // A window that moves to another session is reported as closed.
        assert_eq!(
            changes(|now| now.windows[1].session = 1),
            ["%unlinked-window-add @2", "%window-close @2"]
        );
    }

    #[test]
    fn layouts_and_active_panes_are_reported() {
        assert_eq!(
            changes(|now| {
                now.windows[0] = window(1, 0, "a", "X");
                now.windows[0].active = 9;
                // Layouts of other sessions are not reported.
                now.windows[2] = window(3, 1, "c", "Y");
            }),
            ["%window-pane-changed @1 %9", "%layout-change @1 X X *"]
        );
    }

    #[test]
    fn sessions_are_renamed_opened_and_left() {
        assert_eq!(
            changes(|now| now.sessions[1].name = "new".to_owned()),
            ["%session-renamed $1 new"]
        );
        assert_eq!(changes(|now| now.attached = Some(1)), ["%session-changed $1 other"]);
        let gone = changes(|now| {
            now.sessions.remove(1);
            now.windows.pop();
        });
        assert_eq!(gone, ["%unlinked-window-close @3", "%sessions-changed"]);
        let mut first = known();
        first.attached = None;
        let mut opened = known();
        opened.windows.push(window(4, 2, "d", "D"));
        opened.sessions.push(KnownSession { id: 2, name: "two".to_owned(), current: 4 });
        opened.attached = Some(2);
        assert_eq!(
            opened.changes(&first),
            ["%window-add @4", "%sessions-changed", "%session-changed $2 two"]
        );
    }
}
