//! A client's session of the Model Context Protocol.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::{
    call::{CallReply, call},
    services::Services,
    tokens::Token,
    tool::{ToolRow, Toolset},
};

/// A session.
pub struct Session {
    hub: Arc<Services>,
    toolset: Toolset,
    /// The token of a stream. Over streamable HTTP, each request contains a token.
    token: Option<Token>,
}

impl Session {
    /// Creates a session. `token`: the token of all its requests. If it is `None`, each request has a token in its
    /// extensions.
    pub fn new(hub: Arc<Services>, toolset: Toolset, token: Option<Token>) -> Self {
        Self { hub, toolset, token }
    }

    /// The token of a request, if it is still valid: a stream may last longer than its token.
    async fn token(&self, context: &RequestContext<RoleServer>) -> Result<Token, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let given = parts.and_then(|parts| parts.extensions.get::<Token>()).or(self.token.as_ref());
        let given =
            given.ok_or_else(|| ErrorData::internal_error("The request has no token", None))?;
        match self.hub.tokens.by_id(&given.id).await {
            Ok(Some(token)) => Ok(token),
            Ok(None) => {
                Err(ErrorData::invalid_request("The token has expired or was revoked", None))
            }
            Err(error) => {
                let why = format!("The fleet's store does not answer: {error:#}");
                Err(ErrorData::internal_error(why, None))
            }
        }
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("unterm-hub", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name.with_title("Unterm fleet"))
            .with_instructions(self.toolset.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.toolset.tools().map(ToolRow::listed).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.toolset.find(name).map(ToolRow::listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.toolset.find(&request.name) else {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None));
        };
        let token = self.token(&context).await?;
        self.hub.tokens.used(&token).await;
        let hub = self.hub.clone();
        let given = request.arguments.unwrap_or_default();
        let text = |text: String| vec![ContentBlock::text(text)];
        let Some(permit) = hub.call_limit.acquire(&token.id) else {
            let why = "[error: too many calls run at the same time; wait for some of them]";
            return Ok(CallToolResult::error(text(why.to_owned())).into());
        };
        // A call that has begun is executed and logged even if its client disconnects.
        let answer = tokio::spawn(async move {
            let _permit = permit;
            call(&hub, &token, tool, given).await
        });
        Ok(match answer.await {
            Ok(CallReply::Done(result)) => result,
            Ok(CallReply::Held(reply)) => CallToolResult::success(text(reply)),
            Ok(CallReply::Refused(why)) => CallToolResult::error(text(why)),
            Err(error) => {
                tracing::error!(%error, tool = tool.name, "a call panicked");
                CallToolResult::error(text("[error: the hub failed]".to_owned()))
            }
        }
        .into())
    }
}
