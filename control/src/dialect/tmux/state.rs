//! The state that all clients of the dialect share: sessions, options, environment, buffers, hooks, pipes, and the
//! clients in control mode.

mod environment;
mod sessions;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

pub use self::{
    environment::{Environment, Variable},
    sessions::{LARGEST_INDEX, Session},
};
use super::{
    bindings::Bindings,
    buffers::Buffers,
    clients::Clients,
    hooks::Hooks,
    methods::Listing,
    monitors::Monitors,
    options::{Options, Owner},
    pipes::Pipes,
    runners::Runners,
};
use crate::caller::Opener;

/// The name of the server that owns all tabs that no other server owns.
pub const DEFAULT_SERVER: &str = "default";
/// The maximum number of variables of an environment.
pub const MOST: usize = 1000;
/// The maximum length of a variable's value and of its name, in bytes.
const LONGEST_VALUE: usize = 64 << 10;

/// The maximum number of messages that `show-messages` prints.
const MOST_MESSAGES: usize = 1000;
/// The maximum length of such a message, in bytes.
const LONGEST_MESSAGE: usize = 1000;

/// Whether a variable is short enough to be stored.
///
/// # Errors
/// The name or the value is too long.
pub fn check_length(name: &str, value: &str) -> Result<(), String> {
    if name.len() > LONGEST_VALUE {
        return Err("variable name is too long".to_owned());
    }
    if value.len() > LONGEST_VALUE {
        return Err(format!("value is too long: {name}"));
    }
    Ok(())
}

/// The shared state.
#[derive(Default)]
pub struct State {
    /// The sessions. The first one always exists.
    pub sessions: Vec<Session>,
    next_session: u64,
    /// The session that the window shows.
    pub seen: Option<u64>,
    /// When the first client connected, in seconds since 1970.
    pub started: i64,
    /// The options.
    pub options: Options,
    /// The global environment.
    pub env: Environment,
    /// The paste buffers.
    pub buffers: Buffers,
    /// The key bindings.
    pub bindings: Bindings,
    /// The commands of hooks.
    pub hooks: Hooks,
    /// The processes that run hooks at events.
    pub runners: Runners,
    /// The monitors.
    pub monitors: Monitors,
    /// The marked pane.
    pub marked: Option<u64>,
    /// The panes that ignore input of programs (`select-pane -d`).
    pub input_off: BTreeSet<u64>,
    /// The clients in control mode.
    pub clients: Clients,
    /// The pipes of panes.
    pub pipes: Pipes,
    /// The named layouts that were last applied to tabs.
    pub layouts: BTreeMap<u64, String>,
    /// The panes of popups, and the programs that opened them.
    pub popups: BTreeMap<u64, Opener>,
    /// The commands of clients and their errors, the newest last, with their times in seconds since 1970.
    pub messages: VecDeque<(i64, String)>,
    /// The focused pane of each tab, and the pane that was focused before.
    focused: HashMap<u64, (u64, Option<u64>)>,
}

impl State {
    /// Brings the sessions up to date with the tabs that exist.
    pub fn refresh(&mut self, listing: &Listing, now: i64) {
        if self.sessions.is_empty() {
            self.started = now;
            let name = listing.instance.clone();
            self.add_session(name, DEFAULT_SERVER.to_owned(), now);
        }
        let tabs: Vec<u64> = listing.tabs.iter().map(|tab| tab.id).collect();
        let exists = |tab: u64| tabs.contains(&tab);
        self.refresh_sessions(&tabs, listing.active);
        self.focused.retain(|tab, _| exists(*tab));
        self.layouts.retain(|tab, _| exists(*tab));
        for tab in &listing.tabs {
            let panes = super::tree::panes(&super::methods::node(&tab.root));
            let (now, before) = self.focused.entry(tab.id).or_insert((tab.focused, None));
            if *now != tab.focused {
                *before = Some(std::mem::replace(now, tab.focused));
            }
            *before = before.filter(|last| panes.iter().any(|pane| pane.0 == *last));
        }
        let has_pane = |pane: u64| listing.panes.iter().any(|found| found.id == pane);
        self.marked = self.marked.filter(|marked| has_pane(*marked));
        self.input_off.retain(|pane| has_pane(*pane));
        let sessions: Vec<u64> = self.sessions.iter().map(|session| session.id).collect();
        let is_gone = |owner: Owner| match owner {
            Owner::Session(id) => !sessions.contains(&id),
            Owner::Window(id) => !exists(id),
            Owner::Pane(id) => !has_pane(id),
            _ => false,
        };
        self.options.forget(is_gone);
        let has_ended = |by: &Opener| matches!(by, Opener::Pane(pane) if !has_pane(*pane));
        self.hooks.forget(is_gone, has_ended);
        self.monitors.forget(is_gone, has_ended);
    }

    /// Records a message for `show-messages`.
    pub fn record(&mut self, now: i64, mut message: String) {
        let end = message.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_MESSAGE);
        message.truncate(end.unwrap_or(message.len()));
        if self.messages.len() >= MOST_MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back((now, message));
    }

    /// The pane of a tab that was focused before the focused one.
    pub fn last_pane(&self, tab: u64) -> Option<u64> {
        self.focused.get(&tab)?.1
    }

    /// Brings the windows of the sessions up to date. `tabs`: all tabs in the order of the tab bar. `active`: the tab that
    /// the window shows.
    fn refresh_sessions(&mut self, tabs: &[u64], active: Option<u64>) {
        let mut renumbered = Vec::new();
        for session in &mut self.sessions {
            let is_smaller = session.update(tabs);
            let owners = [Owner::Session(session.id), Owner::Sessions];
            if is_smaller && self.options.is_on(&owners, "renumber-windows") {
                renumbered.push(session.id);
            }
        }
        for id in renumbered {
            self.renumber(id);
        }
        // The first session has every tab that no other session has.
        let has = |tab: u64| self.sessions.iter().any(|session| session.has(tab));
        let rest: Vec<u64> = tabs.iter().copied().filter(|tab| !has(*tab)).collect();
        for tab in rest {
            // The number is free, so this does not fail.
            let _ = self.link(0, None, tab);
        }
        self.sessions.retain(|session| session.id == 0 || session.windows().next().is_some());
        let shows = |session: &Session| active.is_some_and(|active| session.has(active));
        let seen = self.sessions.iter().find(|it| Some(it.id) == self.seen).filter(|it| shows(it));
        let seen = seen.or_else(|| self.sessions.iter().find(|session| shows(session)));
        self.seen = seen.map(|session| session.id);
        if let (Some(seen), Some(active)) = (self.seen, active)
            && let Some(session) = self.session(seen)
        {
            session.select_tab(active);
        }
    }

    /// Adds a session without tabs, and returns its number.
    pub fn add_session(&mut self, name: String, server: String, now: i64) -> u64 {
        let id = self.next_session;
        self.next_session += 1;
        self.sessions.push(Session::new(id, name, server, now));
        id
    }

    /// The number that the next session gets.
    pub fn next_session(&self) -> u64 {
        self.next_session
    }

    /// The name of a session. Empty if there is none.
    pub fn session_name(&self, id: Option<u64>) -> &str {
        let session = self.sessions.iter().find(|session| Some(session.id) == id);
        session.map_or("", |session| session.name.as_str())
    }

    /// The session with this number.
    pub fn session(&mut self, id: u64) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|session| session.id == id)
    }

    /// The first number of windows of a session.
    fn base_index(&self, session: u64) -> u64 {
        let owners = [Owner::Session(session), Owner::Sessions];
        let base = self.options.value(&owners, "base-index");
        base.and_then(|base| base.parse().ok()).unwrap_or(0).min(LARGEST_INDEX)
    }

    /// Changes the windows of a session, and of all sessions of its group.
    fn change<T>(&mut self, id: u64, change: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let session = self.session(id)?;
        let done = change(session);
        if let Some(group) = session.group.clone() {
            let (windows, server) = (session.map(), session.server.clone());
            let others = self.sessions.iter_mut().filter(|session| {
                session.id != id
                    && session.group.as_ref() == Some(&group)
                    && session.server == server
            });
            others.for_each(|other| other.follow(&windows));
        }
        Some(done)
    }

    /// Adds a tab to a session, and returns its number. Without an index, the tab gets the first free number.
    ///
    /// # Errors
    /// Another window has the number. tmux's message.
    pub fn link(&mut self, session: u64, index: Option<u64>, tab: u64) -> Result<u64, String> {
        let base = self.base_index(session);
        let done = self.change(session, |session| {
            let index = index.unwrap_or_else(|| session.free(base));
            if session.windows().any(|(own, _)| own == index) {
                return Err(format!("index in use: {index}"));
            }
            session.insert(index, tab);
            Ok(index)
        });
        done.unwrap_or_else(|| Err(format!("can't find session: ${session}")))
    }

    /// Removes a window from a session.
    pub fn unlink(&mut self, session: u64, index: u64) {
        self.change(session, |session| session.remove(index));
    }

    /// Removes a window from a session, for another window that gets its number.
    pub fn vacate(&mut self, session: u64, index: u64) {
        self.change(session, |session| session.vacate(index));
    }

    /// Numbers the windows of a session without gaps.
    pub fn renumber(&mut self, session: u64) {
        let base = self.base_index(session);
        self.change(session, |session| session.renumber(base));
    }

    /// Makes a number free by moving the windows from this number on. Returns the number that is not free any more.
    pub fn make_room(&mut self, session: u64, index: u64) -> u64 {
        self.change(session, |session| session.make_room(index)).unwrap_or(index)
    }

    /// Removes a session, but not its tabs. The first session only loses its windows.
    pub fn remove_session(&mut self, id: u64) {
        let server = DEFAULT_SERVER.to_owned();
        if let Some(first) = self.session(id).filter(|session| session.id == 0) {
            *first = Session::new(0, first.name.clone(), server, first.created);
        }
        self.sessions.retain(|session| session.id == 0 || session.id != id);
    }

    /// Puts a tab in the place of a window's tab.
    pub fn replace(&mut self, session: u64, index: u64, tab: u64) {
        self.change(session, |session| session.replace(index, tab));
    }

    /// Adds a session to the group of another session. A new group is named after the other session.
    pub fn join_group(&mut self, session: u64, other: u64) {
        let Some(found) = self.session(other) else { return };
        let group = found.group.get_or_insert_with(|| found.name.clone()).clone();
        if let Some(session) = self.session(session) {
            session.group = Some(group);
        }
        self.change(other, |_| ());
    }

    /// Moves a tab to a session, and removes it from all other sessions. Returns its number.
    ///
    /// # Errors
    /// Another window has the number. The error is tmux's message.
    pub fn assign(&mut self, tab: u64, session: u64, index: Option<u64>) -> Result<u64, String> {
        let old: Vec<(u64, u64)> = self
            .sessions
            .iter()
            .flat_map(|it| it.windows().map(|(index, tab)| (it.id, index, tab)))
            .filter(|(_, _, own)| *own == tab)
            .map(|(session, index, _)| (session, index))
            .collect();
        for (session, index) in old {
            self.unlink(session, index);
        }
        self.link(session, index, tab)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(state: &State, id: u64) -> Vec<(u64, u64)> {
        let session = state.sessions.iter().find(|session| session.id == id);
        session.map(|session| session.windows().collect()).unwrap_or_default()
    }

    /// Two sessions: the first one has the tab 1.
    fn state() -> State {
        let mut state = State::default();
        for name in ["first", "second"] {
            state.add_session(name.to_owned(), DEFAULT_SERVER.to_owned(), 0);
        }
        state.link(1, None, 2).unwrap();
        state.refresh_sessions(&[1, 2], Some(1));
        state
    }

    #[test]
    fn a_tab_of_no_session_belongs_to_the_first() {
        let mut state = state();
        assert_eq!((windows(&state, 0), windows(&state, 1)), (vec![(0, 1)], vec![(0, 2)]));
        state.options.set(Owner::Sessions, "base-index", "5".to_owned()).unwrap();
        state.refresh_sessions(&[1, 2, 3], Some(3));
        assert_eq!(windows(&state, 0), [(0, 1), (5, 3)]);
        assert_eq!(state.session(0).unwrap().current(), Some(5));
    }

    #[test]
    fn a_linked_tab_belongs_to_both_sessions_until_it_closes() {
        let mut state = state();
        assert_eq!(state.link(1, Some(0), 1).unwrap_err(), "index in use: 0");
        assert_eq!(state.link(1, None, 1), Ok(1));
        state.refresh_sessions(&[1, 2], Some(1));
        assert_eq!((windows(&state, 0), windows(&state, 1)), (vec![(0, 1)], vec![(0, 2), (1, 1)]));
        // The window shows the tab for the first session, so it is not the current window of the second session.
        assert_eq!((state.seen, state.session(1).unwrap().current()), (Some(0), Some(0)));
        state.unlink(0, 0);
        state.refresh_sessions(&[1, 2], Some(1));
        assert_eq!((state.seen, windows(&state, 0).len()), (Some(1), 0));
        state.refresh_sessions(&[2], Some(2));
        assert_eq!(windows(&state, 1), [(0, 2)]);
        assert_eq!(state.assign(2, 0, Some(7)), Ok(7));
        state.refresh_sessions(&[2], Some(2));
        assert_eq!(state.sessions.len(), 1);
    }

    #[test]
    fn sessions_of_a_group_have_the_same_windows() {
        let mut state = state();
        let third = state.add_session("third".to_owned(), DEFAULT_SERVER.to_owned(), 0);
        state.join_group(third, 1);
        assert_eq!(windows(&state, third), [(0, 2)]);
        state.link(third, Some(4), 1).unwrap();
        assert_eq!(windows(&state, 1), [(0, 2), (4, 1)]);
        state.session(third).unwrap().select(4);
        assert_eq!(state.session(1).unwrap().current(), Some(0));
        state.renumber(1);
        assert_eq!(windows(&state, third), [(0, 2), (1, 1)]);
        assert_eq!(state.session(third).unwrap().group.as_deref(), Some("second"));
    }

    #[test]
    fn gaps_close_only_if_the_option_is_set() {
        let mut state = state();
        state.link(1, Some(3), 3).unwrap();
        state.link(1, Some(6), 4).unwrap();
        state.refresh_sessions(&[1, 2, 4], None);
        assert_eq!(windows(&state, 1), [(0, 2), (6, 4)]);
        state.options.set(Owner::Session(1), "renumber-windows", "on".to_owned()).unwrap();
        state.refresh_sessions(&[1, 4], None);
        assert_eq!(windows(&state, 1), [(0, 4)]);
    }
}
