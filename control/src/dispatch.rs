//! The one place where a call is allowed, denied or held, and where it is made.
//!
//! Every wire calls methods through a [`Dispatcher`]. It finds the method, checks the caller's scopes, asks the gates in
//! order, and turns a panic in a method into an error, so that a fault of ours costs one reply and no connection.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use crate::{
    caller::Caller,
    error::{Error, Result},
    methods::{self, Context, Entry},
};

/// What a gate says to a call.
pub enum Decision {
    /// Go on.
    Allow,
    /// Refuse, for this reason.
    Deny(String),
    /// Wait for this, then do as it says. A call that is given up while it is held is dropped.
    Hold(Pin<Box<dyn Future<Output = Decision> + Send>>),
}

/// One who has a say in every call: policy, approvals, pauses.
pub trait Gate: Send + Sync {
    /// Decides on a call before it is made. Must not block.
    fn decide(&self, caller: &Caller, method: &Entry, params: &str) -> Decision;
}

/// Calls methods.
pub struct Dispatcher {
    context: Context,
    gates: Vec<Arc<dyn Gate>>,
}

impl Dispatcher {
    /// A dispatcher whose calls pass these gates, in order.
    pub fn new(context: Context, gates: Vec<Arc<dyn Gate>>) -> Self {
        Self { context, gates }
    }

    /// Calls a method with parameters (JSON; empty: none) and appends its reply (JSON) to `reply`. After an error
    /// `reply` is as it was.
    pub async fn call(
        &self,
        caller: &Caller,
        method: &str,
        params: &str,
        reply: &mut Vec<u8>,
    ) -> Result<()> {
        let entry = methods::find(method).ok_or_else(|| Error::Unknown(method.to_owned()))?;
        tracing::trace!(
            method,
            wire = %caller.wire,
            connection = caller.connection,
            token = ?caller.token,
            client = caller.client,
            conversation = caller.conversation,
            "call"
        );
        self.admit(caller, entry, params).await?;
        let start = reply.len();
        let result = unwound((entry.call)(&self.context, caller, params, reply)).await;
        let result = result.unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            tracing::error!(method, message, "a method panicked");
            Err(Error::Panicked(message.to_owned()))
        });
        if result.is_err() {
            reply.truncate(start);
        }
        result
    }

    async fn admit(&self, caller: &Caller, entry: &Entry, params: &str) -> Result<()> {
        if !caller.scopes.allow(entry.access) {
            return Err(Error::Denied(format!("{} is out of the token's scopes", entry.name)));
        }
        for gate in &self.gates {
            let mut decision = gate.decide(caller, entry, params);
            loop {
                match decision {
                    Decision::Allow => break,
                    Decision::Deny(reason) => return Err(Error::Denied(reason)),
                    Decision::Hold(until) => decision = until.await,
                }
            }
        }
        Ok(())
    }
}

/// The output of a future, or the panic that ended it.
async fn unwound<T>(
    mut future: Pin<Box<dyn Future<Output = T> + Send + '_>>,
) -> std::result::Result<T, Box<dyn Any + Send>> {
    poll_fn(move |context| {
        // The future is dropped after a panic and never polled again; what it worked on are locks that a panic
        // releases and a reply that is cut back.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    if let Some(message) = panic.downcast_ref::<&str>() {
        message
    } else if let Some(message) = panic.downcast_ref::<String>() {
        message
    } else {
        "a panic without a message"
    }
}

#[cfg(test)]
mod tests;
