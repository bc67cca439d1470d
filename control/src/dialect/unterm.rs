//! Unterm's own protocol: JSON-RPC 2.0 with one object per line.
//!
//! Owns the login, the error codes, and the format of replies and events. Does not depend on any method. Requests of
//! one connection are answered one after another, in their order. A login may switch the connection to the Model
//! Context Protocol or to the dialect of tmux.

mod request;

use std::{io::Write as _, sync::Arc};

use serde_json::Value;

use self::request::{Login, Request};
use super::{mcp, tmux};
use crate::transport::{
    contract::{Dialect, Handover, Input, MessageEffect, Output, Refusal},
    framing::Lines,
    peer::{Credentials, LoginError, Peer},
};

/// The error codes.
mod code {
    pub const PARSE: i32 = -32700;
    pub const BAD_TOKEN: i32 = -32001;
    pub const NOT_AUTHENTICATED: i32 = -32002;
    pub const INTERNAL: i32 = -32603;
}

/// The dialect. Contains the servers for connections that switch to another protocol.
pub struct JsonRpc {
    mcp: Arc<mcp::Server>,
    tmux: Arc<tmux::Server>,
}

impl JsonRpc {
    /// Creates the dialect of an instance.
    pub fn new(mcp: Arc<mcp::Server>, tmux: Arc<tmux::Server>) -> Self {
        Self { mcp, tmux }
    }

    async fn login(
        &self,
        peer: &Peer,
        id: &str,
        params: &str,
        reply: &mut Vec<u8>,
    ) -> MessageEffect {
        let Some(login) = Login::parse(params) else {
            peer.slow_down().await;
            return refused(reply, id, LoginError::WrongToken);
        };
        let Login { token, client, conversation, mcp, tmux, agent, cwd } = login;
        let credentials = Credentials { token, client, conversation, is_agent: agent };
        let caller = match peer.log_in(credentials).await {
            Ok(caller) => caller,
            Err(error) => return refused(reply, id, error),
        };
        let toolset = match mcp {
            Some(name) => mcp::toolset((!name.is_empty()).then_some(&*name)).map(Some),
            None => Ok(None),
        };
        let toolset = match toolset {
            Ok(toolset) => toolset,
            Err(why) => {
                write_error(reply, id, code::INTERNAL, &why);
                return MessageEffect::Answered;
            }
        };
        if tmux && let Err(why) = tmux::check_speaker(&caller) {
            write_error(reply, id, code::INTERNAL, why);
            return MessageEffect::Answered;
        }
        write_start(reply, id);
        reply.extend_from_slice(br#"{"status":"ok"}}"#);
        if tmux {
            let (server, client) = (self.tmux.clone(), caller.clone());
            let handover: Handover = Box::new(move |input: Input, output: Output| {
                Box::pin(tmux::serve(server, input, output, client))
            });
            return MessageEffect::HandedOver(caller, handover);
        }
        match toolset {
            Some(toolset) => {
                let (server, client) = (self.mcp.clone(), caller.clone());
                let handover: Handover = Box::new(move |input: Input, output: Output| {
                    let pending = mcp::PendingReplies::default();
                    Box::pin(mcp::serve(server, input, output, client, toolset, cwd, pending))
                });
                MessageEffect::HandedOver(caller, handover)
            }
            None => MessageEffect::LoggedIn(caller),
        }
    }
}

impl Dialect for JsonRpc {
    type Framing = Lines;

    async fn answer(&self, peer: &Peer, message: &[u8], reply: &mut Vec<u8>) -> MessageEffect {
        let request = match Request::parse(message) {
            Ok(Some(request)) => request,
            Ok(None) => return MessageEffect::Answered,
            Err(why) => {
                write_error(reply, "null", code::PARSE, &format!("Parse error: {why}"));
                return MessageEffect::Answered;
            }
        };
        let id = request.id;
        if request.method == "auth.login" {
            return self.login(peer, id, request.params, reply).await;
        }
        let Some(caller) = peer.caller() else {
            let message = "Not authenticated. Call auth.login first";
            write_error(reply, id, code::NOT_AUTHENTICATED, message);
            return MessageEffect::Answered;
        };
        write_start(reply, id);
        match peer.call(caller, &request.method, request.params, reply).await {
            Ok(()) => reply.push(b'}'),
            Err(error) => {
                reply.clear();
                // In this protocol, every failure of a method has the same code, as documented.
                write_error(reply, id, code::INTERNAL, &error.to_string());
            }
        }
        MessageEffect::Answered
    }

    /// Writes an event as a request that needs no reply.
    fn write_event(&self, event: &Value, message: &mut Vec<u8>) {
        // Writing to memory can't fail.
        let _ = write!(message, r#"{{"jsonrpc":"2.0","method":"event","params":{event}}}"#);
    }

    fn write_refusal(&self, refusal: &Refusal, message: &mut Vec<u8>) {
        let (code, why) = match refusal {
            Refusal::TooLong(longest) => {
                (code::PARSE, format!("Parse error: the line is longer than {longest} bytes"))
            }
            Refusal::Broken(why) => (code::PARSE, format!("Parse error: {why}")),
            Refusal::LoginTime(time) => {
                let why = format!("Call auth.login within {} s", time.as_secs_f32());
                (code::NOT_AUTHENTICATED, format!("Not authenticated. {why}"))
            }
            Refusal::LoginCount | Refusal::OtherUser => {
                (code::NOT_AUTHENTICATED, format!("Not authenticated. {refusal}"))
            }
            Refusal::OverBudget(_) | Refusal::Full => (code::INTERNAL, refusal.to_string()),
        };
        write_error(message, "null", code, &why);
    }
}

fn refused(reply: &mut Vec<u8>, id: &str, error: LoginError) -> MessageEffect {
    let code = match error {
        LoginError::WrongToken => code::BAD_TOKEN,
        LoginError::Unreadable => code::INTERNAL,
    };
    write_error(reply, id, code, &error.to_string());
    MessageEffect::Answered
}

/// Writes a reply up to the start of its result. The closing brace must be added after the result.
fn write_start(reply: &mut Vec<u8>, id: &str) {
    reply.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    reply.extend_from_slice(id.as_bytes());
    reply.extend_from_slice(br#","result":"#);
}

fn write_error(reply: &mut Vec<u8>, id: &str, code: i32, message: &str) {
    let message = Value::from(message);
    // Writing to memory can't fail.
    let _ = write!(
        reply,
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#
    );
}
