//! The interface for executing calls, in this instance or in another instance.
//!
//! Owns the contract between a caller and the backend that executes its calls. The dispatcher is the backend of this
//! process, and [`Remote`](crate::client::Remote) is the backend of another instance. The tools of agents call methods
//! by their types ([`Calls::call`]). So their code contains no names of methods or fields, and does not depend on the
//! backend.

use std::{future::Future, pin::Pin};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    caller::Caller,
    error::{Error, Result},
    methods::{Method, events::SubscribeParams},
};

/// A call of a method.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method's name.
    pub method: &'a str,
    /// The method's parameters, as JSON. Empty if there are none.
    pub params: &'a str,
    /// The time when the call is abandoned. `None`: never.
    pub deadline: Option<Instant>,
}

/// A call in progress. Dropping it cancels the call.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>>> + Send + 'a>>;
/// A subscription that is being created.
pub type Subscribing<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Events>>> + Send + 'a>>;

/// Executes calls of methods.
pub trait Backend: Send + Sync {
    /// Calls a method and returns its reply as JSON. The authority of the executing instance decides whether the caller may make
    /// the call.
    fn call_json<'a>(&'a self, caller: &'a Caller, request: Request<'a>) -> Calling<'a>;

    /// Subscribes to the events that match the filter.
    fn subscribe<'a>(&'a self, caller: &'a Caller, filter: SubscribeParams<'a>) -> Subscribing<'a>;
}

/// The events of a subscription. The subscription ends when this value is dropped.
pub trait Events: Send {
    /// The next event. `None` if the instance has ended.
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<Value>> + Send + '_>>;
}

/// Calls of methods by their types.
pub trait Calls: Backend {
    /// Calls a method.
    fn call<'a, M: Method>(
        &'a self,
        caller: &'a Caller,
        params: M::Params<'_>,
    ) -> impl Future<Output = Result<M::Reply>> + Send + 'a
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned,
    {
        self.call_until::<M>(caller, params, None)
    }

    /// Calls a method, and abandons the call at its deadline.
    fn call_until<'a, M: Method>(
        &'a self,
        caller: &'a Caller,
        params: M::Params<'_>,
        deadline: Option<Instant>,
    ) -> impl Future<Output = Result<M::Reply>> + Send + 'a
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned,
    {
        let params = serde_json::to_string(&params).map_err(Error::Params);
        async move {
            let request = Request { method: M::NAME, params: &params?, deadline };
            let reply = self.call_json(caller, request).await?;
            let unread = |error| Error::Unread { method: M::NAME, error };
            serde_json::from_slice(&reply).map_err(unread)
        }
    }
}

impl<B: Backend + ?Sized> Calls for B {}

/// The result of a call. If the deadline passes first, an error.
pub(crate) async fn within<T>(
    request: Request<'_>,
    call: impl Future<Output = Result<T>>,
) -> Result<T> {
    match request.deadline {
        None => call.await,
        Some(deadline) => match tokio::time::timeout_at(deadline, call).await {
            Ok(result) => result,
            Err(_) => Err(Error::Deadline(request.method.to_owned())),
        },
    }
}
