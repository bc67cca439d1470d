//! Executes calls: in this instance, or in another one.
//!
//! Owns the contract between a caller and the backend that executes its calls. The dispatcher is the backend of this process, and
//! [`Remote`](crate::client::Remote) is that of another instance. The tools of agents call methods by type ([`Calls::call`]): they
//! never spell a method or a field, and do not depend on the backend.

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
    /// Its parameters, as JSON; empty: none.
    pub params: &'a str,
    /// When the call is given up.
    pub deadline: Option<Instant>,
}

/// A call under way. Dropping it cancels the call.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>>> + Send + 'a>>;
/// A subscription under way.
pub type Subscribing<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Events>>> + Send + 'a>>;

/// Executes calls of methods.
pub trait Backend: Send + Sync {
    /// Calls a method and returns its reply as JSON. The authority of the executing instance decides whether the caller may make
    /// the call.
    fn call_json<'a>(&'a self, caller: &'a Caller, request: Request<'a>) -> Calling<'a>;

    /// Subscribes to events, of the kinds and the session that the filter names.
    fn subscribe<'a>(&'a self, caller: &'a Caller, filter: SubscribeParams<'a>) -> Subscribing<'a>;
}

/// The events of a subscription, which ends when this is dropped.
pub trait Events: Send {
    /// The next event. `None`: the instance is gone.
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

    /// The same; gives the call up at its deadline.
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

/// The result of a call, or an error if its deadline passes first.
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
