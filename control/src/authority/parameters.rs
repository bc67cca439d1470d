//! Parameters of calls as gates and the audit log read them: as JSON, by their names.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Parameters by their names, none where a method reads none. A method passes over what it does not know, also what serde_json
/// makes no value of (a number without bounds, a list too deep): what is decided and logged must be all that it reads.
pub fn by_name(params: &str) -> Result<Map<String, Value>> {
    if !params.starts_with('{') {
        return Ok(Map::new());
    }
    serde_json::from_str(params).map_err(Error::Params)
}

/// What the audit log says of a call by its parameters: the first of those that say most, else all but the session and the
/// variables of programs.
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

/// A value as a person would write it.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}
