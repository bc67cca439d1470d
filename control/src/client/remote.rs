//! A [`Backend`] that is another instance.

use std::{future::Future, pin::Pin};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{connection::Connection, discover::Endpoint, error::ClientError};
use crate::{
    authority::check_elsewhere,
    backend::{Backend, Calling, Events, Request, Subscribing, within},
    caller::Caller,
    error::{Error, Result},
    methods::{
        self, Method,
        events::{Subscribe, SubscribeParams},
    },
};

/// Another instance, which is called over its Unix socket or its port.
///
/// Each call uses its own connection, because an instance answers the requests of one connection in order. Idle
/// connections are reused. Dropping a call closes its connection, and the instance then abandons the call.
pub struct Remote {
    endpoint: Endpoint,
    login: Value,
    idle: Mutex<Vec<Connection>>,
}

impl Remote {
    /// Creates the backend for an endpoint. `client`: the name of the client, if any.
    pub fn new(endpoint: Endpoint, client: Option<&str>) -> Self {
        Self::with_login(endpoint, client, false)
    }

    /// Creates the backend for a client that is an agent. The instance treats its calls like those of its own agents.
    pub fn for_agent(endpoint: Endpoint, client: Option<&str>) -> Self {
        Self::with_login(endpoint, client, true)
    }

    fn with_login(endpoint: Endpoint, client: Option<&str>, is_agent: bool) -> Self {
        let login = json!({ "token": endpoint.token, "client": client, "agent": is_agent });
        Self { endpoint, login, idle: Mutex::default() }
    }

    /// The endpoint of the instance.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Opens the connection for the first call.
    ///
    /// # Errors
    /// The instance has ended or refuses the login.
    pub async fn connect(&self) -> std::result::Result<(), ClientError> {
        let connection = self.log_in().await?;
        self.idle.lock().push(connection);
        Ok(())
    }

    /// A connection that no call is using: an idle one or a new one.
    async fn connection(&self) -> std::result::Result<Connection, ClientError> {
        loop {
            let kept = self.idle.lock().pop();
            let Some(mut kept) = kept else {
                return self.log_in().await;
            };
            if kept.is_open().await {
                return Ok(kept);
            }
        }
    }

    /// Calls a method that this version of Unterm may not know. So only the other instance checks the caller's rights.
    pub(super) async fn call_unlisted(&self, request: Request<'_>) -> Result<Vec<u8>> {
        within(request, self.carry(request)).await
    }

    async fn carry(&self, request: Request<'_>) -> Result<Vec<u8>> {
        let mut connection = self.connection().await?;
        let reply = connection.call(request.method, request.params).await;
        if !matches!(reply, Err(ClientError::Io(_) | ClientError::Reply(_))) {
            self.idle.lock().push(connection);
        }
        Ok(reply?.into_bytes())
    }

    /// Opens a connection. If this connection is closed during a call, the instance notices that immediately.
    async fn log_in(&self) -> std::result::Result<Connection, ClientError> {
        let connection = Connection::login(&self.endpoint, &self.login).await?;
        connection.reset_on_close()?;
        Ok(connection)
    }
}

/// Whether a caller may call a method of another instance.
fn check(caller: &Caller, method: &str) -> Result<()> {
    match methods::find(method) {
        Some(entry) => check_elsewhere(caller, &entry.demand),
        None => Err(Error::Unknown(method.to_owned())),
    }
}

impl Backend for Remote {
    fn call_json<'a>(&'a self, caller: &'a Caller, request: Request<'a>) -> Calling<'a> {
        Box::pin(async move {
            check(caller, request.method)?;
            within(request, self.carry(request)).await
        })
    }

    fn subscribe<'a>(&'a self, caller: &'a Caller, filter: SubscribeParams<'a>) -> Subscribing<'a> {
        let filter = serde_json::to_string(&filter).map_err(Error::Params);
        Box::pin(async move {
            check(caller, Subscribe::NAME)?;
            let mut connection = self.connection().await?;
            connection.call(Subscribe::NAME, &filter?).await?;
            Ok(Box::new(Subscribed(connection)) as Box<dyn Events>)
        })
    }
}

/// A connection that has subscribed to events. It is never used for calls again.
struct Subscribed(Connection);

impl Events for Subscribed {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<Value>> + Send + '_>> {
        Box::pin(async {
            let event = self.0.event().await;
            event.inspect_err(|error| tracing::debug!(%error, "a subscription ended")).ok()
        })
    }
}
