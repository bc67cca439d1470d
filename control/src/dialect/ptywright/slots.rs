//! Limits the number of connections or sessions of a server.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::{Error, Result};

/// The slots for connections or for sessions.
pub struct Slots {
    free: Arc<Semaphore>,
    most: usize,
    what: &'static str,
}

/// A slot for a connection or a session. Dropping it frees the slot.
pub struct TakenSlot {
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    /// Creates `most` free slots. `what`: a word for errors, such as "sessions".
    pub fn new(most: usize, what: &'static str) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), most, what }
    }

    /// Takes a slot.
    ///
    /// # Errors
    /// No slot is free.
    pub fn take(&self) -> Result<TakenSlot> {
        let permit = self.free.clone().try_acquire_owned().map_err(|_| {
            let Self { most, what, .. } = self;
            Error::internal(format!("there are {most} {what}, which is the most; close one"))
        })?;
        Ok(TakenSlot { _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_is_given_back() {
        let slots = Slots::new(2, "sessions");
        let (first, _second) = (slots.take().ok(), slots.take().ok());
        assert!(first.is_some());
        let error = slots.take().err().unwrap();
        assert_eq!(error.message, "there are 2 sessions, which is the most; close one");
        drop(first);
        assert!(slots.take().is_ok());
    }
}
