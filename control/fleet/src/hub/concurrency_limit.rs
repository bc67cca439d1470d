//! Limits how much runs at the same time, in total and for each user, so that no user gets all permits. A user is a
//! name, such as the id of a token.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// A semaphore whose permits are shared fairly between users.
#[derive(Clone)]
pub struct ConcurrencyLimit {
    /// The number of permits of each user.
    taken: Arc<Mutex<HashMap<String, usize>>>,
    most: usize,
    most_each: usize,
}

/// A permit of a user. Dropping it returns it.
pub struct Permit {
    limit: ConcurrencyLimit,
    user: String,
}

impl ConcurrencyLimit {
    /// Creates a limit of `most` permits in total, and of `most_each` for one user.
    pub fn new(most: usize, most_each: usize) -> Self {
        Self { taken: Arc::default(), most, most_each }
    }

    /// Acquires a permit for a user. Returns `None` if no permit is free.
    pub fn acquire(&self, user: &str) -> Option<Permit> {
        let mut taken = self.taken.lock();
        let own = taken.get(user).copied().unwrap_or_default();
        if own >= self.most_each || taken.values().sum::<usize>() >= self.most {
            return None;
        }
        taken.insert(user.to_owned(), own + 1);
        Some(Permit { limit: self.clone(), user: user.to_owned() })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.limit.taken.lock();
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
    fn a_user_gets_at_most_its_share_of_permits() {
        let limit = ConcurrencyLimit::new(12, 4);
        let mut taken: Vec<_> = (0..4).map(|_| limit.acquire("a").unwrap()).collect();
        assert!(limit.acquire("a").is_none());
        assert!(limit.acquire("b").is_some(), "and gives it back at once");
        taken.pop();
        taken.extend(limit.acquire("a"));
        taken.extend((0..4).filter_map(|_| limit.acquire("c")));
        taken.extend((0..9).filter_map(|_| limit.acquire("d")));
        assert_eq!(taken.len(), 12);
        assert!(limit.acquire("b").is_none());
        drop(taken);
        assert!(limit.taken.lock().is_empty());
    }
}
