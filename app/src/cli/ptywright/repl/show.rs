//! Writes results, errors and notifications as text for a terminal, or as JSON for a program.
//!
//! All of these may contain text of hostile programs. Therefore control characters and invisible characters are
//! escaped.

use serde_json::{Map, Value};
use unterm_control::{escaped, shortened};

use super::connection::Failure;
use crate::cli::fields;

/// If a list of objects is longer than this, such as the cells of a screen, only the number of its items is shown.
const LONGEST_LIST: usize = 64;
/// The maximum length of a notification, in characters.
const LONGEST_NOTE: usize = 2000;

/// A result as text for the user: first names and values, then texts of several lines.
pub fn result(result: &Value) -> String {
    let mut blocks = Vec::new();
    let short = shorten(result, "", &mut blocks);
    let mut text = fields::text(&short);
    for (name, block) in blocks {
        text.push_str(&format!("{name}:\n"));
        for line in block.lines() {
            text.push_str(format!("  │ {line}").trim_end());
            text.push('\n');
        }
    }
    if text.is_empty() { "(nothing)\n".to_owned() } else { text }
}

/// Shortens a value: texts of several lines are moved to `blocks`.
fn shorten(value: &Value, path: &str, blocks: &mut Vec<(String, String)>) -> Value {
    match value {
        Value::String(text) if text.contains('\n') => {
            blocks.push((path.to_owned(), escaped(&text.replace("\r\n", "\n"))));
            "(below)".into()
        }
        Value::String(text) => escaped(text).into(),
        Value::Array(list) if list.len() > LONGEST_LIST => {
            format!("{} items; --json prints them", list.len()).into()
        }
        Value::Array(list) => {
            let one = |(index, value)| shorten(value, &format!("{path}[{index}]"), blocks);
            list.iter().enumerate().map(one).collect()
        }
        Value::Object(object) => {
            let mut short = Map::new();
            for (name, value) in object {
                let name = escaped(name).replace('\n', "\\n");
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                short.insert(name, shorten(value, &path, blocks));
            }
            short.into()
        }
        other => other.clone(),
    }
}

/// A value as one line of JSON.
pub fn json(value: &Value) -> String {
    let plain = value.to_string();
    let mut safe = String::with_capacity(plain.len());
    let mut buffer = [0; 4];
    for char in plain.chars() {
        let text = char.encode_utf8(&mut buffer);
        if (char.is_ascii() && char != '\u{7f}') || escaped(text) == *text {
            safe.push(char);
        } else {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    safe
}

/// The error message of a failed call: the method, the reason, and the error's data.
pub fn failure(method: &str, failure: &Failure) -> String {
    let Failure { code, message, data } = failure;
    let kind = kind(*code).map(|kind| format!("{kind}, ")).unwrap_or_default();
    let data = if data.is_null() { String::new() } else { format!("\n  {}", json(data)) };
    let message = escaped(message).replace('\n', "\n  ");
    format!("{}: {message} ({kind}{code}){data}", escaped(method))
}

/// The meaning of an error code.
fn kind(code: i64) -> Option<&'static str> {
    Some(match code {
        -32700 => "not JSON",
        -32600 => "not a request",
        -32601 => "unknown method",
        -32602 => "wrong parameter",
        -32603 => "internal error",
        -32001 => "timeout",
        -32002 => "closed",
        -32004 => "not allowed",
        -32005 => "canceled",
        _ => return None,
    })
}

/// A notification, written on one line.
pub fn notification(method: &str, params: &Value) -> String {
    let mut text = format!("* {}", json(&method.into()).trim_matches('"'));
    for (name, value) in params.as_object().into_iter().flatten() {
        let name = json(&name.as_str().into());
        let value = match value {
            Value::String(word) if is_word(word) => word.clone(),
            value => json(value),
        };
        text.push_str(&format!(" {}={value}", name.trim_matches('"')));
    }
    shortened(&text, LONGEST_NOTE)
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_screen_is_a_block_and_its_cells_are_counted() {
        let cells: Vec<Value> = (0..100).map(|col| json!({"col": col})).collect();
        let screen =
            json!({"cursor": {"row": 1, "col": 2}, "plain_text": "a\n\nb", "cells": cells});
        assert_eq!(
            result(&json!({"matched": true, "snapshot": screen})),
            "matched              yes\n\
             snapshot.cells       100 items; --json prints them\n\
             snapshot.cursor.col  2\n\
             snapshot.cursor.row  1\n\
             snapshot.plain_text  (below)\n\
             snapshot.plain_text:\n  │ a\n  │\n  │ b\n"
        );
        assert_eq!(result(&json!({})), "(nothing)\n");
    }

    #[test]
    fn no_control_character_reaches_the_terminal() {
        let evil = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\r\u{8}\u{7f}";
        let value = json!({"a": evil, evil: 1, "b": format!("{evil}\n{evil}"), "c": [{"d": evil}]});
        let failed = Failure { code: -1, message: format!("{evil}\nx"), data: json!({"e": evil}) };
        for text in [
            result(&value),
            json(&value),
            failure("m", &failed),
            notification(evil, &value),
            notification("m", &json!({evil: evil})),
        ] {
            let is_safe =
                |char: char| char == '\n' || escaped(&char.to_string()).chars().count() == 1;
            assert!(text.chars().all(is_safe), "{text:?}");
        }
        assert_eq!(serde_json::from_str::<Value>(&json(&value)).unwrap(), value);
    }

    #[test]
    fn an_error_says_what_its_code_means() {
        let failed = Failure { code: -32001, message: "too late".to_owned(), data: Value::Null };
        assert_eq!(failure("session.wait", &failed), "session.wait: too late (timeout, -32001)");
        let failed =
            Failure { code: -32099, message: "x".to_owned(), data: json!({"method": "y"}) };
        assert_eq!(failure("y", &failed), "y: x (-32099)\n  {\"method\":\"y\"}");
    }

    #[test]
    fn a_notification_is_a_line() {
        let params = json!({"session": "s1", "sequence": 4, "output": "a\r\n"});
        assert_eq!(
            notification("session.output", &params),
            "* session.output output=\"a\\r\\n\" sequence=4 session=s1"
        );
    }
}
