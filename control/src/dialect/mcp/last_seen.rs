//! The screen that each client last saw of each pane, so that replies contain only what is new to the client.
//!
//! Stores hashes of rows and never their text. An entry belongs to one client. Calls of other clients never read or
//! change it.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::methods::screen::{Lines, TextFields};

/// The maximum number of panes per client, and of all clients. A new entry replaces the entry that was unused longest.
const MOST_OF_CLIENT: usize = 64;
const MOST: usize = 1024;

/// The screens that clients last saw.
#[derive(Default)]
pub struct LastSeen {
    /// The entries. The most recently used entry is last.
    entries: Mutex<VecDeque<Entry>>,
    /// The random key of the hashes, so that no program can choose texts with equal hashes.
    hashes: RandomState,
}

struct Entry {
    connection: u64,
    pane: u64,
    screen: Arc<Screen>,
}

/// A screen that a client saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    size: (u16, u16),
    /// The position of the rows in the terminal. `None` if the screen changed while it was read.
    place: Option<ShownRows>,
    /// A hash of each row's text. 0 for a blank row.
    rows: Vec<u64>,
}

/// The position of a screen's rows in the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownRows {
    /// Whether the rows are those of the alternate screen.
    pub is_alternate: bool,
    /// The id of the first row. The ids of the rows below follow in order.
    pub top: u64,
}

/// The difference between a screen and an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub struct Changes {
    /// The rows that changed, by their positions on the new screen.
    pub rows: Vec<usize>,
    /// The number of rows that scrolled off the top.
    pub scrolled: u64,
}

impl Screen {
    /// The empty screen of a pane whose program has printed nothing yet.
    pub fn empty(cols: u16, rows: u16) -> Self {
        let place = Some(ShownRows::default());
        Self { size: (cols, rows), place, rows: vec![0; rows.into()] }
    }

    /// Whether the rows can be compared with those of other screens: the screen did not change while it was read.
    pub fn is_comparable(&self) -> bool {
        self.place.is_some()
    }

    /// The difference between this screen and `before`. `None` if their rows can't be compared: the size changed, the
    /// program switched to or from the alternate screen, or no row of `before` is left.
    pub fn changes_since(&self, before: &Self) -> Option<Changes> {
        let (now, then) = (self.place?, before.place?);
        let scrolled = now.top.checked_sub(then.top)?;
        let shift = usize::try_from(scrolled).ok().filter(|shift| *shift < self.rows.len())?;
        if (self.size, now.is_alternate) != (before.size, then.is_alternate) {
            return None;
        }
        let seen = before.rows.iter().skip(shift).chain(std::iter::repeat(&0));
        let rows = self.rows.iter().zip(seen).enumerate();
        let rows = rows.filter(|(_, (now, seen))| now != seen).map(|(row, _)| row).collect();
        Some(Changes { rows, scrolled })
    }
}

impl Changes {
    /// The text of the changed rows, one line each, after the row's position on the screen.
    pub fn text(&self, lines: &Lines) -> String {
        let mut changed = self.rows.iter().peekable();
        let rows = lines.iter().enumerate().filter(|(row, _)| changed.next_if_eq(&row).is_some());
        let rows: Vec<String> =
            rows.map(|(row, text)| format!("{row}: {}", text.trim_end())).collect();
        rows.join("\n")
    }
}

impl LastSeen {
    /// The screen in a reply of `screen.text`. `place`: the position of its rows.
    pub fn screen(&self, text: &TextFields, place: Option<ShownRows>) -> Screen {
        let hash = |row: &str| match row.trim_end() {
            "" => 0,
            row => self.hashes.hash_one(row).max(1),
        };
        Screen { size: (text.cols, text.rows), place, rows: text.lines.iter().map(hash).collect() }
    }

    /// The screen that a client last saw of a pane.
    pub fn get(&self, connection: u64, pane: u64) -> Option<Arc<Screen>> {
        let entries = self.entries.lock();
        let entry =
            entries.iter().find(|entry| (entry.connection, entry.pane) == (connection, pane));
        entry.map(|entry| entry.screen.clone())
    }

    /// Records the screen that a client sees of a pane now.
    pub fn set(&self, connection: u64, pane: u64, screen: Arc<Screen>) {
        let mut entries = self.entries.lock();
        entries.retain(|entry| (entry.connection, entry.pane) != (connection, pane));
        let is_own = |entry: &Entry| entry.connection == connection;
        if entries.iter().filter(|entry| is_own(entry)).count() >= MOST_OF_CLIENT
            && let Some(oldest) = entries.iter().position(is_own)
        {
            entries.remove(oldest);
        } else if entries.len() >= MOST {
            entries.pop_front();
        }
        entries.push_back(Entry { connection, pane, screen });
    }

    /// Removes all entries of a client.
    pub fn release(&self, connection: u64) {
        self.entries.lock().retain(|entry| entry.connection != connection);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn screen(seen: &LastSeen, top: u64, is_alternate: bool, lines: &[&str]) -> Screen {
        let text = json!({
            "lines": lines, "cursor": {"x": 0, "y": 0}, "cols": 20, "rows": lines.len(), "seq": 1,
        });
        let place = Some(ShownRows { is_alternate, top });
        seen.screen(&serde_json::from_value(text).unwrap(), place)
    }

    #[test]
    fn only_rows_with_another_text_have_changed() {
        let seen = LastSeen::default();
        let main = |top, lines: &[&str]| screen(&seen, top, false, lines);
        let before = main(10, &["a", "b", "c", ""]);
        for (now, changes) in [
            (main(10, &["a", "b ", "c", ""]), Some((vec![], 0))),
            (main(10, &["a", "x", "c", ""]), Some((vec![1], 0))),
            (main(10, &["a", "", "c", "d"]), Some((vec![1, 3], 0))),
            (main(12, &["c", "d", "e", ""]), Some((vec![1, 2], 2))),
            (main(13, &["", "", "", ""]), Some((vec![], 3))),
            // No row of the earlier screen is left, or the history was cleared.
            (main(14, &["c", "", "", ""]), None),
            (main(9, &["a", "b", "c", ""]), None),
            (main(10, &["a", "b", "c"]), None),
            (screen(&seen, 10, true, &["a", "b", "c", ""]), None),
        ] {
            let changes = changes.map(|(rows, scrolled)| Changes { rows, scrolled });
            assert_eq!(now.changes_since(&before), changes, "{now:?}");
        }
        let empty = Screen::empty(20, 4);
        let first = main(0, &["a", "", "", ""]).changes_since(&empty);
        assert_eq!(first, Some(Changes { rows: vec![0], scrolled: 0 }));
    }

    #[test]
    fn a_client_neither_reads_nor_displaces_what_others_saw() {
        let seen = LastSeen::default();
        let at = |cols| Arc::new(Screen::empty(cols, 1));
        seen.set(1, 7, at(5));
        assert!(seen.get(2, 7).is_none());
        for pane in 0..2 * MOST_OF_CLIENT as u64 {
            seen.set(2, pane, at(6));
        }
        assert_eq!(seen.get(1, 7).unwrap().size.0, 5);
        assert!(seen.get(2, 0).is_none() && seen.get(2, 2 * MOST_OF_CLIENT as u64 - 1).is_some());
        seen.release(2);
        assert_eq!(seen.entries.lock().len(), 1);
    }
}
