//! Limits the calls that run at a time, in total and for each token, so that no token takes all places.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

/// The most calls at a time.
const MOST: usize = 256;
/// The most calls of one token at a time.
const MOST_OF_TOKEN: usize = 32;

/// The calls that run, by the ids of their tokens.
#[derive(Clone, Default)]
pub struct CallPlaces(Arc<Mutex<HashMap<String, usize>>>);

/// A place of a call, until it is dropped.
pub struct CallPlace {
    places: CallPlaces,
    token: String,
}

impl CallPlaces {
    /// A place for a call of a token. `None`: all are taken.
    pub fn take(&self, token: &str) -> Option<CallPlace> {
        let mut running = self.0.lock();
        let own = running.get(token).copied().unwrap_or_default();
        if own >= MOST_OF_TOKEN || running.values().sum::<usize>() >= MOST {
            return None;
        }
        running.insert(token.to_owned(), own + 1);
        Some(CallPlace { places: self.clone(), token: token.to_owned() })
    }
}

impl Drop for CallPlace {
    fn drop(&mut self) {
        let mut running = self.places.0.lock();
        if let Some(count) = running.get_mut(&self.token) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.token);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_takes_its_share_and_no_more() {
        let places = CallPlaces::default();
        let mut taken: Vec<_> = (0..MOST_OF_TOKEN).map(|_| places.take("a").unwrap()).collect();
        assert!(places.take("a").is_none());
        assert!(places.take("b").is_some(), "and gives it back at once");
        taken.pop();
        taken.extend(places.take("a"));
        let others = (1..MOST / MOST_OF_TOKEN).flat_map(|token| {
            let places = &places;
            (0..MOST_OF_TOKEN).filter_map(move |_| places.take(&token.to_string()))
        });
        taken.extend(others);
        assert_eq!(taken.len(), MOST);
        assert!(places.take("b").is_none());
        drop(taken);
        assert!(places.0.lock().is_empty());
    }
}
