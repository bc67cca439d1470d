//! The state that all clients of the dialect share: sessions, options, environment, buffers, hooks, pipes, and the
//! clients in control mode.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{
    buffers::Buffers,
    clients::Clients,
    hooks::Hooks,
    methods::Listing,
    options::{Options, Owner},
    pipes::Pipes,
};
use crate::caller::Opener;

/// The name of the server that has the tabs that no other server has.
pub const DEFAULT_SERVER: &str = "default";
/// The maximum number of variables of an environment.
pub const MOST: usize = 1000;
/// The maximum length of a variable's value and of its name, in bytes.
const LONGEST_VALUE: usize = 64 << 10;

/// The maximum number of messages that `show-messages` prints.
const MOST_MESSAGES: usize = 1000;
/// The maximum length of such a message, in bytes.
const LONGEST_MESSAGE: usize = 1000;

/// A session: a group of tabs.
#[derive(Clone, Debug)]
pub struct Session {
    /// The number in the session's id, `$N`.
    pub id: u64,
    /// The name.
    pub name: String,
    /// The name of the server (`-L`) that lists the session.
    pub server: String,
    /// When the session was created, in seconds since 1970.
    pub created: i64,
    /// The working directory of new windows. Empty: the client's.
    pub cwd: String,
    /// The tabs. For the first session, all tabs that no other session has.
    pub tabs: Vec<u64>,
    /// The current tab.
    pub current: Option<u64>,
    /// The tab that was current before.
    pub last: Option<u64>,
    /// The environment.
    pub env: Environment,
}

/// The variables of a session, or of all. `None`: the variable is removed from the environment of new programs.
pub type Environment = BTreeMap<String, Variable>;

/// A variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// The value.
    pub value: Option<String>,
    /// Whether programs don't get the variable.
    pub is_hidden: bool,
}

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
    /// When the first client connected, in seconds since 1970.
    pub started: i64,
    /// The options.
    pub options: Options,
    /// The global environment.
    pub env: Environment,
    /// The paste buffers.
    pub buffers: Buffers,
    /// The commands of hooks.
    pub hooks: Hooks,
    /// The marked pane.
    pub marked: Option<u64>,
    /// The clients in control mode.
    pub clients: Clients,
    /// The pipes of panes.
    pub pipes: Pipes,
    /// The layouts that tabs got by their names.
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
        let exists = |tab: u64| listing.tabs.iter().any(|found| found.id == tab);
        for session in &mut self.sessions {
            session.tabs.retain(|tab| exists(*tab));
        }
        self.sessions.retain(|session| session.id == 0 || !session.tabs.is_empty());
        let taken: Vec<u64> =
            self.sessions.iter().skip(1).flat_map(|session| session.tabs.clone()).collect();
        let rest = listing.tabs.iter().map(|tab| tab.id).filter(|tab| !taken.contains(tab));
        self.sessions[0].tabs = rest.collect();
        for session in &mut self.sessions {
            // The tabs have the order of the window.
            let order = |tab: &u64| listing.tabs.iter().position(|found| found.id == *tab);
            session.tabs.sort_by_key(order);
            let active = listing.active.filter(|active| session.tabs.contains(active));
            if let Some(active) = active {
                session.select(active);
            }
            session.last = session.last.filter(|last| session.tabs.contains(last));
            let current = session.current.filter(|current| session.tabs.contains(current));
            session.current =
                current.or_else(|| session.last.take()).or(session.tabs.first().copied());
        }
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
        let sessions: Vec<u64> = self.sessions.iter().map(|session| session.id).collect();
        let is_gone = |owner: Owner| match owner {
            Owner::Session(id) => !sessions.contains(&id),
            Owner::Window(id) => !exists(id),
            Owner::Pane(id) => !has_pane(id),
            _ => false,
        };
        self.options.forget(is_gone);
        self.hooks.forget(is_gone);
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

    /// Adds a session without tabs, and returns its number.
    pub fn add_session(&mut self, name: String, server: String, now: i64) -> u64 {
        let id = self.next_session;
        self.next_session += 1;
        self.sessions.push(Session {
            id,
            name,
            server,
            created: now,
            cwd: String::new(),
            tabs: Vec::new(),
            current: None,
            last: None,
            env: Environment::new(),
        });
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

    /// Moves a tab to a session.
    pub fn assign(&mut self, tab: u64, session: u64) {
        for session in &mut self.sessions {
            session.tabs.retain(|own| *own != tab);
        }
        if let Some(session) = self.session(session) {
            session.tabs.push(tab);
            session.current.get_or_insert(tab);
        }
    }
}

impl Session {
    /// Makes a tab the current one.
    pub fn select(&mut self, tab: u64) {
        if self.current != Some(tab) {
            self.last = self.current.replace(tab);
        }
    }
}
