//! Calls the tools of an instance, as a client of the Model Context Protocol.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf},
    sync::{mpsc, oneshot},
};

use super::{connection::Connection, discover::Endpoint, stream::Stream};

/// The maximum number of concurrent calls. Further calls wait.
const MOST_CALLS: usize = 16;
/// The id of a connection's first request. The ids of calls follow it.
const HELLO: u64 = 1;

/// A connection to an instance's tools. Dropping the last clone closes it.
#[derive(Clone)]
pub struct Tools {
    send: mpsc::Sender<Outgoing>,
    last: Arc<AtomicU64>,
    client: Arc<str>,
}

/// A message to send.
enum Outgoing {
    /// A request, and the receiver of its reply.
    Call(u64, Value, oneshot::Sender<Value>),
    /// The request with this id was canceled.
    Cancel(u64),
}

impl Tools {
    /// Connects under a client's name. `folder`: the folder in which the client was started.
    ///
    /// # Errors
    /// The instance can't be reached, or refuses.
    pub async fn connect(
        endpoint: &Endpoint,
        client: Option<&str>,
        toolset: &str,
        folder: Option<&str>,
    ) -> io::Result<Self> {
        let login =
            json!({"token": endpoint.token, "client": client, "mcp": toolset, "cwd": folder});
        let client: Arc<str> = client.unwrap_or_default().into();
        let connection = Connection::login(endpoint, &login).await.map_err(io::Error::other)?;
        let (read, mut write) = tokio::io::split(connection.into_stream());
        let mut lines = BufReader::new(read).lines();
        let hello = request(&client, HELLO, "server/discover", json!({}));
        write.write_all(format!("{hello}\n").as_bytes()).await?;
        let reply = lines.next_line().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let reply: Value = serde_json::from_str(&reply)?;
        if let Some(why) = reply["error"]["message"].as_str() {
            return Err(io::Error::other(why));
        }
        let (send, outgoing) = mpsc::channel(MOST_CALLS);
        tokio::spawn(async move {
            if let Err(error) = carry(lines, write, outgoing).await {
                tracing::debug!(%error, "a connection to an instance's tools broke");
            }
        });
        Ok(Self { send, last: Arc::new(AtomicU64::new(HELLO)), client })
    }

    /// Whether the connection is still open.
    pub fn is_open(&self) -> bool {
        !self.send.is_closed()
    }

    /// Calls a tool, and returns the protocol's message with its `result` or `error`. Dropping the call cancels it.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> io::Result<Value> {
        let broke = || io::Error::from(io::ErrorKind::BrokenPipe);
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let params = json!({"name": tool, "arguments": arguments});
        let request = request(&self.client, id, "tools/call", params);
        let (reply, replied) = oneshot::channel();
        self.send.send(Outgoing::Call(id, request, reply)).await.map_err(|_| broke())?;
        // If the caller gives up, the instance must not execute the call. Dropping `Call` cancels it.
        let mut call = Call { tools: self, id, is_over: false };
        let reply = replied.await.map_err(|_| broke());
        call.is_over = true;
        reply
    }
}

/// Builds a stateless request on behalf of a client with this name.
fn request(client: &str, id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": client, "version": crate::VERSION},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A running call. Dropping it cancels the call.
struct Call<'a> {
    tools: &'a Tools,
    id: u64,
    is_over: bool,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // If the queue is full, the cancellation is lost, and the call ends with its connection.
            let _ = self.tools.send.try_send(Outgoing::Cancel(self.id));
        }
    }
}

/// Forwards requests and replies, until the instance disconnects or the last [`Tools`] is dropped.
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
                    // The caller may have given up a moment ago.
                    let _ = reply_to.send(reply);
                }
            }
        }
    }
}
