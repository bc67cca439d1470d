//! `unterm-cli watch`: prints the events of an instance, one event per line.

use std::io::Write;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use unterm_control::{
    client::Client,
    methods::events::{EventKind, SubscribeParams},
};

/// The events to print, and the format.
pub struct Watch<'a> {
    /// The kinds of events. If empty, all kinds except output.
    pub events: &'a [String],
    /// Prints only the events of the pane with this number.
    pub session: Option<u64>,
    /// Ends after this number of events.
    pub count: Option<u64>,
    /// Prints events as JSON.
    pub json: bool,
}

/// Prints events until `count` is reached, the instance ends or standard output is closed.
pub fn run(client: &Client, watch: &Watch<'_>) -> Result<()> {
    let kinds: Vec<EventKind> = watch.events.iter().cloned().map(EventKind).collect();
    let filter = SubscribeParams { events: kinds.into(), id: watch.session.into() };
    let mut events = client.subscribe(filter)?;
    let mut out = std::io::stdout().lock();
    for _ in 0..watch.count.unwrap_or(u64::MAX) {
        let event = events.next().context("the connection to Unterm was lost")?;
        let line = if watch.json { event.to_string() } else { text(&Event::deserialize(event)?) };
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
    Ok(())
}

/// An event: the fields that all kinds share, and the fields of its own kind.
#[derive(Deserialize)]
struct Event {
    event: String,
    session_id: Option<String>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// The fields that number an event. They are not printed.
const PLACES: [&str; 2] = ["seq", "session_seq"];

/// An event as a line of text: its kind, its pane and its other fields.
fn text(Event { event, session_id, fields }: &Event) -> String {
    let session = session_id.as_deref().unwrap_or("-");
    let is_shown = |name: &str, value: &Value| !PLACES.contains(&name) && !value.is_null();
    let shown = fields.iter().filter(|(name, value)| is_shown(name, value));
    let shown: Vec<_> = shown.map(|(name, value)| format!("{name}={value}")).collect();
    format!("{event:<16} {session:>4}  {}", shown.join(" ")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_a_line() {
        let event = json!({"event": "command_end", "seq": 9, "session_id": "3", "session_seq": 7,
            "command": 2, "exit_code": 0});
        let line = |event| text(&Event::deserialize(event).unwrap());
        assert_eq!(line(event), "command_end         3  command=2 exit_code=0");
        assert_eq!(line(json!({"event": "layout", "seq": 1})), "layout              -");
    }
}
