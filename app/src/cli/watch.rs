//! `unterm-cli watch`: prints the events of an instance, one per line.

use std::io::Write;

use anyhow::{Context, Result};
use serde_json::Value;
use unterm_control::{
    client::Client,
    methods::events::{Kind, SubscribeParams},
};

/// Which events, and how they are printed.
pub struct Watch<'a> {
    /// Kinds; empty: all but output.
    pub events: &'a [String],
    /// Only those of this session.
    pub session: Option<u64>,
    /// Ends after this many.
    pub count: Option<u64>,
    /// As JSON.
    pub json: bool,
}

/// Prints events until there were enough, the instance ends or standard output is closed.
pub fn run(client: &Client, watch: &Watch<'_>) -> Result<()> {
    let kinds: Vec<Kind> = watch.events.iter().cloned().map(Kind).collect();
    let filter = SubscribeParams { events: kinds.into(), id: watch.session.into() };
    let mut events = client.subscribe(filter)?;
    let mut out = std::io::stdout().lock();
    for _ in 0..watch.count.unwrap_or(u64::MAX) {
        let event = events.next().context("the connection to Unterm was lost")?;
        let line = if watch.json { event.to_string() } else { text(&event) };
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
    Ok(())
}

/// An event as a line of text: its kind, its session and its other fields.
fn text(event: &Value) -> String {
    let kind = event["event"].as_str().unwrap_or_default();
    let session = event["session_id"].as_str().unwrap_or("-");
    let known = ["event", "seq", "session_id", "session_seq"];
    let rest = event
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| !known.contains(&key.as_str()) && !value.is_null());
    let rest: Vec<_> = rest.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{kind:<16} {session:>4}  {}", rest.join(" ")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_a_line() {
        let event = json!({"event": "command_end", "seq": 9, "session_id": "3", "session_seq": 7,
            "command": 2, "exit_code": 0});
        assert_eq!(text(&event), "command_end         3  command=2 exit_code=0");
        assert_eq!(text(&json!({"event": "layout", "seq": 1})), "layout              -");
    }
}
