//! Calls that act on a session of another instance. The other instance's toolset carries them out, over a connection that is
//! kept for each client. So that instance's approvals, rules and audit log apply.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf},
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{
    find::Terminal,
    json::error,
    memory::{Line, Outgoing},
};
use crate::{
    authority::check_scope,
    caller::Access,
    client::{Connection, Endpoint, Stream},
    dialect::mcp::{tool::Ask, tool_result::ToolResult},
};

/// The longest wait for the other instance, which responds sooner unless this instance's person was asked first.
const LONGEST: Duration = Duration::from_secs(55);
/// The most concurrent calls of one client to an instance. Further calls wait.
const ON_THE_WAY: usize = 16;
const BROKE: &str = "The connection to the session's instance broke";

/// Calls a tool on the instance of the session that the argument `key` names.
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
    let line = line(ask, endpoint).await.map_err(error)?;
    let id = line.last.fetch_add(1, Ordering::Relaxed) + 1;
    let request = request(ask, id, "tools/call", json!({"name": tool, "arguments": arguments}));
    let (reply, replied) = oneshot::channel();
    line.send.send(Outgoing::Call(id, request, reply)).await.map_err(|_| error(BROKE))?;
    // A call whose client has given up must not be carried out.
    let mut asking = Asking { line: &line, id, is_over: false };
    match timeout(LONGEST.saturating_sub(ask.held), replied).await {
        Ok(Ok(reply)) => {
            asking.is_over = true;
            said(&reply)
        }
        Ok(Err(_)) => Err(error(BROKE)),
        Err(_) => Err(error(
            "The session's instance has not answered yet. Make the same call again to go on waiting.",
        )),
    }
}

/// If the session belongs to another instance, calls the tool there and returns the result. `$key` is the argument that
/// names the session.
macro_rules! there {
    ($ask:ident, $terminal:expr, $key:literal, $given:ident) => {
        if let Some(endpoint) = $terminal.elsewhere() {
            let named = ($key, &$given);
            return $crate::dialect::mcp::iterm::far::call(
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
fn said(reply: &Value) -> Result<Value, Value> {
    if let Some(why) = reply["error"]["message"].as_str() {
        return Err(error(why));
    }
    let result = &reply["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    match (serde_json::from_str::<Value>(text), result["isError"] == true) {
        (Ok(said), false) => Ok(said),
        (Ok(said @ Value::Object(_)), true) => Err(said),
        // An instance of another version may return a plain-text error.
        _ => Err(error(text)),
    }
}

/// Builds a stateless request in the client's name.
fn request(ask: &Ask<'_>, id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {
            "name": ask.caller.client.as_deref().unwrap_or_default(),
            "version": crate::VERSION,
        },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A running call. Dropping it cancels the call.
struct Asking<'a> {
    line: &'a Line,
    id: u64,
    is_over: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // If the queue is full, the call ends with its connection.
            let _ = self.line.send.try_send(Outgoing::Cancel(self.id));
        }
    }
}

/// The caller's connection to an instance: the existing one or a new one.
async fn line(ask: &Ask<'_>, endpoint: &Endpoint) -> ToolResult<Line> {
    let connection = ask.caller.connection;
    {
        let memory = ask.server.iterm.0.lock();
        let known = memory.get(&connection).and_then(|of| of.lines.get(&endpoint.port));
        if let Some(line) = known.filter(|line| !line.send.is_closed()) {
            return Ok(line.clone());
        }
    }
    let (lines, write) = connect(ask, endpoint).await.map_err(|why| format!("{BROKE}: {why}"))?;
    let (send, outgoing) = mpsc::channel(ON_THE_WAY);
    tokio::spawn(async move {
        if let Err(error) = carry(lines, write, outgoing).await {
            tracing::debug!(%error, "a line to another instance broke");
        }
    });
    let line = Line { send, last: Arc::new(AtomicU64::new(HELLO)) };
    let mut memory = ask.server.iterm.0.lock();
    memory.entry(connection).or_default().lines.insert(endpoint.port, line.clone());
    Ok(line)
}

/// The id of a connection's first request. The ids of calls follow.
const HELLO: u64 = 1;

/// Logs in and switches to the protocol.
async fn connect(
    ask: &Ask<'_>,
    endpoint: &Endpoint,
) -> io::Result<(Lines<BufReader<ReadHalf<Stream>>>, WriteHalf<Stream>)> {
    let login = json!({
        "token": endpoint.token,
        "client": ask.caller.client,
        "mcp": ask.toolset,
        "cwd": ask.folder,
    });
    let connection = Connection::login(endpoint, &login).await.map_err(io::Error::other)?;
    let (read, mut write) = tokio::io::split(connection.into_stream());
    let mut lines = BufReader::new(read).lines();
    let hello = request(ask, HELLO, "server/discover", json!({}));
    write.write_all(format!("{hello}\n").as_bytes()).await?;
    let reply = lines.next_line().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let reply: Value = serde_json::from_str(&reply)?;
    if let Some(why) = reply["error"]["message"].as_str() {
        return Err(io::Error::other(why));
    }
    Ok((lines, write))
}

/// Forwards requests and replies, until the other instance or the last client here disconnects.
async fn carry(
    mut lines: Lines<BufReader<ReadHalf<Stream>>>,
    mut write: WriteHalf<Stream>,
    mut outgoing: mpsc::Receiver<Outgoing>,
) -> io::Result<()> {
    let mut waiting: HashMap<u64, oneshot::Sender<Value>> = HashMap::new();
    loop {
        tokio::select! {
            out = outgoing.recv() => {
                let message = match out {
                    None => return Ok(()),
                    Some(Outgoing::Call(id, request, reply)) => {
                        waiting.insert(id, reply);
                        request
                    }
                    Some(Outgoing::Cancel(id)) => {
                        waiting.remove(&id);
                        let method = "notifications/cancelled";
                        json!({"jsonrpc": "2.0", "method": method, "params": {"requestId": id}})
                    }
                };
                write.write_all(format!("{message}\n").as_bytes()).await?;
            }
            line = lines.next_line() => {
                let Some(line) = line? else { return Ok(()) };
                let reply: Value = serde_json::from_str(&line)?;
                let reply_to = reply["id"].as_u64().and_then(|id| waiting.remove(&id));
                if let Some(reply_to) = reply_to {
                    // The caller may have just given up.
                    let _ = reply_to.send(reply);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_there_is_said_here() {
        let result = |text: &str, is_error| {
            said(
                &json!({"result": {"content": [{"type": "text", "text": text}], "isError": is_error}}),
            )
        };
        assert_eq!(result(r#"{"status":"sent"}"#, false), Ok(json!({"status": "sent"})));
        assert_eq!(result(r#"{"error":"No"}"#, true), Err(json!({"error": "No"})));
        assert_eq!(result("The person says no", true), Err(error("The person says no")));
        let broken = json!({"error": {"code": -32602, "message": "Unknown tool"}});
        assert_eq!(said(&broken), Err(error("Unknown tool")));
    }
}
