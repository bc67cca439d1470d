//! The sessions: groups of tabs, in which each tab has a number.
//!
//! A tab belongs to at least one session. `link-window` and grouped sessions (`new-session -t`) make it belong to several.
//! Plain data: the commands check their arguments, and the mux owns the tabs.

use std::collections::BTreeMap;

use super::environment::Environment;

/// The maximum number of a window.
pub const LARGEST_INDEX: u64 = i32::MAX as u64;

/// A session: a group of tabs.
#[derive(Clone, Debug)]
pub struct Session {
    /// The number in the session's id, `$N`.
    pub id: u64,
    /// The name.
    pub name: String,
    /// The name of the server (`-L`) that lists the session.
    pub server: String,
    /// The name of the group. The sessions of a group have the same windows.
    pub group: Option<String>,
    /// When the session was created, in seconds since 1970.
    pub created: i64,
    /// The working directory of new windows. Empty: the client's working directory.
    pub cwd: String,
    /// The columns and rows of new windows that no client sizes (`-x` and `-y` of `new-session`).
    pub size: Option<(u16, u16)>,
    /// The environment.
    pub env: Environment,
    /// The tabs by their numbers. A session can contain a tab more than once.
    windows: BTreeMap<u64, u64>,
    /// The number of the current window. `None` if there is no window.
    current: Option<u64>,
    /// The numbers of the windows that were current before, the last one first.
    stack: Vec<u64>,
    /// The tabs in the order that they had in the tab bar at the last update.
    order: Vec<u64>,
}

impl Session {
    pub(super) fn new(id: u64, name: String, server: String, created: i64) -> Self {
        Self {
            id,
            name,
            server,
            group: None,
            created,
            cwd: String::new(),
            size: None,
            env: Environment::new(),
            windows: BTreeMap::new(),
            current: None,
            stack: Vec::new(),
            order: Vec::new(),
        }
    }

    /// The numbers of the windows and their tabs, in order.
    pub fn windows(&self) -> impl Iterator<Item = (u64, u64)> {
        self.windows.iter().map(|(index, tab)| (*index, *tab))
    }

    /// The number of the current window.
    pub fn current(&self) -> Option<u64> {
        self.current
    }

    /// The tab of the current window.
    pub fn current_tab(&self) -> Option<u64> {
        self.windows.get(&self.current?).copied()
    }

    /// The numbers of the windows that were current before, the last one first.
    pub fn stack(&self) -> &[u64] {
        &self.stack
    }

    /// Whether the session contains a tab.
    pub fn has(&self, tab: u64) -> bool {
        self.windows.values().any(|own| *own == tab)
    }

    /// The first number of a tab.
    pub fn index_of(&self, tab: u64) -> Option<u64> {
        // A tab that is the current window several times keeps its number.
        let current = self.current.filter(|at| self.windows.get(at) == Some(&tab));
        current.or_else(|| self.windows().find(|(_, own)| *own == tab).map(|(index, _)| index))
    }

    /// The lowest number from `base` that no window has.
    pub(super) fn free(&self, base: u64) -> u64 {
        (base..).find(|index| !self.windows.contains_key(index)).unwrap_or(base)
    }

    /// Makes a window the current one.
    pub fn select(&mut self, index: u64) {
        if self.current == Some(index) || !self.windows.contains_key(&index) {
            return;
        }
        self.stack.retain(|before| *before != index);
        if let Some(before) = self.current.replace(index) {
            self.stack.insert(0, before);
        }
    }

    /// Makes a tab the current window.
    pub fn select_tab(&mut self, tab: u64) {
        if let Some(index) = self.index_of(tab) {
            self.select(index);
        }
    }

    pub(super) fn insert(&mut self, index: u64, tab: u64) {
        self.windows.insert(index, tab);
        self.current.get_or_insert(index);
    }

    /// Removes a window. As in tmux, the window that was current before becomes current, or else the window before the
    /// removed one.
    pub(super) fn remove(&mut self, index: u64) {
        if self.windows.remove(&index).is_none() {
            return;
        }
        self.stack.retain(|before| *before != index);
        if self.current == Some(index) {
            let last = (!self.stack.is_empty()).then(|| self.stack.remove(0));
            let before = || self.windows.range(..index).next_back().map(|(index, _)| *index);
            let greatest = || self.windows.last_key_value().map(|(index, _)| *index);
            self.current = last.or_else(before).or_else(greatest);
        }
    }

    /// Removes a window whose number another window gets. If the window was current, the other window becomes current,
    /// and the list of windows that were current before stays unchanged.
    pub(super) fn vacate(&mut self, index: u64) {
        self.windows.remove(&index);
        self.stack.retain(|before| *before != index);
        self.current = self.current.filter(|current| *current != index);
    }

    /// Puts a tab in the place of a window's tab.
    pub(super) fn replace(&mut self, index: u64, tab: u64) {
        if let Some(own) = self.windows.get_mut(&index) {
            *own = tab;
        }
    }

    /// Gives windows new numbers. `numbers`: the new numbers by the present ones.
    fn renamed(&mut self, numbers: &BTreeMap<u64, u64>) {
        let new = |index: &u64| numbers.get(index).copied().unwrap_or(*index);
        self.windows = self.windows.iter().map(|(index, tab)| (new(index), *tab)).collect();
        self.current = self.current.as_ref().map(new);
        self.stack = self.stack.iter().map(new).collect();
    }

    /// Numbers the windows from `base` without gaps.
    pub fn renumber(&mut self, base: u64) {
        let numbers = self.windows.keys().copied().zip(base..).collect();
        self.renamed(&numbers);
    }

    /// Moves the windows from a number on by one, up to the first gap, so that the number is free. Returns the gap.
    pub(super) fn make_room(&mut self, index: u64) -> u64 {
        let gap = self.free(index);
        let numbers = (index..gap).map(|index| (index, index + 1)).collect();
        self.renamed(&numbers);
        gap
    }

    /// Removes the tabs that no longer exist. If the user has moved tabs, reassigns the same set of numbers to the
    /// windows in the order of the tab bar. `tabs`: all tabs in the order of the tab bar. Returns whether a tab was
    /// removed.
    pub(super) fn update(&mut self, tabs: &[u64]) -> bool {
        let gone: Vec<u64> =
            self.windows().filter(|(_, tab)| !tabs.contains(tab)).map(|(index, _)| index).collect();
        for index in &gone {
            self.remove(*index);
        }
        let order: Vec<u64> = tabs.iter().copied().filter(|tab| self.has(*tab)).collect();
        let common = |of: &[u64], other: &[u64]| {
            of.iter().copied().filter(|tab| other.contains(tab)).collect::<Vec<_>>()
        };
        if common(&order, &self.order) != common(&self.order, &order) {
            let place = |tab: u64| order.iter().position(|own| *own == tab);
            let mut sorted: Vec<(u64, u64)> = self.windows().collect();
            sorted.sort_by_key(|(_, tab)| place(*tab));
            let numbers = sorted.into_iter().map(|(index, _)| index);
            let numbers = numbers.zip(self.windows.keys().copied()).collect();
            self.renamed(&numbers);
        }
        self.order = order;
        !gone.is_empty()
    }

    /// Gives the session the windows of another session of its group.
    pub(super) fn follow(&mut self, windows: &BTreeMap<u64, u64>) {
        let gone: Vec<u64> =
            self.windows.keys().copied().filter(|index| !windows.contains_key(index)).collect();
        self.windows.extend(windows);
        for index in gone {
            self.remove(index);
        }
        if self.current.is_none() {
            self.current = windows.first_key_value().map(|(index, _)| *index);
        }
    }

    pub(super) fn map(&self) -> BTreeMap<u64, u64> {
        self.windows.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(windows: &[(u64, u64)]) -> Session {
        let mut session = Session::new(0, "a".to_owned(), "default".to_owned(), 0);
        for (index, tab) in windows {
            session.insert(*index, *tab);
        }
        let tabs: Vec<u64> = windows.iter().map(|(_, tab)| *tab).collect();
        session.update(&tabs);
        session
    }

    fn windows(session: &Session) -> Vec<(u64, u64)> {
        session.windows().collect()
    }

    #[test]
    fn numbers_keep_gaps_until_they_are_renumbered() {
        let mut session = session(&[(1, 10), (5, 11), (6, 12)]);
        session.select(6);
        assert_eq!(session.free(1), 2);
        assert!(session.update(&[10, 12]));
        assert_eq!(windows(&session), [(1, 10), (6, 12)]);
        session.renumber(3);
        assert_eq!(windows(&session), [(3, 10), (4, 12)]);
        assert_eq!((session.current(), session.stack()), (Some(4), [3].as_slice()));
    }

    #[test]
    fn the_last_window_becomes_current_and_else_the_previous_one() {
        let mut session = session(&[(0, 10), (3, 11), (7, 12), (9, 13)]);
        session.select(7);
        session.remove(7);
        assert_eq!(session.current(), Some(0));
        session.select(9);
        session.remove(0);
        session.remove(9);
        assert_eq!(session.current(), Some(3));
        session.remove(3);
        assert_eq!(session.current(), None);
    }

    #[test]
    fn a_window_in_the_place_of_the_current_one_becomes_current() {
        let mut session = session(&[(0, 10), (3, 11), (7, 12)]);
        session.select(3);
        session.vacate(3);
        session.insert(3, 13);
        assert_eq!((session.current(), session.stack()), (Some(3), [0].as_slice()));
        session.vacate(0);
        session.insert(0, 14);
        assert_eq!((session.current(), session.stack()), (Some(3), [].as_slice()));
    }

    #[test]
    fn windows_move_up_to_the_first_gap() {
        let mut session = session(&[(0, 10), (1, 11), (2, 12), (4, 13)]);
        session.select(2);
        assert_eq!(session.make_room(1), 3);
        assert_eq!(windows(&session), [(0, 10), (2, 11), (3, 12), (4, 13)]);
        assert_eq!(session.current(), Some(3));
    }

    #[test]
    fn numbers_follow_tabs_that_the_user_moves() {
        let mut session = session(&[(0, 10), (4, 11), (7, 12)]);
        session.select(7);
        session.update(&[12, 10, 11]);
        assert_eq!(windows(&session), [(0, 12), (4, 10), (7, 11)]);
        assert_eq!(session.current(), Some(0));
        // A new tab does not count as a moved tab.
        session.insert(1, 13);
        session.update(&[12, 10, 11, 13]);
        assert_eq!(windows(&session), [(0, 12), (1, 13), (4, 10), (7, 11)]);
    }

    #[test]
    fn a_session_of_a_group_keeps_its_own_current_window() {
        let mut session = session(&[(0, 10), (1, 11)]);
        session.select(1);
        session.follow(&BTreeMap::from([(0, 10), (1, 11), (2, 12)]));
        assert_eq!(session.current(), Some(1));
        session.follow(&BTreeMap::from([(0, 10), (2, 12)]));
        assert_eq!(session.current(), Some(0));
        assert_eq!(windows(&session), [(0, 10), (2, 12)]);
    }
}
