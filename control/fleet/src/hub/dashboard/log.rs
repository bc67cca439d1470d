//! The audit log, as the dashboard searches and exports it.

use std::{fmt::Write as _, sync::Arc};

use anyhow::Result;
use axum::{
    body::{Body, Bytes},
    http::StatusCode,
};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Duration, Instant},
};
use unterm_control::mcp_http::{Lines, reply};

use crate::hub::{
    audit::{self, Entry},
    http_reply::{HttpResult, refused},
    store::Store,
};

/// The maximum number of entries of one reply.
const MOST: usize = 500;
/// The number of entries that are read at a time.
const BLOCK: u64 = 1000;
/// The maximum time of a search. If it is exceeded, the page requests the older entries with another search.
const PATIENCE: Duration = Duration::from_secs(5);
/// The columns of an export, which are the entries' fields.
const COLUMNS: [&str; 9] =
    ["at", "event", "call", "tool", "token", "token_name", "conversation", "detail", "outcome"];

/// The newest `limit` entries before `before` that contain a text, newest first. `next` in the result is the `before`
/// of the next search, if there may be more entries.
///
/// # Errors
/// NATS does not answer.
pub async fn search(store: &Store, text: &str, before: Option<u64>, limit: usize) -> Result<Value> {
    let (limit, text, start) = (limit.clamp(1, MOST), text.to_lowercase(), Instant::now());
    let span = audit::span(store).await?;
    let mut end = before.unwrap_or(u64::MAX).min(span.end);
    let mut found = Vec::new();
    while end > span.start && found.len() < limit && start.elapsed() < PATIENCE {
        let from = end.saturating_sub(BLOCK).max(span.start);
        let mut block = audit::read(store, from..end).await?;
        block.reverse();
        for (number, entry) in block {
            end = number;
            if has(&entry, &text) {
                let mut entry = serde_json::to_value(entry)?;
                entry["seq"] = number.into();
                found.push(entry);
            }
            if found.len() == limit {
                break;
            }
        }
        if found.len() < limit {
            end = from;
        }
    }
    let next = (end > span.start).then_some(end);
    Ok(json!({"entries": found, "more": next.is_some(), "next": next}))
}

/// Whether a field of an entry contains a text, ignoring case.
fn has(entry: &Entry, text: &str) -> bool {
    let Entry { at, call, tool, token, token_name, conversation, detail, outcome, event } = entry;
    let fields = [at, call, tool, token, token_name, conversation, detail, outcome];
    text.is_empty()
        || event.name() == text
        || fields.iter().any(|field| field.to_lowercase().contains(text))
}

/// A file with the entries that contain a text, oldest first.
pub fn export(store: Arc<Store>, text: String, format: &str) -> HttpResult {
    let (kind, write): (_, fn(&Entry) -> String) = match format {
        "jsonl" => {
            ("application/jsonl", |entry| serde_json::to_string(entry).unwrap_or_default() + "\n")
        }
        "csv" => ("text/csv; charset=utf-8", csv),
        _ => return refused(StatusCode::BAD_REQUEST, "The format is jsonl or csv"),
    };
    let (send, receive) = mpsc::channel(2);
    let text = text.to_lowercase();
    let head = if format == "csv" { COLUMNS.join(",") + "\r\n" } else { String::new() };
    tokio::spawn(async move {
        let write_all = async {
            send.send(Bytes::from(head)).await?;
            let span = audit::span(&store).await?;
            let mut start = span.start;
            while start < span.end {
                let end = (start + BLOCK).min(span.end);
                let block = audit::read(&store, start..end).await?;
                let lines: String = block
                    .iter()
                    .filter(|(_, entry)| has(entry, &text))
                    .map(|(_, entry)| write(entry))
                    .collect();
                send.send(lines.into()).await?;
                start = end;
            }
            anyhow::Ok(())
        };
        if let Err(error) = write_all.await {
            tracing::warn!(error = %format!("{error:#}"), "an export broke off");
        }
    });
    Ok(reply(StatusCode::OK, kind, Body::new(Lines(receive))))
}

/// An entry as a line of CSV (RFC 4180). A field that a spreadsheet would execute as a formula is written with an
/// apostrophe before it.
fn csv(entry: &Entry) -> String {
    let entry = serde_json::to_value(entry).unwrap_or_default();
    let mut line = String::new();
    for (index, column) in COLUMNS.iter().enumerate() {
        let text = entry[column].as_str().unwrap_or_default();
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let comma = if index > 0 { "," } else { "" };
        let apostrophe = if is_formula { "'" } else { "" };
        // Writing to memory can't fail.
        let _ = write!(line, "{comma}\"{apostrophe}{}\"", text.replace('"', "\"\""));
    }
    line + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::audit::Event;

    #[test]
    fn csv_values_are_quoted_and_never_formulas() {
        let entry = Entry {
            at: "2026".to_owned(),
            detail: "=HYPERLINK(\"x\")".to_owned(),
            outcome: "a, b".to_owned(),
            ..Entry::new(Event::Done, "run", "1")
        };
        assert_eq!(
            csv(&entry),
            "\"2026\",\"done\",\"\",\"run\",\"1\",\"\",\"\",\"'=HYPERLINK(\"\"x\"\")\",\"a, b\"\r\n"
        );
        assert!(has(&entry, "hyperlink") && has(&entry, "done") && !has(&entry, "absent"));
    }
}
