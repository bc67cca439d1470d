//! The arguments of a call: reads them by the tool's parameters, and adds default values.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::parameters::{DefaultValue, Parameter};
use crate::hub::conversations::LONGEST_ID;

/// The arguments of a call.
pub struct Arguments {
    /// A value for each parameter that the hub knows.
    pub(super) values: JsonObject,
    /// The arguments for an instance.
    pub(super) rest: JsonObject,
}

impl Arguments {
    /// The arguments as a value of the tool's parameter type.
    ///
    /// # Errors
    /// `P` belongs to another tool.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, String> {
        serde_json::from_value(Value::Object(self.values.clone()))
            .map_err(|error| error.to_string())
    }

    /// The value of a parameter that is a text.
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A short form of all arguments, for the audit log. The conversation is left out, because the log has a separate
    /// field for it.
    pub fn short(&self) -> String {
        const LONGEST: usize = 200;
        let given = self.values.iter().chain(&self.rest).filter(|(name, value)| {
            *name != "conversation_id" && value.as_str().is_none_or(|text| !text.is_empty())
        });
        let shown = given.map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let value: String = value.chars().take(LONGEST).collect();
            format!("{name}={}", unterm_control::escaped(&value))
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// The arguments for an instance.
    pub fn for_instance(&self) -> &JsonObject {
        &self.rest
    }
}

/// The values of a tool's parameters, from the arguments of a call.
///
/// # Errors
/// An argument is missing, unknown or of a wrong type. A message for the agent.
pub fn values(
    tool: &str,
    parameters: &[Parameter],
    mut given: JsonObject,
) -> Result<JsonObject, String> {
    let known = || parameters.iter().map(|parameter| parameter.name);
    if let Some(unknown) = given.keys().find(|name| !known().any(|known| known == *name)) {
        let unknown: String = unknown.chars().take(40).collect();
        let known: Vec<_> = known().collect();
        return Err(format!("{tool} has no parameter {unknown:?}; it has: {}", known.join(", ")));
    }
    let mut values = JsonObject::new();
    for Parameter { name, default } in parameters {
        let value = given.remove(*name).filter(|value| !value.is_null());
        let value = match (value, default) {
            (None, DefaultValue::Required) => return Err(format!("{tool} needs `{name}`")),
            (None, DefaultValue::Text(text)) => json!(text),
            (None, DefaultValue::Number(number)) => json!(number),
            (Some(value), DefaultValue::Number(_)) => json!(whole(&value).ok_or_else(|| {
                format!("`{name}` must be a whole number of at least 0, not {value}")
            })?),
            (Some(value @ Value::String(_)), _) => value,
            (Some(_), _) => return Err(format!("`{name}` must be a string")),
        };
        if *name == "conversation_id" && value.as_str().is_some_and(is_too_long) {
            return Err(format!("`{name}` must have at most {LONGEST_ID} characters"));
        }
        values.insert((*name).to_owned(), value);
    }
    Ok(values)
}

/// Whether the id of a conversation is too long for the audit log.
fn is_too_long(id: &str) -> bool {
    id.chars().count() > LONGEST_ID
}

/// A whole number. Also accepts numbers as text, because some models write them so.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}
