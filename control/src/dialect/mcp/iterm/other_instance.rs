//! Calls that act on a session of another instance. The toolset of that instance executes them, over a connection that
//! is kept for each client. So that instance's approvals, rules and audit log apply.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{find::Terminal, json::error};
use crate::{
    authority::check_scope,
    caller::Access,
    client::{Endpoint, Tools},
    dialect::mcp::{tool::Ask, tool_result::ToolResult},
};

/// The maximum time of a call, including the wait for an approval in this instance. Without such a wait, the other
/// instance responds sooner.
const LONGEST: Duration = Duration::from_secs(55);
const BROKE: &str = "The connection to the session's instance broke";

/// Calls a tool on the instance of the session. `key`: the argument that contains the session's name.
pub async fn call(
    ask: &Ask<'_>,
    terminal: &Terminal,
    endpoint: &Endpoint,
    tool: &str,
    (key, given): (&str, &Map<String, Value>),
) -> Result<Value, Value> {
    check_scope(ask.caller.scopes, Access::Act, tool).map_err(|why| error(why.to_string()))?;
    let mut arguments = given.clone();
    arguments.insert(key.to_owned(), json!(terminal.id));
    let tools = tools(ask, endpoint).await.map_err(error)?;
    match timeout(LONGEST.saturating_sub(ask.held), tools.call(tool, arguments)).await {
        Ok(Ok(reply)) => result_of(&reply),
        Ok(Err(_)) => Err(error(BROKE)),
        Err(_) => Err(error(
            "The session's instance has not answered yet. Make the same call again to go on waiting.",
        )),
    }
}

/// If the session belongs to another instance, calls the tool there and returns the result. `$key`: the argument that
/// contains the session's name.
macro_rules! there {
    ($ask:ident, $terminal:expr, $key:literal, $given:ident) => {
        if let Some(endpoint) = $terminal.elsewhere() {
            let named = ($key, &$given);
            return $crate::dialect::mcp::iterm::other_instance::call(
                $ask,
                &$terminal,
                endpoint,
                Self::NAME,
                named,
            )
            .await;
        }
    };
}
pub(super) use there;

/// Converts a tool's reply to this instance's form.
fn result_of(reply: &Value) -> Result<Value, Value> {
    if let Some(why) = reply["error"]["message"].as_str() {
        return Err(error(why));
    }
    let result = &reply["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    match (serde_json::from_str::<Value>(text), result["isError"] == true) {
        (Ok(result_of), false) => Ok(result_of),
        (Ok(result_of @ Value::Object(_)), true) => Err(result_of),
        // An instance of another version may return an error as plain text.
        _ => Err(error(text)),
    }
}

/// The caller's connection to an instance: the existing one or a new one.
async fn tools(ask: &Ask<'_>, endpoint: &Endpoint) -> ToolResult<Tools> {
    let connection = ask.caller.connection;
    {
        let memory = ask.server.iterm.0.lock();
        let known = memory.get(&connection).and_then(|of| of.tools.get(&endpoint.port));
        if let Some(tools) = known.filter(|tools| tools.is_open()) {
            return Ok(tools.clone());
        }
    }
    let tools = Tools::connect(endpoint, ask.caller.client.as_deref(), ask.toolset, ask.folder);
    let tools = tools.await.map_err(|why| format!("{BROKE}: {why}"))?;
    let mut memory = ask.server.iterm.0.lock();
    memory.entry(connection).or_default().tools.insert(endpoint.port, tools.clone());
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_another_instance_are_passed_on() {
        let result = |text: &str, is_error| {
            result_of(
                &json!({"result": {"content": [{"type": "text", "text": text}], "isError": is_error}}),
            )
        };
        assert_eq!(result(r#"{"status":"sent"}"#, false), Ok(json!({"status": "sent"})));
        assert_eq!(result(r#"{"error":"No"}"#, true), Err(json!({"error": "No"})));
        assert_eq!(result("The user says no", true), Err(error("The user says no")));
        let broken = json!({"error": {"code": -32602, "message": "Unknown tool"}});
        assert_eq!(result_of(&broken), Err(error("Unknown tool")));
    }
}
