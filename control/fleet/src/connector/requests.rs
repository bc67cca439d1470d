//! Answers the requests of hubs.

use std::{sync::Arc, time::Duration};

use async_nats::Message;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    blocked_lines::{Rules, TypingError},
    claims::{Claims, check_id},
    instances::shown_client,
    panes::Panes,
    tools::InstanceTools,
    turns::Turns,
    watches::Watches,
};
use crate::protocol::{
    LONGEST_RESULT, LONGEST_TEXT, ReadRequest, RefusedLine, Reply, SessionText, Sessions,
    TOOL_PATIENCE, ToolCall, TypeReply, TypeRequest, Verb, WatchRequest,
};

/// The maximum time from the receipt of a call that types to its end, including the wait for its turn and its pauses.
/// If the user has paused agents, the call waits for this time.
pub const TYPING_PATIENCE: Duration = Duration::from_secs(10);
/// The error for live views and tools on a machine whose panes don't belong to an Unterm instance.
const NOT_LIVE: &str = "this machine has no Unterm instances";

/// The parts of the connector that requests use.
pub struct RequestContext {
    /// The panes.
    pub panes: Arc<dyn Panes>,
    /// The tools and live views of instances. `None` if the panes don't belong to instances.
    pub live: Option<(InstanceTools, Arc<Watches>)>,
    /// The calls that this machine has begun.
    pub claims: Claims,
    /// The turns of calls that type into sessions.
    pub turns: Turns,
}

/// The reply, as JSON, if too many requests are in progress.
pub fn busy() -> Vec<u8> {
    let why = "the machine is busy with other calls; nothing was done";
    write(&Reply::<()>::NotBegun(why.to_owned()))
}

/// The reply, as JSON, to a request that is not executed.
pub fn refusal(why: &str) -> Vec<u8> {
    write(&Reply::<()>::Refused(why.to_owned()))
}

/// Executes a request, and returns the reply as JSON. `received`: the time when the request was received.
pub async fn answer(request: &Message, received: Instant, served: &RequestContext) -> Vec<u8> {
    let name = request.subject.rsplit('.').next().unwrap_or_default();
    let Some(verb) = Verb::ALL.into_iter().find(|verb| verb.name() == name) else {
        let why = format!("this version of the connector does not support the request {name:?}");
        return write(&Reply::<()>::Refused(why));
    };
    match verb {
        Verb::Sessions => {
            let sessions = served.panes.sessions().await;
            write(&Reply::Done(Sessions { sessions }))
        }
        Verb::Read => write(&read(request, &*served.panes).await),
        Verb::Type => write(&type_in(request, received, served).await),
        Verb::Tool => write(&call_tool(request, received, served).await),
        Verb::Watch => write(&watch(request, served)),
    }
}

async fn read(request: &Message, panes: &dyn Panes) -> Reply<SessionText> {
    let ReadRequest { sid } = match parse(request) {
        Ok(read) => read,
        Err(why) => return Reply::Refused(why),
    };
    match panes.read(&sid).await {
        Ok(text) => Reply::Done(text),
        Err(error) => Reply::Refused(format!("{error:#}")),
    }
}

fn watch(request: &Message, served: &RequestContext) -> Reply<()> {
    let Some((_, watches)) = &served.live else { return Reply::Refused(NOT_LIVE.to_owned()) };
    match parse::<WatchRequest>(request) {
        Ok(WatchRequest { sid, anew }) => match watches.renew(&sid, anew) {
            Ok(()) => Reply::Done(()),
            Err(why) => Reply::Refused(why),
        },
        Err(why) => Reply::Refused(why),
    }
}

async fn type_in(
    request: &Message,
    received: Instant,
    served: &RequestContext,
) -> Reply<TypeReply> {
    let claims = &served.claims;
    let request: TypeRequest = match parse(request) {
        Ok(request) => request,
        Err(why) => return Reply::Refused(why),
    };
    if let Err(why) = check_id(&request.call) {
        return Reply::Refused(why);
    }
    if request.parts.iter().map(|part| part.text.len()).sum::<usize>() > LONGEST_TEXT + 64 {
        return Reply::Refused(format!("the text is longer than {LONGEST_TEXT} bytes"));
    }
    // The deadline is before the hub stops waiting, and so before the user could decide about the call again.
    let deadline = received + TYPING_PATIENCE;
    let Ok(_turn) = timeout_at(deadline, served.turns.of(&request.sid)).await else {
        let why = "other calls were typing into this session; nothing was typed";
        return Reply::NotBegun(why.to_owned());
    };
    match claims.claim(&request.call).await {
        Ok(true) => {}
        Ok(false) => return Reply::Repeated,
        Err(error) => return Reply::NotBegun(format!("{error:#}; nothing was typed")),
    }
    let reply = match served.panes.type_in(&request, deadline).await {
        Ok(typed) => Reply::Done(typed),
        Err(TypingError::Blocked(blocked)) => Reply::Blocked(blocked),
        Err(TypingError::Failed(error)) => Reply::Refused(format!("{error:#}")),
    };
    claims.end(&request.call, &reply).await;
    reply
}

async fn call_tool(request: &Message, received: Instant, served: &RequestContext) -> Reply<Value> {
    let Some((tools, _)) = &served.live else { return Reply::Refused(NOT_LIVE.to_owned()) };
    let claims = &served.claims;
    let request: ToolCall = match parse(request) {
        Ok(request) => request,
        Err(why) => return Reply::Refused(why),
    };
    let deadline = received + TOOL_PATIENCE;
    // The connection is opened before the call is claimed. If there is no such instance, the call can then be sent
    // again.
    let connecting = timeout_at(received + TYPING_PATIENCE, tools.client(&request)).await;
    let (client, start, rules) = match connecting {
        Ok(Ok(connected)) => connected,
        Ok(Err(error)) => return Reply::Refused(format!("{error:#}")),
        Err(_) => {
            return Reply::NotBegun("the instance did not answer; nothing was done".to_owned());
        }
    };
    let mut turn = None;
    let pane = request.arguments.get("pane").and_then(Value::as_u64);
    if let Some(call) = &request.call {
        if let Some(pane) = pane {
            // The call waits for the pane's turn, so that it does not type between the parts of another call.
            let sid = start.sid(pane);
            let waiting = timeout_at(received + TYPING_PATIENCE, served.turns.of(&sid)).await;
            let Ok(taken) = waiting else {
                let why = "other calls were typing into this pane; nothing was done";
                return Reply::NotBegun(why.to_owned());
            };
            // Only `input` keeps the turn. Other tools may last long, so they release it.
            turn = Some(taken).filter(|_| request.tool == "input");
        }
        if let Err(why) = check_id(call) {
            return Reply::Refused(why);
        }
        match claims.claim(call).await {
            Ok(true) => {}
            Ok(false) => return Reply::Repeated,
            Err(error) => return Reply::NotBegun(format!("{error:#}; nothing was done")),
        }
        if received.elapsed() > TYPING_PATIENCE {
            let reply = Reply::Refused("the call came too late; nothing was done".to_owned());
            claims.end(call, &reply).await;
            return reply;
        }
    }
    if let (Some(pane), Some(line)) = (pane, &request.released)
        && let Err(error) = rules.release(pane, &shown_client(&request.client), line).await
    {
        tracing::debug!(error = %format!("{error:#}"), "the line was not released");
    }
    let called = timeout_at(deadline, client.call(&request.tool, request.arguments)).await;
    let is_done = matches!(&called, Ok(Ok(message)) if message["result"]["isError"] != true);
    if let (Some(pane), Some(_), false) = (pane, &request.released, is_done) {
        rules.withdraw(pane, &shown_client(&request.client)).await;
    }
    drop(turn);
    let reply = match called {
        Ok(Ok(message)) => match blocked(&message, &rules, &request.client, pane).await {
            Some(blocked) => Reply::Blocked(blocked),
            None => result_of(&message),
        },
        Ok(Err(_)) => Reply::Refused("the instance has ended; its panes are gone".to_owned()),
        Err(_) => Reply::Refused("the instance did not answer in time".to_owned()),
    };
    if let Some(call) = &request.call {
        claims.end(call, &reply).await;
    }
    reply
}

/// The blocked line, if a tool failed because the instance's line policy refused a line.
async fn blocked(
    message: &Value,
    rules: &Rules,
    client: &str,
    pane: Option<u64>,
) -> Option<RefusedLine> {
    let result = &message["result"];
    let why = result["content"][0]["text"].as_str().filter(|_| result["isError"] == true)?;
    rules.blocked(why, &shown_client(client), pane).await
}

/// A tool's result, from the message of an instance.
fn result_of(message: &Value) -> Reply<Value> {
    if let Some(why) = message["error"]["message"].as_str() {
        return Reply::Refused(why.to_owned());
    }
    let result = message["result"].clone();
    match result.to_string().len() {
        0..=LONGEST_RESULT => Reply::Done(result),
        bytes => Reply::Refused(format!(
            "the result has {bytes} bytes, more than the limit of {LONGEST_RESULT}; request less"
        )),
    }
}

fn parse<T: DeserializeOwned>(request: &Message) -> Result<T, String> {
    serde_json::from_slice(&request.payload).map_err(|error| format!("malformed request: {error}"))
}

fn write(reply: &impl Serialize) -> Vec<u8> {
    // This can't fail, because the messages are plain data.
    serde_json::to_vec(reply).unwrap_or_default()
}
