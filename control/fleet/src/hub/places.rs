//! Limits what runs at a time, in total and for each user of it, so that no user takes all places.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// Places, by the names of their users, such as the ids of tokens.
#[derive(Clone)]
pub struct Places {
    taken: Arc<Mutex<HashMap<String, usize>>>,
    most: usize,
    most_each: usize,
}

/// A place, until it is dropped.
pub struct Place {
    places: Places,
    user: String,
}

impl Places {
    /// At most `most` places, and `most_each` for one user.
    pub fn new(most: usize, most_each: usize) -> Self {
        Self { taken: Arc::default(), most, most_each }
    }

    /// A place for a user. `None`: all are taken.
    pub fn take(&self, user: &str) -> Option<Place> {
        let mut taken = self.taken.lock();
        let own = taken.get(user).copied().unwrap_or_default();
        if own >= self.most_each || taken.values().sum::<usize>() >= self.most {
            return None;
        }
        taken.insert(user.to_owned(), own + 1);
        Some(Place { places: self.clone(), user: user.to_owned() })
    }
}

impl Drop for Place {
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
