//! A client's session: what it is told of the server, and its calls of tools on their way to the dispatcher.

use std::sync::{Arc, OnceLock};

use axum::http::request::Parts;
use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::{
    Server,
    tool::{Ask, ToolEntry, Toolset, failed},
};
use crate::{
    caller::{Caller, Wire},
    dispatch::{panic_message, unwound},
};

/// Calls of one session at a time; one more is refused.
const MOST_CALLS: usize = 64;
/// Characters of a client's name.
const LONGEST_NAME: usize = 100;

/// A client's session.
pub struct Session {
    server: Arc<Server>,
    toolset: &'static Toolset,
    base: Base,
    /// The name that others were told last.
    told: Mutex<Option<String>>,
    places: Semaphore,
}

/// Whose a session is.
enum Base {
    /// Of a connection's: whoever logged in, under the name that comes with the requests.
    Connection(Caller),
    /// Of whoever brings a right token with a request. A session of the older era has a number of its own for what it
    /// holds, from its first request on.
    Http(OnceLock<u64>),
}

impl Session {
    /// Of a connection that has logged in.
    pub fn of_connection(server: Arc<Server>, caller: Caller, toolset: &'static Toolset) -> Self {
        let told = caller.client.clone();
        Self::new(server, Base::Connection(Caller { wire: Wire::Mcp, ..caller }), toolset, told)
    }

    /// Of requests over HTTP, each with its [`Caller`] in the request's extensions.
    pub fn of_http(server: Arc<Server>, toolset: &'static Toolset) -> Self {
        Self::new(server, Base::Http(OnceLock::new()), toolset, None)
    }

    fn new(
        server: Arc<Server>,
        base: Base,
        toolset: &'static Toolset,
        told: Option<String>,
    ) -> Self {
        let places = Semaphore::new(MOST_CALLS);
        Self { server, toolset, base, told: Mutex::new(told), places }
    }

    /// Who asks.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let name = context.client_info().map(|client| client.name);
        let name = name.map(|name| name.chars().take(LONGEST_NAME).collect::<String>());
        let mut caller = match &self.base {
            Base::Connection(caller) => caller.clone(),
            Base::Http(connection) => {
                let parts = context.extensions.get::<Parts>();
                let caller = parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned();
                let caller =
                    caller.ok_or_else(|| ErrorData::internal_error("Nobody asks", None))?;
                if context.meta.protocol_version().is_some() {
                    // There is no session: what the same client held before is still its own.
                    return Ok(self.server.seats.seated(caller, name, &self.server));
                }
                let next = || self.server.dispatcher.next_connection();
                let connection = *connection.get_or_init(next);
                Caller { wire: Wire::Mcp, connection, ..caller }
            }
        };
        if name.is_some() {
            caller.client = name;
        }
        let mut told = self.told.lock();
        if *told != caller.client {
            told.clone_from(&caller.client);
            self.server.dispatcher.logged_in(&caller);
        }
        Ok(caller)
    }

    fn find(&self, name: &str) -> Option<&'static ToolEntry> {
        self.toolset.tools.iter().find(|tool| tool.name == name)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Base::Http(connection) = &self.base
            && let Some(connection) = connection.get()
        {
            self.server.release(*connection);
        }
    }
}

/// A tool as clients are told of it.
fn described(tool: &ToolEntry) -> Tool {
    Tool::new(tool.name, tool.doc, (tool.arguments)())
        .with_title(tool.title)
        .with_raw_output_schema((tool.reply)())
        .with_annotations(tool.hints.annotations(tool.title))
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("unterm", crate::VERSION).with_title("Unterm"))
            .with_instructions(self.toolset.instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.toolset.tools.iter().map(described).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.find(name).map(described)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.find(&request.name) else {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None));
        };
        let Ok(_place) = self.places.try_acquire() else {
            return Ok(failed("There are too many calls at once; wait for some of them").into());
        };
        let caller = self.caller(&context)?;
        let progress = context.meta.get_progress_token().map(|token| (&context.peer, token));
        let toolset = self.toolset.name;
        let ask = Ask { server: &self.server, caller: &caller, toolset, progress };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(ErrorData::internal_error("Cancelled", None)),
            result = unwound((tool.call)(&ask, arguments)) => Ok(result
                .unwrap_or_else(|panic| {
                    let message = panic_message(panic.as_ref());
                    tracing::error!(tool = tool.name, message, "a tool panicked");
                    failed(&format!("Internal error: {message}"))
                })
                .into()),
        }
    }
}
