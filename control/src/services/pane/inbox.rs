//! The entries of the inbox that the user has put aside: dismissed entries, and snoozed entries, which return at a
//! later time.
//!
//! An entry is identified by its key, which changes when the entry changes. So a question that is asked again is not
//! put aside.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

/// The maximum number of entries that are put aside. The oldest are forgotten, and appear again.
const MOST: usize = 1024;

struct Aside {
    /// The time at which the entry returns. `None`: never.
    until: Option<Instant>,
    /// The number of entries that were put aside before.
    order: u64,
}

#[derive(Default)]
struct State {
    count: u64,
    entries: HashMap<String, Aside>,
}

/// The entries that are put aside, by their keys.
#[derive(Default)]
pub struct PutAside(Mutex<State>);

impl PutAside {
    /// Puts an entry aside: for a time, or until it changes.
    pub fn put(&self, key: &str, time: Option<Duration>) {
        let mut state = self.0.lock();
        state.count += 1;
        let until = time.map(|time| super::wait::deadline(Instant::now(), time));
        let aside = Aside { until, order: state.count };
        state.entries.insert(key.to_owned(), aside);
        if state.entries.len() > MOST {
            let oldest = state.entries.iter().min_by_key(|(_, aside)| aside.order);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                state.entries.remove(&oldest);
            }
        }
    }

    /// Lists an entry again at once. Returns whether it was put aside.
    pub fn restore(&self, key: &str) -> bool {
        self.0.lock().entries.remove(key).is_some()
    }

    /// Whether an entry is put aside now.
    pub fn contains(&self, key: &str) -> bool {
        let mut state = self.0.lock();
        let is_over = |aside: &Aside| aside.until.is_some_and(|until| until <= Instant::now());
        if state.entries.get(key).is_some_and(is_over) {
            state.entries.remove(key);
        }
        state.entries.contains_key(key)
    }

    /// The time at which the next entry returns. If an entry has returned since the last call: now. `None`: never.
    pub fn next(&self) -> Option<Instant> {
        let mut state = self.0.lock();
        let (now, before) = (Instant::now(), state.entries.len());
        // Remove the entry from the list, so that an entry that has ended does not return again and again.
        state.entries.retain(|_, aside| aside.until.is_none_or(|until| until > now));
        match state.entries.len() < before {
            true => Some(now),
            false => state.entries.values().filter_map(|aside| aside.until).min(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_put_aside_until_its_time_or_its_end() {
        let aside = PutAside::default();
        aside.put("dismissed", None);
        aside.put("over", Some(Duration::ZERO));
        aside.put("later", Some(Duration::from_secs(3600)));
        let contains = |key: &str| aside.contains(key);
        assert!(contains("dismissed") && contains("later"));
        assert!(!contains("over") && !contains("other"));
        assert!(aside.next().is_some_and(|next| next > Instant::now()));
        aside.put("over", Some(Duration::ZERO));
        assert!(aside.next().is_some_and(|next| next <= Instant::now()), "it has returned");
        assert!(aside.next().is_some_and(|next| next > Instant::now()), "only once");
        assert!(aside.restore("later") && !contains("later") && !aside.restore("later"));
        assert_eq!(aside.next(), None);
    }

    #[test]
    fn the_number_of_entries_is_limited() {
        let aside = PutAside::default();
        (0..=MOST).for_each(|number| aside.put(&number.to_string(), None));
        assert!(!aside.contains("0") && aside.contains("1") && aside.contains(&MOST.to_string()));
    }
}
