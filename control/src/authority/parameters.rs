//! The parameters of calls as gates and the audit log read them: parsed JSON, by name.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The parameters by name, or none if `params` is not an object.
///
/// # Errors
/// A parameter that serde_json can't represent, such as a number out of range or a list nested too deeply. A method would
/// ignore it if unknown, but the gates and the log must see everything that the method reads.
pub fn by_name(params: &str) -> Result<Map<String, Value>> {
    if !params.starts_with('{') {
        return Ok(Map::new());
    }
    serde_json::from_str(params).map_err(Error::Params)
}

/// What the audit log says about a call's parameters: the first of the `telling` ones that has a value. Without one,
/// all parameters except the session and the environment variables.
pub fn told(params: &Map<String, Value>, telling: &[&str]) -> String {
    let most =
        telling.iter().find_map(|key| params.get(*key).map(plain).filter(|text| !text.is_empty()));
    most.unwrap_or_else(|| {
        let rest =
            params.iter().filter(|(key, _)| !matches!(key.as_str(), "id" | "session_id" | "env"));
        let rest: Vec<_> = rest.map(|(key, value)| format!("{key}: {}", plain(value))).collect();
        rest.join(", ")
    })
}

/// A value as a person would write it, without quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}
