//! The parameters of calls, in the form in which gates and the audit log read them: parsed JSON, by name.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The parameters by name. Empty if `params` is not an object.
///
/// # Errors
/// serde_json can't represent a parameter, such as a number out of range or a list that is nested too deep. This is an
/// error even for a parameter that the method ignores, because the gates and the log must see everything that the
/// method might read.
pub fn by_name(params: &str) -> Result<Map<String, Value>> {
    if !params.starts_with('{') {
        return Ok(Map::new());
    }
    serde_json::from_str(params).map_err(Error::Params)
}

/// The audit log's text about a call's parameters: the first of the `described_by` parameters that has a value. If none
/// of them has a value, all parameters except the session and the environment variables.
pub fn summary(params: &Map<String, Value>, described_by: &[&str]) -> String {
    let most = described_by
        .iter()
        .find_map(|key| params.get(*key).map(plain).filter(|text| !text.is_empty()));
    most.unwrap_or_else(|| {
        let rest =
            params.iter().filter(|(key, _)| !matches!(key.as_str(), "id" | "session_id" | "env"));
        let rest: Vec<_> = rest.map(|(key, value)| format!("{key}: {}", plain(value))).collect();
        rest.join(", ")
    })
}

/// A value as a user would write it: text without quotes, nothing for `null`, and any other value as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}
