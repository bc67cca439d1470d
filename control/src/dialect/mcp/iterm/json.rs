//! Arguments, errors and rows as JSON, in the form that the iTerm2 MCP tools define.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::{
    dialect::mcp::untrusted::{clipped, escaped},
    methods::screen::Row,
};

/// The maximum number of characters of output in one reply. The middle of longer output is removed. Clients reject
/// replies of more than 50,000 characters, including escapes.
const MOST_CHARACTERS: usize = 40_000;

pub fn error(why: impl Into<String>) -> Value {
    json!({"error": why.into()})
}

/// A text argument.
pub fn text<'a>(given: &'a Map<String, Value>, name: &str) -> Result<&'a str, Value> {
    optional(given, name)?.ok_or_else(|| error(format!("{name} is required")))
}

/// A text argument, or `None` if it is absent.
pub fn optional<'a>(given: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Value> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(error(format!("{name} must be a string"))),
    }
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "its schema is what counts")]
pub struct OnSession {
    /// Session ID, TTY path, or partial name
    identifier: String,
}

/// Checks the texts that a tool requires.
pub fn check_texts(given: &Map<String, Value>, names: &[&str]) -> Result<(), Value> {
    names.iter().try_for_each(|name| text(given, name).map(drop))
}

/// The rows of a reply, each with its line id and text.
pub fn rows(rows: &[Row]) -> impl Iterator<Item = (u64, String)> {
    rows.iter().map(|row| (row.line_id, row.text.trim_end().to_owned()))
}

/// The rows without the blank rows at the end.
pub fn without_blank_end(rows: impl Iterator<Item = (u64, String)>) -> Vec<(u64, String)> {
    let mut rows: Vec<(u64, String)> = rows.collect();
    let end = rows.iter().rposition(|(_, text)| !text.is_empty()).map_or(0, |last| last + 1);
    rows.truncate(end);
    rows
}

/// The rows as one text, after a prefix.
pub fn joined(prefix: String, rows: &[(u64, String)]) -> String {
    let rows: Vec<&str> = rows.iter().map(|(_, text)| text.as_str()).collect();
    clipped(prefix + &escaped(&rows.join("\n")), MOST_CHARACTERS, "").0
}
