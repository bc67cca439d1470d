//! Redacts secrets in values that plugins read from a screen.

use serde_json::Value;

use crate::dialect::ptywright::redaction::Redaction;

/// Redacts every text in a value. The plugin engine limits the size and the depth of such a value.
pub fn redact(value: &mut Value, redaction: &Redaction) {
    match value {
        Value::String(text) => *text = redaction.line(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, redaction)),
        Value::Object(fields) => fields.values_mut().for_each(|item| redact(item, redaction)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
