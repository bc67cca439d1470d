//! The ids by which clients cancel waits of other connections.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::dialect::ptywright::error::{Error, Result};

/// The maximum length of an id, in bytes.
const LONGEST: usize = 256;

/// The waits that can be canceled. A connection has at most one.
#[derive(Default)]
pub struct WaitIds(Mutex<BTreeMap<String, Pending>>);

/// A wait that is in progress.
struct Pending {
    adapter: String,
    cancelled: watch::Sender<bool>,
}

/// A registered id of a wait. The id is removed when this value is dropped.
pub struct Bound {
    ids: Arc<WaitIds>,
    id: String,
    cancelled: watch::Receiver<bool>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.ids.0.lock().remove(&self.id);
    }
}

impl Bound {
    /// Completes when the wait is canceled.
    pub async fn cancelled(&mut self) {
        if self.cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
            std::future::pending().await
        }
    }
}

impl WaitIds {
    /// Registers the id of a wait for an adapter.
    ///
    /// # Errors
    /// The id is too long, or another wait has it.
    pub fn bind(self: &Arc<Self>, id: &str, adapter: &str) -> Result<Bound> {
        if id.len() > LONGEST {
            let length = id.len();
            let why = format!("wait_id: must have at most {LONGEST} bytes, not {length}");
            return Err(Error::invalid_params(why));
        }
        let mut pending = self.0.lock();
        if pending.contains_key(id) {
            let why = format!("wait_id: another wait that has not ended has the id {id:?}");
            return Err(Error::invalid_params(why));
        }
        let (cancelled, receiver) = watch::channel(false);
        pending.insert(id.to_owned(), Pending { adapter: adapter.to_owned(), cancelled });
        Ok(Bound { ids: self.clone(), id: id.to_owned(), cancelled: receiver })
    }

    /// Cancels the wait with this id. Returns its adapter, or `None` if there is no such wait.
    pub fn cancel(&self, id: &str) -> Option<String> {
        let pending = self.0.lock();
        let wait = pending.get(id)?;
        // The wait itself removes its id, so that no other wait can register the id before this wait has ended.
        wait.cancelled.send_replace(true);
        Some(wait.adapter.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_id_belongs_to_one_wait_until_the_wait_ends() {
        let ids = Arc::new(WaitIds::default());
        let mut bound = ids.bind("w", "e1").unwrap();
        assert!(ids.bind("w", "e2").is_err_and(|error| error.message.contains("\"w\"")));
        assert!(ids.bind(&"w".repeat(LONGEST + 1), "e1").is_err());
        assert_eq!(ids.cancel("other"), None);
        assert_eq!(ids.cancel("w"), Some("e1".to_owned()));
        bound.cancelled().await;
        drop(bound);
        assert_eq!(ids.cancel("w"), None);
        assert!(ids.bind("w", "e2").is_ok());
    }
}
