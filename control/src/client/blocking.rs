//! Calls an instance's methods from code that may block.

use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::{
    blocking_stream::BlockingStream,
    connection::Connection,
    discover::{Endpoint, find},
    error::ClientError,
    remote::Remote,
};
use crate::{
    backend::{Backend, Calls, Events, Request},
    caller::Caller,
    error::{Error, Result},
    methods::{Method, events::SubscribeParams},
};

/// A connection to an instance, with the rights of the instance's user.
pub struct Client {
    remote: Remote,
    caller: Caller,
    runtime: Runtime,
}

impl Client {
    /// Connects to an instance that is registered in `home`: the first instance that answers, in the order of [`find`].
    pub fn connect(home: &Path) -> Result<Self, ClientError> {
        let mut refusal = None;
        for endpoint in find(home) {
            match Self::connect_to(&endpoint) {
                Err(error @ ClientError::Call { .. }) => refusal = refusal.or(Some(error)),
                Err(_) => {}
                connected => return connected,
            }
        }
        Err(refusal.unwrap_or_else(|| ClientError::NotRunning { home: home.to_owned() }))
    }

    /// The instance that this client calls.
    pub fn endpoint(&self) -> &Endpoint {
        self.remote.endpoint()
    }

    /// Connects to an instance as `unterm-cli`, and logs in.
    pub fn connect_to(endpoint: &Endpoint) -> Result<Self, ClientError> {
        Self::connect_as(endpoint, Some("unterm-cli"))
    }

    /// Connects to an instance under this client name, or without a name, and logs in.
    pub fn connect_as(endpoint: &Endpoint, name: Option<&str>) -> Result<Self, ClientError> {
        let runtime = runtime()?;
        let remote = Remote::new(endpoint.clone(), name);
        runtime.block_on(remote.connect())?;
        Ok(Self { remote, caller: Caller::of_user(name), runtime })
    }

    /// Connects and switches to the Model Context Protocol. `toolset`: the name of a toolset; empty for the default
    /// one. Each line of the returned stream is a message. `UNTERM_TOKEN` replaces the instance's own token.
    pub fn model_context(
        endpoint: &Endpoint,
        toolset: &str,
    ) -> Result<BlockingStream, ClientError> {
        let given = std::env::var("UNTERM_TOKEN").ok().filter(|token| !token.is_empty());
        let token = given.as_deref().unwrap_or(&endpoint.token);
        let login = json!({
            "token": token,
            "client": "mcp",
            "mcp": toolset,
            "cwd": std::env::current_dir().ok(),
        });
        let runtime = runtime()?;
        let connection = runtime.block_on(Connection::login(endpoint, &login))?;
        let _guard = runtime.enter();
        Ok(connection.into_stream().into_blocking()?)
    }

    /// Connects and switches to the dialect of tmux. Each line of the returned stream is a message
    /// ([`tmux`](crate::tmux)). `UNTERM_TOKEN` replaces the instance's own token.
    pub fn tmux(endpoint: &Endpoint) -> Result<BlockingStream, ClientError> {
        let given = std::env::var("UNTERM_TOKEN").ok().filter(|token| !token.is_empty());
        let token = given.as_deref().unwrap_or(&endpoint.token);
        let login = json!({ "token": token, "client": "tmux", "tmux": true });
        let runtime = runtime()?;
        let connection = runtime.block_on(Connection::login(endpoint, &login))?;
        let _guard = runtime.enter();
        Ok(connection.into_stream().into_blocking()?)
    }

    /// Calls a method, and waits for its reply without a time limit.
    ///
    /// # Errors
    /// The instance refused the call or has ended.
    pub fn call<M: Method>(&self, params: M::Params<'_>) -> Result<M::Reply>
    where
        for<'a> M::Params<'a>: Serialize,
        M::Reply: DeserializeOwned,
    {
        self.runtime.block_on(self.remote.call::<M>(&self.caller, params))
    }

    /// Calls a method by its name, and waits for its reply without a time limit.
    ///
    /// # Errors
    /// The errors of [`Client::call`], or the parameters can't be converted to JSON.
    pub fn call_by_name(&self, method: &str, params: impl Serialize) -> Result<Value> {
        let params = serde_json::to_string(&params).map_err(Error::Params)?;
        let request = Request { method, params: &params, deadline: None };
        let reply = self.runtime.block_on(self.remote.call_unlisted(request))?;
        serde_json::from_slice(&reply).map_err(|error| ClientError::Reply(error.to_string()).into())
    }

    /// Subscribes to events.
    ///
    /// # Errors
    /// The instance refused the subscription or has ended.
    pub fn subscribe(&self, filter: SubscribeParams<'_>) -> Result<Subscription<'_>> {
        let events = self.runtime.block_on(self.remote.subscribe(&self.caller, filter))?;
        Ok(Subscription { events, runtime: &self.runtime })
    }
}

/// Events of an instance.
pub struct Subscription<'a> {
    events: Box<dyn Events>,
    runtime: &'a Runtime,
}

impl Iterator for Subscription<'_> {
    type Item = Value;

    /// Waits for the next event without a time limit. `None` if the instance has ended.
    fn next(&mut self) -> Option<Value> {
        self.runtime.block_on(self.events.next())
    }
}

/// The runtime of a connection. It runs only while the caller waits.
fn runtime() -> Result<Runtime, ClientError> {
    Ok(Builder::new_current_thread().enable_io().enable_time().build()?)
}
