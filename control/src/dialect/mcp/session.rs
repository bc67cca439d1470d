//! A client's MCP session: announces the server's features, and passes tool calls to the dispatcher.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::http::request::Parts;
use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
        ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
        SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::Instant,
};

use super::{
    approve::{Approved, approve, log_refusal},
    error_messages::Speaker,
    lines::serve_lines,
    pending_replies::PendingReplies,
    prompts,
    resources::{self, Address, Watched},
    server::Server,
    stateless_clients::{ClientIdentity, SESSION},
    tool::{Ask, Hints, Progress, ToolEntry, Toolset, failed},
};
use crate::{
    caller::{Caller, LONGEST_NAME},
    dispatch::{panic_message, unwound},
    offload,
    registry::held::Hold,
    services::limits::message_budget::SHORT,
};

/// The maximum number of concurrent calls of one session. A further call is refused.
const MOST_CALLS: usize = 64;

/// The requests that have a required parameter, in all versions of the protocol.
const REQUIRED: [(&str, &str); 3] =
    [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")];

/// A client's session.
pub struct Session {
    server: Arc<Server>,
    toolset: &'static Toolset,
    base: Base,
    /// The folder in which the client was started. `None` if the client did not send it.
    folder: Option<String>,
    /// The client's name, as the other parts of Unterm receive it.
    reported_client: Mutex<Option<String>>,
    /// The subscriptions of a client that uses `initialize`.
    watched: Mutex<Watched>,
    places: Semaphore,
    /// Keeps an instance alive that ends with its clients. A session over HTTP holds it in [`Base::Http`] instead.
    _hold: Option<Hold>,
}

/// The owner of a session.
enum Base {
    /// A connection. Contains its caller, under the client name in the requests, and the signal that the client sends
    /// no more requests.
    Connection(Caller, watch::Receiver<bool>),
    /// Requests over HTTP, each with its own token. A session with `initialize` has a number, under which it holds
    /// leases and other state. It also keeps the instance alive, beginning with the first request that reads or acts.
    Http(OnceLock<(u64, Option<Hold>)>),
}

/// Whether the client of a request over HTTP has ended its session while it still waits for the reply. Each such
/// request contains this value as an extension.
#[derive(Clone)]
pub struct SessionEnd(pub watch::Receiver<bool>);

impl Session {
    /// The session of a connection that has logged in.
    pub fn of_connection(
        server: Arc<Server>,
        caller: Caller,
        toolset: &'static Toolset,
        folder: Option<String>,
        gone: watch::Receiver<bool>,
    ) -> Self {
        let reported_client = caller.client.clone();
        // A relay sends its folder. It keeps the instance alive by itself, so the session need not.
        let registration = &server.dispatcher.context().registration;
        let hold = if folder.is_some() { None } else { registration.hold() };
        let base = Base::Connection(caller.for_agent(), gone);
        let mut session = Self::new(server, base, toolset, reported_client);
        session.folder = folder;
        session._hold = hold;
        session
    }

    /// A session for requests over HTTP. The extensions of each request contain its [`Caller`].
    pub fn of_http(server: Arc<Server>, toolset: &'static Toolset) -> Self {
        Self::new(server, Base::Http(OnceLock::new()), toolset, None)
    }

    fn new(
        server: Arc<Server>,
        base: Base,
        toolset: &'static Toolset,
        reported_client: Option<String>,
    ) -> Self {
        let places = Semaphore::new(MOST_CALLS);
        Self {
            server,
            toolset,
            base,
            folder: None,
            reported_client: Mutex::new(reported_client),
            watched: Mutex::default(),
            places,
            _hold: None,
        }
    }

    /// The caller that sends a request.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let info = context.client_info();
        let short = |text: &str| text.chars().take(LONGEST_NAME).collect::<String>();
        let name = info.as_ref().map(|client| short(&client.name));
        let mut caller = match &self.base {
            Base::Connection(caller, _) => caller.clone(),
            Base::Http(connection) => {
                let parts = context.extensions.get::<Parts>();
                let asks = parts.and_then(|parts| {
                    let caller = parts.extensions.get::<Caller>()?;
                    Some((caller.clone(), &parts.headers))
                });
                let (caller, headers) =
                    asks.ok_or_else(|| ErrorData::internal_error("Nobody asks", None))?;
                if context.meta.protocol_version().is_some() {
                    // A client without a session gets the same number as in its earlier requests, so that it keeps its
                    // leases and jobs.
                    let version = info.map(|client| short(&client.version));
                    let who = ClientIdentity::of(&caller, name, version, headers);
                    return Ok(self.server.number(caller, who));
                }
                let dispatcher = &self.server.dispatcher;
                let begin =
                    || (dispatcher.next_connection(), dispatcher.context().registration.hold());
                let connection = connection.get_or_init(begin).0;
                Caller { connection, ..caller.for_agent() }
            }
        };
        if name.is_some() {
            caller.client = name;
        }
        let mut reported_client = self.reported_client.lock();
        if *reported_client != caller.client {
            reported_client.clone_from(&caller.client);
            self.server.dispatcher.logged_in(&caller);
        }
        Ok(caller)
    }

    /// Whether several clients may share this caller. True if its requests are stateless and name neither a session nor
    /// a conversation ([`ClientIdentity`]).
    fn is_shared(&self, caller: &Caller, context: &RequestContext<RoleServer>) -> bool {
        let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
        matches!(self.base, Base::Http(_))
            && context.meta.protocol_version().is_some()
            && caller.conversation.is_none()
            && headers.is_none_or(|headers| !headers.contains_key(SESSION))
    }

    /// Completes when the connection shows that the client will not send further requests.
    async fn gone(&self) {
        if let Base::Connection(_, gone) = &self.base
            && gone.clone().wait_for(|gone| *gone).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }

    /// Starts to notify a client that uses `initialize` of changes of the list of resources.
    async fn watch_list(&self, caller: &Caller, context: &RequestContext<RoleServer>) {
        const LIST: &str = "";
        if self.watched.lock().has(LIST) {
            return;
        }
        let Some(changes) = resources::changes(&self.server, caller).await else { return };
        let (server, caller, peer) = (self.server.clone(), caller.clone(), context.peer.clone());
        let task = tokio::spawn(async move {
            let notify = || async { peer.notify_resource_list_changed().await.is_ok() };
            resources::watch_list(&server, &caller, changes, notify).await;
        });
        self.watched.lock().add(LIST.to_owned(), task.abort_handle());
    }

    /// The result that the model reads if its call is refused, or fails because of a bug in Unterm.
    fn refused(&self, why: &str) -> CallToolResult {
        failed(&(self.toolset.refusal)(why))
    }

    /// The context in which a tool of this session's client runs.
    fn ask<'a>(
        &'a self,
        tool: &ToolEntry,
        caller: &'a Caller,
        context: &'a RequestContext<RoleServer>,
        held: Duration,
    ) -> Ask<'a> {
        let token = context.meta.get_progress_token();
        Ask {
            server: &self.server,
            caller,
            toolset: self.toolset.name,
            speaker: Speaker {
                tool: tool.name,
                noun: self.toolset.noun,
                advises: self.toolset.advises,
            },
            folder: self.folder.as_deref(),
            is_shared: self.is_shared(caller, context),
            gone: match &self.base {
                Base::Connection(_, gone) => Some(gone),
                Base::Http(_) => {
                    let parts = context.extensions.get::<Parts>();
                    parts.and_then(|parts| parts.extensions.get()).map(|SessionEnd(gone)| gone)
                }
            },
            held,
            progress: token.map(|token| Progress { context, token }),
        }
    }

    fn find(&self, name: &str) -> Option<&'static ToolEntry> {
        self.toolset.tools.iter().find(|tool| tool.name == name)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Base::Http(connection) = &self.base
            && let Some((connection, _)) = connection.get()
        {
            self.server.release(*connection);
        }
    }
}

/// A tool in the form in which clients list it.
pub fn described(tool: &ToolEntry) -> Tool {
    let (mut arguments, reply) = (tool.listed)();
    if !tool.unlisted.is_empty()
        && let Some(Value::Object(properties)) = Arc::make_mut(&mut arguments).get_mut("properties")
    {
        properties.retain(|name, _| !tool.unlisted.contains(&&**name));
    }
    let described = Tool::new(tool.name, tool.doc, arguments)
        .with_title(tool.title)
        .with_annotations(tool.hints.annotations());
    match reply {
        Some(reply) => described.with_raw_output_schema(reply),
        None => described,
    }
}

#[allow(deprecated, reason = "clients of the older era subscribe that way")]
impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
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

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(self.toolset.name)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(prompts::get(self.toolset.name, &request.name, &arguments)?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context)?;
        if context.meta.protocol_version().is_none() {
            self.watch_list(&caller, &context).await;
        }
        let resources = resources::list(&self.server, &caller).await;
        let resources = resources.map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context)?;
        Ok(resources::read(&self.server, &caller, &request.uri).await?.into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(resources::accepted(requested))
    }

    /// Serves the subscriptions of a stateless client, for as long as the client listens.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let caller = self.caller(context.request_context())?;
        let accepted = context.accepted();
        let mut tasks = JoinSet::new();
        for uri in accepted.resource_subscriptions.iter().flatten() {
            let Some(address) = Address::parse(uri) else { continue };
            let (server, caller) = (self.server.clone(), caller.clone());
            let (sink, uri) = (context.sink().clone(), uri.clone());
            tasks.spawn(async move {
                let notify = || async { sink.notify_resource_updated(uri.clone()).await.is_ok() };
                resources::watch(&server, &caller, &address, notify).await;
            });
        }
        if accepted.resources_list_changed == Some(true)
            && let Some(changes) = resources::changes(&self.server, &caller).await
        {
            let (server, caller) = (self.server.clone(), caller.clone());
            let sink = context.sink().clone();
            tasks.spawn(async move {
                let notify = || async { sink.notify_resource_list_changed().await.is_ok() };
                resources::watch_list(&server, &caller, changes, notify).await;
            });
        }
        tokio::select! {
            () = context.cancelled() => {}
            () = self.gone() => {}
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        let uri = request.uri;
        let Some(address) = Address::parse(&uri) else {
            return Err(ErrorData::resource_not_found(format!("{uri}: there is nothing"), None));
        };
        let mut watched = self.watched.lock();
        if !watched.has_room() && !watched.has(&uri) {
            let why = "There are too many subscriptions; end some of them";
            return Err(ErrorData::invalid_params(why, None));
        }
        let (server, peer, watched_uri) = (self.server.clone(), context.peer.clone(), uri.clone());
        let task = tokio::spawn(async move {
            let note = || ResourceUpdatedNotificationParam::new(watched_uri.clone());
            let notify = || async { peer.notify_resource_updated(note()).await.is_ok() };
            resources::watch(&server, &caller, &address, notify).await;
        });
        watched.add(uri, task.abort_handle());
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched.lock().remove(&request.uri);
        Ok(())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.find(name).map(described)
    }

    /// Refuses a request that rmcp could not parse. rmcp passes a known method with wrong parameters here, as if the
    /// method were unknown.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        match REQUIRED.iter().find(|(known, _)| *known == method) {
            Some((_, parameter)) => Err(ErrorData::invalid_params(
                format!(
                    "{method} needs the string `{parameter}`, and its other parameters in the form of the protocol"
                ),
                None,
            )),
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let values = request.arguments.iter().flat_map(JsonObject::values);
        let is_long = length(values, SHORT) > SHORT;
        offload::long_polls(self.call(request, context), || is_long).await
    }
}

/// The approximate length of values in bytes. If it exceeds `most`, counting stops, and the result is only known to be
/// larger.
fn length<'v>(values: impl IntoIterator<Item = &'v Value>, most: usize) -> usize {
    let mut total = 0;
    for value in values {
        if total > most {
            break;
        }
        total += match value {
            Value::String(text) => text.len(),
            Value::Array(list) => length(list, most - total),
            Value::Object(object) => length(object.values(), most - total),
            _ => 0,
        } + 8;
    }
    total
}

impl Session {
    /// Executes a tool call.
    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.find(&request.name) else {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None));
        };
        let Ok(_place) = self.places.try_acquire() else {
            return Ok(self
                .refused("There are too many calls at once; wait for some of them")
                .into());
        };
        let mut caller = self.caller(&context)?;
        let start = Instant::now();
        if tool.hints != Hints::Looks {
            // Calls that are refused anyway are refused here, before the user is asked to approve them.
            let no_arguments = JsonObject::new();
            let given = request.arguments.as_ref().unwrap_or(&no_arguments);
            let ask = self.ask(tool, &caller, &context, Duration::ZERO);
            if let Some(refused) = (tool.refuses)(&ask, given) {
                return Ok(refused.into());
            }
            let approved = tokio::select! {
                biased;
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("Canceled", None)),
                approved = approve(&self.server, &caller, &request, &context) => approved,
            };
            match approved {
                Approved::Yes(approved) => caller.approved = Some(approved),
                Approved::Asks(asks) => return Ok((*asks).into()),
                Approved::No(why) => {
                    log_refusal(&self.server, &caller, &request, &why);
                    return Ok(self.refused(&why).into());
                }
            }
        }
        self.server
            .dispatcher
            .check_token(&caller)
            .map_err(|error| ErrorData::invalid_request(error.to_string(), None))?;
        let ask = self.ask(tool, &caller, &context, start.elapsed());
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(ErrorData::internal_error("Canceled", None)),
            result = unwound((tool.call)(&ask, arguments)) => Ok(result
                .unwrap_or_else(|panic| {
                    let message = panic_message(panic.as_ref());
                    tracing::error!(tool = tool.name, message, "a tool panicked");
                    self.refused(&format!("Internal error: {message}"))
                })
                .into()),
        }
    }
}

/// Serves a client that has logged in, until it disconnects. `folder`: where the client was started. `pending`: the
/// reservation that is held meanwhile.
pub async fn serve(
    server: Arc<Server>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    caller: Caller,
    toolset: &'static Toolset,
    folder: Option<String>,
    pending: PendingReplies,
) {
    let connection = caller.connection;
    let reservation = server.dispatcher.context().limits.message_budget.reserve(caller.token);
    let session = |gone| Session::of_connection(server.clone(), caller, toolset, folder, gone);
    serve_lines(session, reader, writer, pending, reservation).await;
    tracing::debug!(connection, "a client of the Model Context Protocol went");
    server.forget(connection).await;
}
