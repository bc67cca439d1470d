//! Makes calls wait until the first pane is open. The instance is registered slightly earlier, because panes receive
//! its address in their environment.

use std::sync::Arc;

use tokio::sync::watch;
use unterm_control::{Caller, Decision, Entry, Gate};

/// Makes every call wait until [`Ready::set`] is called.
pub(crate) struct Ready(watch::Sender<bool>);

impl Ready {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(false)))
    }

    /// Lets the waiting calls continue.
    pub(crate) fn set(&self) {
        self.0.send_replace(true);
    }
}

impl Gate for Ready {
    fn decide(&self, _: &Caller, _: &Entry, _: &str) -> Decision {
        if *self.0.borrow() {
            return Decision::Allow;
        }
        let mut ready = self.0.subscribe();
        Decision::Hold(Box::pin(async move {
            // An error means that the process is ending.
            let _ = ready.wait_for(|ready| *ready).await;
            Decision::Allow
        }))
    }
}
