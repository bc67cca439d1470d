//! Runs the calls of one plugin instance one after another, each on its own thread.
//!
//! The limits of the engine end a call, whether or not its caller still waits. Until then, no other call begins. So an
//! instance has at most one such thread, and no lock remains when a caller disconnects.

use std::{sync::Arc, thread};

use tokio::sync::{Semaphore, oneshot};

use crate::error::{Error, Result};

/// The turns of an instance's calls.
#[derive(Clone)]
pub struct Calls(Arc<Semaphore>);

impl Default for Calls {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl Calls {
    /// Runs a call once all earlier calls have ended.
    ///
    /// # Errors
    /// The system can't start a thread, or the call panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let turn = self.0.clone().acquire_owned().await;
        let turn = turn.map_err(|error| Error::Failed(error.to_string()))?;
        let (reply, replied) = oneshot::channel();
        let work = move || {
            let result = call();
            drop(turn);
            // The caller may have gone away meanwhile.
            let _ = reply.send(result);
        };
        thread::Builder::new().name("plugin-call".to_owned()).spawn(work).map_err(|error| {
            Error::Failed(format!("can't start a thread for the plugin: {error}"))
        })?;
        replied
            .await
            .map_err(|_| Error::Failed("the call of the plugin ended without a result".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn an_abandoned_call_holds_its_turn_until_it_ends() {
        let calls = Calls::default();
        let (begun, has_begun) = oneshot::channel();
        let (end, may_end) = mpsc::channel::<()>();
        let long = calls.clone();
        let caller = tokio::spawn(async move {
            let call = move || {
                begun.send(()).unwrap();
                may_end.recv().unwrap();
            };
            long.run(call).await
        });
        has_begun.await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert_eq!(calls.0.available_permits(), 0);
        end.send(()).unwrap();
        assert_eq!(calls.run(|| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_call_that_panics_is_an_error() {
        let calls = Calls::default();
        assert!(calls.run(|| assert_eq!(1, 2)).await.is_err());
        assert_eq!(calls.run(|| 7).await.unwrap(), 7);
    }
}
