//! The parts of a JSON-RPC 2.0 message that a relay reads: whether the message is a request, and its id.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{json, value::RawValue};

/// The kind of a request. It decides the form of an error response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// `tools/call`. Models read only the results of such calls, so an error must be sent as a result.
    Call,
    Other,
}

/// A JSON-RPC message. Ids are compared as JSON text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    Request {
        id: String,
        kind: RequestKind,
    },
    Answer {
        id: String,
    },
    /// A notification.
    Note,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
}

impl Message {
    /// The messages in a line: a single message, or the messages of a batch. Empty if the line is not valid.
    pub(super) fn read(line: &[u8]) -> Vec<Self> {
        if line.trim_ascii_start().starts_with(b"[") {
            let frames: Vec<Frame<'_>> = serde_json::from_slice(line).unwrap_or_default();
            return frames.iter().filter_map(Self::of).collect();
        }
        serde_json::from_slice::<Frame<'_>>(line)
            .ok()
            .as_ref()
            .and_then(Self::of)
            .into_iter()
            .collect()
    }

    fn of(frame: &Frame<'_>) -> Option<Self> {
        let id = frame.id.map(|id| id.get().to_owned()).filter(|id| id != "null");
        Some(match (id, frame.method.as_deref()) {
            (Some(id), Some("tools/call")) => Self::Request { id, kind: RequestKind::Call },
            (Some(id), Some(_)) => Self::Request { id, kind: RequestKind::Other },
            (Some(id), None) => Self::Answer { id },
            (None, Some(_)) => Self::Note,
            (None, None) => return None,
        })
    }

    /// The id and the kind, if the message is a request.
    pub(super) fn request(&self) -> Option<(String, RequestKind)> {
        match self {
            Self::Request { id, kind } => Some((id.clone(), *kind)),
            _ => None,
        }
    }
}

/// Writes an error response to a request, as a line.
pub(super) fn failure(id: &str, kind: RequestKind, why: &str) -> String {
    let said = match kind {
        RequestKind::Call => {
            // Revision 2026-07-28 of MCP requires the type of a result. Clients of older revisions ignore it.
            let result = json!({
                "content": [{"type": "text", "text": why}],
                "isError": true,
                "resultType": "complete",
            });
            format!("\"result\":{result}")
        }
        RequestKind::Other => format!("\"error\":{}", json!({"code": -32000, "message": why})),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{said}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_answers_and_notifications_are_distinguished() {
        let read = |line: &str| Message::read(line.as_bytes());
        let call = |id: &str| Message::Request { id: id.to_owned(), kind: RequestKind::Call };
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#),
            [call("1")]
        );
        assert_eq!(read(r#" {"method":"tools/call","id":"1"}"#), [call("\"1\"")]);
        let other = Message::Request { id: "2".to_owned(), kind: RequestKind::Other };
        assert_eq!(read(r#"[{"id":2,"method":"ping"},{"method":"x"}]"#), [other, Message::Note]);
        assert_eq!(read(r#"{"id":3,"result":{}}"#), [Message::Answer { id: "3".to_owned() }]);
        for none in ["", "a call", "{}", "[1]", "{\"id\":null}"] {
            assert_eq!(read(none), [], "{none}");
        }
    }

    #[test]
    fn a_failure_has_the_id_as_it_was_sent() {
        assert_eq!(
            failure("\"a\\u0041\"", RequestKind::Other, "it \"ended\""),
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0041\",\"error\":{\"code\":-32000,\"message\":\"it \\\"ended\\\"\"}}\n"
        );
        let failed: serde_json::Value =
            serde_json::from_str(&failure("7", RequestKind::Call, "why")).unwrap();
        assert_eq!((&failed["id"], &failed["result"]["isError"]), (&json!(7), &json!(true)));
        assert_eq!(failed["result"]["resultType"], "complete");
    }
}
