//! Limits how much runs at the same time, in total and for each user, so that no user takes all places. A user is a
//! name, such as the id of a token.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// The places that users can take, by the users' names.
#[derive(Clone)]
pub struct Places {
    taken: Arc<Mutex<HashMap<String, usize>>>,
    most: usize,
    most_each: usize,
}

/// A taken place. It is free again when this is dropped.
pub struct TakenPlace {
    places: Places,
    user: String,
}

impl Places {
    /// Creates places: at most `most` in total, and at most `most_each` for one user.
    pub fn new(most: usize, most_each: usize) -> Self {
        Self { taken: Arc::default(), most, most_each }
    }

    /// Takes a place for a user. Returns `None` if no place is free.
    pub fn take(&self, user: &str) -> Option<TakenPlace> {
        let mut taken = self.taken.lock();
        let own = taken.get(user).copied().unwrap_or_default();
        if own >= self.most_each || taken.values().sum::<usize>() >= self.most {
            return None;
        }
        taken.insert(user.to_owned(), own + 1);
        Some(TakenPlace { places: self.clone(), user: user.to_owned() })
    }
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        if let Some(count) = taken.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_takes_its_share_and_no_more() {
        let places = Places::new(12, 4);
        let mut taken: Vec<_> = (0..4).map(|_| places.take("a").unwrap()).collect();
        assert!(places.take("a").is_none());
        assert!(places.take("b").is_some(), "and gives it back at once");
        taken.pop();
        taken.extend(places.take("a"));
        taken.extend((0..4).filter_map(|_| places.take("c")));
        taken.extend((0..9).filter_map(|_| places.take("d")));
        assert_eq!(taken.len(), 12);
        assert!(places.take("b").is_none());
        drop(taken);
        assert!(places.taken.lock().is_empty());
    }
}
