//! Limits the number of connections or sessions of a server.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::{Error, Result};

/// The places for connections or for sessions.
pub struct Places {
    free: Arc<Semaphore>,
    most: usize,
    what: &'static str,
}

/// A place for a connection or a session. Dropping it frees the place.
pub struct TakenPlace {
    _permit: OwnedSemaphorePermit,
}

impl Places {
    /// Creates `most` free places. `what`: a word for errors, such as "sessions".
    pub fn new(most: usize, what: &'static str) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), most, what }
    }

    /// Takes a place.
    ///
    /// # Errors
    /// No place is free.
    pub fn take(&self) -> Result<TakenPlace> {
        let permit = self.free.clone().try_acquire_owned().map_err(|_| {
            let Self { most, what, .. } = self;
            Error::internal(format!("there are {most} {what}, which is the most; close one"))
        })?;
        Ok(TakenPlace { _permit: permit })
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
