//! How many connections or sessions a server has at most.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::{Error, Result};

/// The places for things of a kind.
pub struct Places {
    free: Arc<Semaphore>,
    most: usize,
    what: &'static str,
}

/// A place, taken until this is dropped.
pub struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Places {
    /// So many free places. `what`: the things, such as "sessions".
    pub fn new(most: usize, what: &'static str) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), most, what }
    }

    /// Takes a place.
    ///
    /// # Errors
    /// None is free.
    pub fn take(&self) -> Result<Place> {
        let permit = self.free.clone().try_acquire_owned().map_err(|_| {
            let Self { most, what, .. } = self;
            Error::internal(format!("there are {most} {what}, which is the most; close one"))
        })?;
        Ok(Place { _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_is_given_back() {
        let places = Places::new(2, "sessions");
        let (first, _second) = (places.take().ok(), places.take().ok());
        assert!(first.is_some());
        let error = places.take().err().unwrap();
        assert_eq!(error.message, "there are 2 sessions, which is the most; close one");
        drop(first);
        assert!(places.take().is_ok());
    }
}
