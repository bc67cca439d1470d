//! The text of `unterm-cli explain`: the state of a pane's program, and the chain of sources.

use serde::Serialize;
use serde_json::Value;
use unterm_control::methods::explain::{ContextEnd, ExplainReply};

use crate::cli::fields;

/// A state and its reasons, as text.
pub fn text(reply: &ExplainReply) -> String {
    let state = match reply.kind {
        Some(kind) => format!("{} ({})", reply.state.name(), kind.name()),
        None => reply.state.name().to_owned(),
    };
    let progress = reply.progress.map(|percent| format!("{percent} %"));
    let properties = [
        ("state", Some(state)),
        ("message", reply.message.clone()),
        ("progress", progress),
        ("since", reply.since.clone()),
        ("reason", Some(reply.reason.clone())),
        ("runs as", reply.context.as_ref().map(|context| context.text())),
        ("ended", reply.ended_context.as_ref().map(ended)),
    ];
    let given = properties.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut text: String = given.map(|(name, value)| format!("{name:<10}{value}\n")).collect();
    let head = ["SOURCE", "VERDICT", "STATE", "TASK", "SINCE", "RULE", "TEXT"];
    let rows = reply.chain.iter().map(|link| {
        vec![
            word(&link.source),
            word(&link.verdict),
            link.state.name().to_owned(),
            link.task.clone(),
            link.since.clone().unwrap_or_default(),
            link.rule.clone(),
            link.text.clone(),
        ]
    });
    text.push('\n');
    text.push_str(&fields::table(&head.map(str::to_owned), rows));
    text
}

/// The end of a context, such as `make: crash by SIGKILL`.
fn ended(end: &ContextEnd) -> String {
    match &end.exit {
        Some(exit) => format!("{}: {exit}", end.name),
        None => end.name.clone(),
    }
}

/// The name of a variant on the wire.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_state_comes_first_and_then_each_source() {
        let reply: ExplainReply = serde_json::from_value(json!({
            "id": 3, "state": "needs_you", "kind": "permission", "message": "Run it?",
            "source": "report", "reason": "claude-code reported its state",
            "chain": [
                {"source": "report", "state": "needs_you", "kind": "permission", "verdict": "decides",
                    "rule": "claude-code reported its state", "text": "OSC 7501;state=blocked"},
                {"source": "process", "state": "working", "verdict": "overridden",
                    "rule": "a program runs in the foreground", "text": "claude"},
            ],
            "context": {"user": "root", "host": "zeta", "container": "build"},
            "ended_context": {"name": "make", "exit": "crash by SIGKILL"},
        }))
        .unwrap();
        let text = text(&reply);
        let expected = "state     needs_you (permission)\nmessage   Run it?\n\
            reason    claude-code reported its state\nruns as   root@zeta, container build\n\
            ended     make: crash by SIGKILL\n\nSOURCE   VERDICT     STATE";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(text.lines().count(), 9, "{text}");
    }
}
